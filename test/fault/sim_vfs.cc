#include "fault/sim_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace quipu::fault {
namespace {

struct OpenFile;

// What connections to one file share.
struct SharedFile {
  std::vector<OpenFile*> opened;
  std::vector<std::unique_ptr<std::byte[]>> index;  // of the write-ahead log
};

struct Machine {
  std::shared_ptr<fs::Fs> fs;
  std::map<std::string, SharedFile> files;
  int last_errno = 0;

  // The unix VFS tells ENOSPC from everything else, and that is all.
  bool note(const Error& error) {
    last_errno = error.code() == Code::kNoSpace ? ENOSPC : EIO;
    return last_errno == ENOSPC;
  }
};

// As `sqlite3_file`, in memory of SQLite.
struct OpenFile {
  const sqlite3_io_methods* methods = nullptr;
  Machine* machine = nullptr;
  std::unique_ptr<fs::File> file;
  SharedFile* shared = nullptr;
  int lock = SQLITE_LOCK_NONE;
  unsigned index_shared = 0;  // locks on the index, by slot
  unsigned index_exclusive = 0;
  bool uses_index = false;
  bool syncs_directory = false;  // with the next sync: its name may be new
};

OpenFile& from(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
Machine& from(sqlite3_vfs* vfs) { return *static_cast<Machine*>(vfs->pAppData); }

std::string_view view(const void* bytes, int size) {
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

// --- files -------------------------------------------------------------------------------

int close(sqlite3_file* file) {
  OpenFile& own = from(file);
  std::erase(own.shared->opened, &own);
  own.~OpenFile();
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  OpenFile& own = from(file);
  const auto got = fs::read_up_to(*own.file, static_cast<std::uint64_t>(offset),
                                  static_cast<std::size_t>(amount));
  if (!got.ok()) {
    own.machine->note(got.error());
    return SQLITE_IOERR_READ;
  }
  std::memcpy(into, got->data(), got->size());
  if (got->size() == static_cast<std::size_t>(amount)) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + got->size(), 0,
              static_cast<std::size_t>(amount) - got->size());
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* bytes, int amount, sqlite3_int64 offset) {
  OpenFile& own = from(file);
  const auto done =
      fs::write_all_at(*own.file, view(bytes, amount), static_cast<std::uint64_t>(offset));
  if (done.ok()) return SQLITE_OK;
  return own.machine->note(done.error()) ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& own = from(file);
  const auto done = own.file->truncate(static_cast<std::uint64_t>(size));
  if (done.ok()) return SQLITE_OK;
  own.machine->note(done.error());
  return SQLITE_IOERR_TRUNCATE;
}

int sync(sqlite3_file* file, int) {
  OpenFile& own = from(file);
  if (const auto done = own.file->sync(); !done.ok()) {
    own.machine->note(done.error());
    return SQLITE_IOERR_FSYNC;
  }
  if (own.syncs_directory) ignore(own.machine->fs->sync_dir(""), "the unix VFS does not look");
  own.syncs_directory = false;
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  OpenFile& own = from(file);
  const auto stat = own.file->stat();
  if (!stat.ok()) {
    own.machine->note(stat.error());
    return SQLITE_IOERR_FSTAT;
  }
  *size = static_cast<sqlite3_int64>(stat->size);
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

// --- locks -------------------------------------------------------------------------------

template <class Conflict>
bool others(const OpenFile& own, Conflict conflict) {
  return std::any_of(own.shared->opened.begin(), own.shared->opened.end(),
                     [&](const OpenFile* other) { return other != &own && conflict(*other); });
}

int lock(sqlite3_file* file, int level) {
  OpenFile& own = from(file);
  if (own.lock >= level) return SQLITE_OK;
  const int most = level == SQLITE_LOCK_SHARED     ? SQLITE_LOCK_RESERVED
                   : level == SQLITE_LOCK_RESERVED ? SQLITE_LOCK_SHARED
                                                   : SQLITE_LOCK_NONE;
  if (others(own, [&](const OpenFile& other) { return other.lock > most; })) {
    // Whoever waits for the readers to go lets no new ones in.
    if (level == SQLITE_LOCK_EXCLUSIVE) own.lock = std::max(own.lock, SQLITE_LOCK_PENDING);
    return SQLITE_BUSY;
  }
  own.lock = level;
  return SQLITE_OK;
}

int unlock(sqlite3_file* file, int level) {
  OpenFile& own = from(file);
  own.lock = std::min(own.lock, level);
  return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file* file, int* held) {
  OpenFile& own = from(file);
  *held = own.lock >= SQLITE_LOCK_RESERVED ||
          others(own, [](const OpenFile& other) { return other.lock >= SQLITE_LOCK_RESERVED; });
  return SQLITE_OK;
}

// --- the index of the write-ahead log ----------------------------------------------------

int index_map(sqlite3_file* file, int region, int size, int extend, void volatile** at) {
  OpenFile& own = from(file);
  own.uses_index = true;
  auto& index = own.shared->index;
  const auto wanted = static_cast<std::size_t>(region);
  while (extend != 0 && index.size() <= wanted) {
    index.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(size)));
  }
  *at = wanted < index.size() ? index[wanted].get() : nullptr;
  return SQLITE_OK;
}

int index_lock(sqlite3_file* file, int first, int count, int flags) {
  OpenFile& own = from(file);
  const unsigned mask = ((1u << count) - 1) << first;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    own.index_shared &= ~mask;
    own.index_exclusive &= ~mask;
    return SQLITE_OK;
  }
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  if (others(own, [&](const OpenFile& other) {
        return ((other.index_exclusive | (exclusive ? other.index_shared : 0)) & mask) != 0;
      })) {
    return SQLITE_BUSY;
  }
  (exclusive ? own.index_exclusive : own.index_shared) |= mask;
  return SQLITE_OK;
}

