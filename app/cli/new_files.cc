#include "cli/new_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace quipu::cli {
namespace {

Error cannot_write(const std::string& path, int number) {
  const bool is_taken = number == EEXIST;
  const Code code = is_taken                              ? Code::kIdConflict
                    : number == ENOSPC                    ? Code::kNoSpace
                    : number == EACCES || number == EPERM ? Code::kNotAllowed
                                                          : Code::kIoError;
  Error error(code, fmt::format("cannot write {}: {}", path,
                                is_taken ? "it is there already" : std::strerror(number)));
  if (!is_taken) return error;
  return std::move(error).with_hint("nothing is overwritten: name another directory with --out");
}

Error is_being_written(const std::string& path, const std::string& why) {
  return Error(Code::kBusy, fmt::format("cannot add to {}: {}", path, why))
      .with_hint("nothing was written: try again");
}

// Transcripts are private, whatever the umask says: nothing that is made here is for others, not
// even for a moment. Directories that are there stay as they are. The answer is an errno.
int make_directories(const std::filesystem::path& directory) {
  std::filesystem::path made;
  for (const std::filesystem::path& name : directory) {
    made /= name;
    if (::mkdir(made.c_str(), 0700) == 0) {
      if (::chmod(made.c_str(), 0700) != 0) return errno;
    } else if (const int number = errno; ::access(made.c_str(), F_OK) != 0) {
      return number;
    }
  }
  return 0;
}

std::FILE* make_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  std::FILE* const file = ::fchmod(fd, 0600) == 0 ? ::fdopen(fd, "wb") : nullptr;
  if (file != nullptr) return file;
  const int number = errno;
  ::close(fd);
  ::unlink(path.c_str());
  errno = number;
  return nullptr;
}

bool says(const std::string& path, std::string_view text) {
  std::ifstream file(path, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return file && std::equal(Bytes(file), Bytes(), text.begin(), text.end());
}

bool is_same(const std::string& one, const std::string& other) {
  std::ifstream a(one, std::ios::binary);
  std::ifstream b(other, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return a && b && std::equal(Bytes(a), Bytes(), Bytes(b), Bytes());
}

}  // namespace

NewFiles::~NewFiles() {
  for (const auto& [path, open] : open_) ::unlink(open.beside.c_str());
  for (const Replaced& replaced : replaced_) {
    ::unlink(replaced.beside.c_str());
    if (replaced.is_locked) ::rmdir(replaced.lock.c_str());
  }
}

Result<void> NewFiles::write(const std::string& path, std::string_view bytes) {
  Open& open = open_[path];
  if (open.file == nullptr) {
    if (auto begun = begin(path, open); !begun) return begun;
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), open.file.get()) == bytes.size()) return {};
  return cannot_write(path, errno);
}

Result<void> NewFiles::begin(const std::string& path, Open& open) {
  const std::filesystem::path full(path);
  if (const int failed = make_directories(full.parent_path()); failed != 0) {
    return cannot_write(full.parent_path().string(), failed);
  }
  open.beside =
      (full.parent_path() / fmt::format(".quipu-{}-{}", ::getpid(), paths_.size())).string();
  open.file.reset(make_file(open.beside));
  if (open.file == nullptr) return cannot_write(path, errno);
  paths_.push_back(path);
  return {};
}

Result<void> NewFiles::replace(const ExportedIndex& index) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(index.path, failed);
  if (failed) return cannot_write(index.path, failed.value());
  Replaced replaced{.path = real.string(), .beside = {}, .before = index.before, .lock = {}};
  if (!index.lock.empty()) {
    replaced.lock = (std::filesystem::path(index.path).parent_path() / index.lock).string();
  }
  Open open;
  if (auto begun = begin(replaced.path, open); !begun) return begun;
  replaced.beside = open.beside;
  replaced_.push_back(replaced);
  struct ::stat old;
  std::FILE* const file = open.file.get();
  const std::string& text = index.after;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                          ::stat(replaced.path.c_str(), &old) == 0 &&
                          ::fchmod(::fileno(file), old.st_mode & 07777) == 0 &&
                          std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  return is_written ? Result<void>() : cannot_write(index.path, errno);
}

// As the agent's program does it.
Result<void> NewFiles::lock(Replaced& replaced) {
  if (!replaced.lock.empty()) {
    replaced.is_locked = ::mkdir(replaced.lock.c_str(), 0777) == 0;
    if (!replaced.is_locked) {
      return is_being_written(replaced.path, replaced.lock + ": " + std::strerror(errno));
    }
  }
  if (says(replaced.path, replaced.before)) return {};
  return is_being_written(replaced.path, "it has changed meanwhile");
}

Result<void> NewFiles::finish() {
  for (auto& [path, open] : open_) {
    const bool is_written =
        std::fflush(open.file.get()) == 0 && ::fsync(::fileno(open.file.get())) == 0;
    if (!is_written) return cannot_write(path, errno);
  }
  for (const auto& [path, open] : open_) {
    if (::access(path.c_str(), F_OK) == 0 && !is_same(open.beside, path)) {
      return cannot_write(path, EEXIST);
    }
  }
  for (Replaced& replaced : replaced_) {
    if (auto locked = lock(replaced); !locked) return locked;
  }
  for (const auto& [path, open] : open_) {
    const bool is_linked = ::link(open.beside.c_str(), path.c_str()) == 0;
    if (!is_linked && !(errno == EEXIST && is_same(open.beside, path))) {
      return cannot_write(path, errno);
    }
  }
  for (const Replaced& replaced : replaced_) {
    if (::rename(replaced.beside.c_str(), replaced.path.c_str()) != 0) {
      return cannot_write(replaced.path, errno);
    }
  }
  return {};
}

}  // namespace quipu::cli
