// Fs: everything Quipu asks of a file system, and nothing else.
//
// One object is rooted at one directory (a store); every path is relative to
// it, has no "..", and no symbolic link is ever followed below it. This is the
// seam where tests inject crashes, short writes, full disks and failed syncs:
// code above it never calls the operating system for storage.
//
// Errors carry the codes of `error_from_errno`. A call that fails has had no
// effect, except where its comment says otherwise.
//
// Thread-safety: Fs and File may be used from several threads at once; two
// threads must not append to one File without a lock of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs/host_watch.h"
#include "quipu/result.h"

namespace quipu::fs {

/// Turns an errno into an error: ENOSPC, EDQUOT and EFBIG into `no_space`;
/// EROFS, ESTALE, ENODEV and ENXIO into `storage_gone`; EACCES and EPERM into
/// `not_allowed`; ENOENT into `not_found`; EEXIST into `id_conflict`; ENOMEM
/// into `no_memory`; everything else into `io_error`. `what` names call and path.
Error error_from_errno(int number, std::string_view what);

/// Who a file is, whatever it is called.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct Stat {
  Identity identity;
  std::uint64_t size = 0;
  std::int64_t modified_ms = 0;  // a label for people; nothing is decided by it
};

/// Memory that shows a part of a file. Stays valid after its File is closed and
/// after the name is removed; touching bytes beyond the end of the file is fatal.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, std::size_t size, std::shared_ptr<void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<void> owner_;
};

enum class MapMode {
  kRead,     // read only
  kShared,   // read and write; stores reach the file and every other mapping of it
  kPrivate,  // read and write; stores are seen by this mapping alone
};

/// An open regular file. Closing (the destructor) reports nothing: durability
/// is `sync`, never a destructor.
class File {
 public:
  virtual ~File() = default;

  /// Reads up to `into.size()` bytes; fewer only at the end of the file or when
  /// interrupted. 0 means end of file.
  virtual Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) = 0;

  /// One write(2) at the end of the file. May write fewer bytes than given, and
  /// 0 when interrupted: see `append_all`.
  virtual Result<std::size_t> append(std::string_view bytes) = 0;
  /// Where the last append ended: further on than its caller thought, if others append to
  /// the file as well. What stands behind it now is another question.
  virtual Result<std::uint64_t> append_end() = 0;

  /// One pwrite(2), for files that are not logs (the offset index).
  virtual Result<std::size_t> write_at(std::string_view bytes, std::uint64_t offset) = 0;

  virtual Result<void> truncate(std::uint64_t size) = 0;

  /// Makes `[offset, offset + size)` part of the file, zero where it was not,
  /// with its space really there (fallocate, or zeros written where that is
  /// missing): a store into a mapping of it cannot run into a full disk.
  virtual Result<void> allocate(std::uint64_t offset, std::uint64_t size) = 0;

  /// fdatasync(2): contents and size survive a power cut when this returns.
  /// After an error nothing is known about what survives, and repeating the
  /// call proves nothing.
  virtual Result<void> sync() = 0;

  virtual Result<Stat> stat() = 0;

  /// Maps `[offset, offset + size)`; `offset` is a multiple of 4096. The range
  /// may lie beyond the end of the file as long as nobody touches it there.
  virtual Result<Mapping> map(std::uint64_t offset, std::size_t size, MapMode mode) = 0;

  /// Tries to take the exclusive lock on one byte (an OFD lock: it belongs to
  /// this open file, and ends with it or with the process). False: held by
  /// somebody else. Locking a byte twice through one File succeeds.
  virtual Result<bool> try_lock(std::uint64_t byte) = 0;
  virtual Result<void> unlock(std::uint64_t byte) = 0;
};

enum class OpenMode {
  kRead,       // must exist
  kAppend,     // must exist; read and append
  kReadWrite,  // must exist; read, write_at, map shared
  kCreate,     // as kReadWrite; created when missing
  kCreateNew,  // as kAppend; `id_conflict` when it exists
};

class Fs {
 public:
  virtual ~Fs() = default;

  /// Opens a regular file (mode 0600 when created). A directory, link, FIFO or
  /// device is `invalid_argument`.
  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;

  /// An empty file without a name in `directory` (O_TMPFILE), to be filled,
  /// synced and then given a name by `link`: nobody ever sees half of it. Where
  /// the file system has no O_TMPFILE, a random dot-name stands in.
  virtual Result<std::unique_ptr<File>> create_unnamed(const std::string& directory) = 0;

  /// Gives a file of `create_unnamed` its name. `id_conflict` when it is taken.
  virtual Result<void> link(File& file, const std::string& path) = 0;

  /// The same for several, in one directory, which is looked for once: the places in
  /// `names` of those that were taken. What comes before an error has its name.
  struct Naming {
    File* file = nullptr;
    std::string name;  // in the directory
  };
  virtual Result<std::vector<std::size_t>> link_all(const std::string& directory,
                                                    std::span<const Naming> names);

  /// A second name for an existing file (a hard link).
  virtual Result<void> link(const std::string& existing, const std::string& path) = 0;

  /// Replaces `to` by `from` in one step.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;

  /// Makes a directory, mode 0700. It being there already is success.
  virtual Result<void> make_dir(const std::string& path) = 0;

  /// Makes the names in `path` ("" is the root) survive a power cut.
  virtual Result<void> sync_dir(const std::string& path) = 0;

  /// `File::sync` of several files of this file system, at the price of about one:
  /// whatever else waits for the disk there may be written with them.
  virtual Result<void> sync_files(std::span<const std::unique_ptr<File>> files);

  /// Names of the entries of a directory, in no order, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;

  /// Follows no link. `not_found` when nothing has that name.
  virtual Result<Stat> stat(const std::string& path) = 0;

  /// The same without `modified_ms`, for those who write next. Linux keeps the times
  /// of a file that was asked for them exact: its next write has to note a new one
  /// in the inode, which costs about as much as the write.
  virtual Result<Stat> stat_size(const std::string& path) { return stat(path); }

  /// Says what changes in directories, which are named and name their files from the
  /// root. `unsupported` where nobody can tell.
  virtual Result<std::unique_ptr<HostWatch>> watch();

  /// Changes with every start of the machine: what is in the page cache is the
  /// truth only while this stays the same.
  virtual std::uint64_t boot_id() const = 0;
};

/// Appends all of `bytes`, going on after short and interrupted writes. On an
/// error some of them may be in the file.
Result<void> append_all(File& file, std::string_view bytes);

/// `write_at` until everything is written.
Result<void> write_all_at(File& file, std::string_view bytes, std::uint64_t offset);

/// Reads `size` bytes at `offset`, fewer when the file ends before. For bytes that
/// somebody else may cut off between a look at the size and the read.
Result<std::string> read_up_to(File& file, std::uint64_t offset, std::size_t size);

/// Reads exactly `size` bytes at `offset`; `corrupt` when the file ends before.
Result<std::string> read_exactly(File& file, std::uint64_t offset, std::size_t size);

}  // namespace quipu::fs
