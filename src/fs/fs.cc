#include "fs/fs.h"

#include <cerrno>
#include <system_error>

#include "base/try.h"

namespace quipu::fs {
namespace {

// Far more interruptions in a row than signals can explain.
constexpr int kMaxFruitlessTries = 1000;

Code code_of(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::kNoSpace;
    case EROFS:
    case ESTALE:
    case ENODEV:
    case ENXIO:
      return Code::kStorageGone;
    case EACCES:
    case EPERM:
      return Code::kNotAllowed;
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kIdConflict;
    case ENOMEM:
      return Code::kNoMemory;
    default:
      return Code::kIoError;
  }
}

// Calls `write(rest)` until everything is written; `write` answers like File::append.
template <class Write>
Result<void> write_fully(std::string_view bytes, Write write) {
  int fruitless = 0;
  while (!bytes.empty()) {
    TRY_ASSIGN(const std::size_t written, write(bytes));
    if (written == 0) {
      if (++fruitless >= kMaxFruitlessTries) {
        return Error(Code::kIoError, "write makes no progress");
      }
      continue;
    }
    fruitless = 0;
    bytes.remove_prefix(written);
  }
  return {};
}

}  // namespace

Error error_from_errno(int number, std::string_view what) {
  // Not strerror(): its buffer is shared by all threads.
  return Error(code_of(number), std::string(what) + ": " + std::generic_category().message(number));
}

Result<void> Fs::sync_files(std::span<const std::unique_ptr<File>> files) {
  for (const auto& file : files) TRY(file->sync());
  return {};
}

Result<std::vector<std::size_t>> Fs::link_all(const std::string& directory,
                                              std::span<const Naming> names) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto linked = link(*names[i].file, directory + "/" + names[i].name);
    if (linked.ok()) continue;
    if (linked.error().code() != Code::kIdConflict) return linked.error();
    taken.push_back(i);
  }
  return taken;
}

Result<std::unique_ptr<HostWatch>> Fs::watch() {
  return Error(Code::kUnsupported, "nothing says here what changes");
}

Result<void> append_all(File& file, std::string_view bytes) {
  return write_fully(bytes, [&](std::string_view rest) { return file.append(rest); });
}

Result<void> write_all_at(File& file, std::string_view bytes, std::uint64_t offset) {
  return write_fully(bytes, [&](std::string_view rest) {
    return file.write_at(rest, offset + (bytes.size() - rest.size()));
  });
}

Result<std::string> read_up_to(File& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    TRY_ASSIGN(const std::size_t got,
               file.read_at(std::span(bytes).subspan(filled), offset + filled));
    if (got == 0) break;
    filled += got;
  }
  bytes.resize(filled);
  return bytes;
}

Result<std::string> read_exactly(File& file, std::uint64_t offset, std::size_t size) {
  TRY_ASSIGN(std::string bytes, read_up_to(file, offset, size));
  if (bytes.size() < size) {
    return Error(Code::kCorrupt, "file ends at byte " + std::to_string(offset + bytes.size()) +
                                     ", expected " + std::to_string(size) + " bytes from " +
                                     std::to_string(offset));
  }
  return bytes;
}

}  // namespace quipu::fs
