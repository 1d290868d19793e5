#include "cli/new_files.h"

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
  const Code code = is_taken           ? Code::kIdConflict
                    : number == ENOSPC ? Code::kNoSpace
                                       : Code::kIoError;
  return Error(code, fmt::format("cannot write {}: {}", path,
                                 is_taken ? "it is there already" : std::strerror(number)))
      .with_hint("nothing is overwritten: name another directory with --out");
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
  std::error_code failed;
  std::filesystem::create_directories(full.parent_path(), failed);
  open.beside =
      (full.parent_path() / fmt::format(".quipu-{}-{}", ::getpid(), paths_.size())).string();
  open.file.reset(std::fopen(open.beside.c_str(), "wxb"));
  if (open.file == nullptr) return cannot_write(path, errno);
  paths_.push_back(path);
  return {};
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
  for (const auto& [path, open] : open_) {
    const bool is_linked = ::link(open.beside.c_str(), path.c_str()) == 0;
    if (!is_linked && !(errno == EEXIST && is_same(open.beside, path))) {
      return cannot_write(path, errno);
    }
  }
  return {};
}

bool is_below(const std::string& path) {
  const std::filesystem::path parts(path);
  if (parts.empty() || parts.is_absolute()) return false;
  for (const auto& part : parts) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace quipu::cli