void index_barrier(sqlite3_file*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

// The unix VFS leaves the file, but the first to open it makes it empty.
int index_unmap(sqlite3_file* file, int) {
  OpenFile& own = from(file);
  own.uses_index = false;
  own.index_shared = own.index_exclusive = 0;
  if (!others(own, [](const OpenFile& other) { return other.uses_index; })) {
    own.shared->index.clear();
  }
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = index_map,
    .xShmLock = index_lock,
    .xShmBarrier = index_barrier,
    .xShmUnmap = index_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// --- the file system ---------------------------------------------------------------------

int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* into, int flags, int* opened_as) {
  into->pMethods = nullptr;
  if (path == nullptr) return SQLITE_CANTOPEN;  // what is temporary is kept in memory
  Machine& machine = from(vfs);
  const auto mode = (flags & SQLITE_OPEN_READONLY) != 0 ? fs::OpenMode::kRead
                    : (flags & SQLITE_OPEN_CREATE) != 0 ? fs::OpenMode::kCreate
                                                        : fs::OpenMode::kReadWrite;
  auto file = machine.fs->open(path, mode);
  if (!file.ok()) {
    machine.note(file.error());
    return SQLITE_CANTOPEN;
  }
  auto* const own = new (into) OpenFile();
  own->methods = &kMethods;
  own->machine = &machine;
  own->file = std::move(file).value();
  own->shared = &machine.files[path];
  own->shared->opened.push_back(own);
  const int named_anew = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  own->syncs_directory = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & named_anew) != 0;
  if (opened_as != nullptr) *opened_as = flags;
  return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* path, int syncs_directory) {
  Machine& machine = from(vfs);
  if (const auto done = machine.fs->remove(path); !done.ok()) {
    machine.note(done.error());
    return done.error().code() == Code::kNotFound ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
  }
  if (syncs_directory == 0 || machine.fs->sync_dir("").ok()) return SQLITE_OK;
  return SQLITE_IOERR_DIR_FSYNC;
}

// The unix VFS takes an empty file for none, and every trouble for "no".
int access(sqlite3_vfs* vfs, const char* path, int flags, int* answer) {
  const auto stat = from(vfs).fs->stat(path);
  *answer = stat.ok() && (flags != SQLITE_ACCESS_EXISTS || stat->size > 0);
  return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* path, int size, char* into) {
  sqlite3_snprintf(size, into, "%s", path);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs*, int size, char* into) {
  std::memset(into, 1, static_cast<std::size_t>(size));
  return size;
}

int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }

int current_time(sqlite3_vfs*, double* julian_day) {
  *julian_day = 2461100.0;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs* vfs, int, char*) { return from(vfs).last_errno; }

}  // namespace

struct SimVfs::Registered {
  Machine machine;
  std::string name;
  sqlite3_vfs vfs{};
};

SimVfs::SimVfs(std::shared_ptr<fs::Fs> fs) : registered_(std::make_unique<Registered>()) {
  static std::atomic<unsigned> made = 0;
  registered_->machine.fs = std::move(fs);
  registered_->name = "sim-" + std::to_string(++made);
  sqlite3_vfs& vfs = registered_->vfs;
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(OpenFile);
  vfs.mxPathname = 512;
  vfs.zName = registered_->name.c_str();
  vfs.pAppData = &registered_->machine;
  vfs.xOpen = open;
  vfs.xDelete = remove;
  vfs.xAccess = access;
  vfs.xFullPathname = full_path;
  vfs.xRandomness = randomness;
  vfs.xSleep = sleep;
  vfs.xCurrentTime = current_time;
  vfs.xGetLastError = last_error;
  if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) std::abort();
}

SimVfs::~SimVfs() { sqlite3_vfs_unregister(&registered_->vfs); }

const char* SimVfs::name() const { return registered_->name.c_str(); }

}  // namespace quipu::fault
