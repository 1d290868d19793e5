#include "fs/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/try.h"
#include "fs/host_files.h"
#include "fs/posix_file.h"

namespace quipu::fs {
namespace {

std::vector<std::string> places() {
  std::vector<std::string> places;
  const char* named = std::getenv("TMPDIR");
  if (named != nullptr && *named == '/') places.emplace_back(named);
  places.emplace_back("/var/tmp");
  places.emplace_back("/tmp");
  return places;
}

Fd open_nameless(const std::string& place) {
  return Fd(
      retry([&] { return ::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode); }));
}

Result<std::string> make_directory(const std::string& place) {
  std::string path = place + "/quipu-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return error_from_errno(errno, "make " + path);
  return path;
}

}  // namespace

struct Scratch::Files {
  std::string place;
  std::string directory;  // empty: the files have no names
  bool are_nameless = true;
  std::map<std::string, Fd> open;
};

Scratch::Scratch(std::unique_ptr<Files> files) : files_(std::move(files)) {}
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(files_, other.files_);
  return *this;
}
Scratch::~Scratch() {
  if (files_ != nullptr) hide();
}

Result<Scratch> Scratch::make() {
  auto files = std::make_unique<Files>();
  Error failed(Code::kIoError, "no place for temporary files");
  for (const std::string& place : places()) {
    files->place = place;
    if (open_nameless(place).valid()) return Scratch(std::move(files));
    auto directory = make_directory(place);
    if (directory.ok()) {
      files->directory = std::move(directory).value();
      files->are_nameless = false;
      return Scratch(std::move(files));
    }
    failed = std::move(directory).error();
  }
  return failed;
}

Result<void> Scratch::append(const std::string& name, std::string_view bytes) {
  Fd& fd = files_->open[name];
  if (!fd.valid()) {
    const std::string path = files_->directory + "/" + name;
    fd = files_->are_nameless ? open_nameless(files_->place) : Fd(retry([&] {
      return ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kFileMode);
    }));
    if (!fd.valid()) return error_from_errno(errno, "make a temporary file in " + files_->place);
  }
  while (!bytes.empty()) {
    const ssize_t put = retry([&] { return ::write(fd.get(), bytes.data(), bytes.size()); });
    if (put < 0) return error_from_errno(errno, "write a temporary file in " + files_->place);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::string> Scratch::show() {
  if (!files_->are_nameless || !files_->directory.empty()) return files_->directory;
  TRY_ASSIGN(files_->directory, make_directory(files_->place));
  for (const auto& [name, fd] : files_->open) {
    const std::string from = "/proc/self/fd/" + std::to_string(fd.get());
    const std::string to = files_->directory + "/" + name;
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return error_from_errno(errno, "name " + to);
    }
  }
  return files_->directory;
}

void Scratch::hide() {
  if (files_->directory.empty()) return;
  const auto names = HostFiles::system().list(files_->directory);
  if (names.ok()) {
    for (const HostName& name : *names) {
      ::unlink((files_->directory + "/" + name.name).c_str());
    }
  }
  ::rmdir(files_->directory.c_str());
  files_->directory.clear();
}

}  // namespace quipu::fs
