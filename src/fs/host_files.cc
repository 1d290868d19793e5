#include "fs/host_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "fs/fs.h"
#include "fs/posix_file.h"

namespace quipu::fs {
namespace {

class PosixHostFiles final : public HostFiles {
 public:
  bool exists(const std::string& path) override {
    struct ::stat raw;
    return ::stat(path.c_str(), &raw) == 0;
  }

  Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
    // O_NONBLOCK: a FIFO of that name must not stop us.
    const Fd fd(
        retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
    if (!fd.valid()) return error_from_errno(errno, "open " + path);
    struct ::stat raw;
    if (::fstat(fd.get(), &raw) != 0) return error_from_errno(errno, "stat " + path);
    if (!S_ISREG(raw.st_mode)) return Error(Code::kInvalidArgument, path + ": no regular file");
    std::string text(bytes_max, '\0');
    std::size_t size = 0;
    while (size < bytes_max) {
      const ssize_t got =
          retry([&] { return ::read(fd.get(), text.data() + size, bytes_max - size); });
      if (got < 0) return error_from_errno(errno, "read " + path);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
  }

  std::vector<std::string> shared_places() override {
    std::vector<std::string> places{"/", "/tmp", "/var/tmp"};
    for (const char* variable : {"HOME", "TMPDIR"}) {
      const char* place = std::getenv(variable);
      if (place != nullptr && *place == '/') places.emplace_back(place);
    }
    return places;
  }
};

}  // namespace

HostFiles& HostFiles::system() {
  static PosixHostFiles files;
  return files;
}

}  // namespace quipu::fs
