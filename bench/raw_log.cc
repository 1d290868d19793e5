#include "raw_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"

namespace quipu::bench {

RawLog::RawLog(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  check(file_ >= 0, "cannot open " + path.string());
}

RawLog::~RawLog() { ::close(file_); }

void RawLog::append(std::string_view bytes) {
  const ssize_t written = ::write(file_, bytes.data(), bytes.size());
  check(written == static_cast<ssize_t>(bytes.size()), "a raw write was cut short");
}

void RawLog::sync() { check(::fdatasync(file_) == 0, "a raw sync failed"); }

std::uint64_t RawLog::size() const {
  struct stat facts = {};
  check(::fstat(file_, &facts) == 0, "cannot look at a raw file");
  return static_cast<std::uint64_t>(facts.st_size);
}

MappedFile::MappedFile(const std::filesystem::path& path)
    : size_(std::filesystem::file_size(path)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0, "cannot open " + path.string());
  start_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  check(start_ != MAP_FAILED, "cannot map " + path.string());
}

MappedFile::~MappedFile() { ::munmap(start_, size_); }

}  // namespace quipu::bench
