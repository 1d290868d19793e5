#include "store/index_place.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "backend/sql/sql_stores.h"
#include "base/mutex.h"
#include "base/try.h"
#include "fs/posix_fs.h"
#include "sql/sqlite_engine.h"

namespace quipu {
namespace {

constexpr auto kWait = std::chrono::seconds(5);
constexpr const char* kName = "index.db";

// The file, found when it is first needed.
class IndexFile {
 public:
  IndexFile(std::vector<std::string> directories, Clock& clock)
      : directories_(std::move(directories)), clock_(clock) {}

  Result<std::unique_ptr<sql::Engine>> open() EXCLUDES(mutex_) {
    TRY(find());
    MutexLock lock(mutex_);
    return sql::open_sqlite(path_, *options_);
  }

  // What cannot be looked at may be there: who opens it says why.
  bool exists() const {
    for (const std::string& directory : directories_) {
      std::error_code failed;
      if (std::filesystem::exists(std::filesystem::path(directory) / kName, failed)) return true;
      if (failed) return true;
    }
    return false;
  }

  Result<void> empty() EXCLUDES(mutex_) {
    TRY(find());
    MutexLock lock(mutex_);
    return sql::empty_sqlite(path_, *options_);
  }

 private:
  Result<void> find() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::string why = "the environment names no directory for caches";
    for (const std::string& directory : directories_) {
      if (options_) break;
      auto tried = try_in(directory);
      if (!tried.ok()) why = tried.error().message();
    }
    if (options_) return {};
    return Error(Code::kNotAllowed, "there is no place for an index: " + why)
        .with_hint("make the store or the directory in XDG_CACHE_HOME writable");
  }

  Result<void> try_in(const std::string& directory) REQUIRES(mutex_) {
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(directory, failed);
    if (failed) return Error(Code::kIoError, directory + ": " + failed.message());
    TRY(fs::PosixFs::make_root(directory));
    TRY_ASSIGN(std::shared_ptr<fs::Fs> fs, fs::PosixFs::open(directory));
    sqlstore::SqliteFile file{.fs = std::move(fs),
                              .name = kName,
                              .path = (absolute / kName).string(),
                              .tokenizer = search::tokenizer()};
    TRY_ASSIGN(auto options, sqlstore::sqlite_options(file, true, clock_, kWait));
    if (options.read_only) return Error(Code::kNotAllowed, directory + " cannot be written");
    path_ = file.path;
    options_ = std::move(options);
    return {};
  }

  const std::vector<std::string> directories_;
  Clock& clock_;
  Mutex mutex_;
  std::string path_ GUARDED_BY(mutex_);
  std::optional<sql::SqliteOptions> options_ GUARDED_BY(mutex_);
};

}  // namespace

std::string cache_directory(const std::string& store_id) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/quipu/" + store_id;
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/quipu/" + store_id;
  return {};
}

std::shared_ptr<search::IndexDatabase> index_in(std::vector<std::string> directories,
                                                Clock& clock) {
  std::erase(directories, std::string());
  const auto file = std::make_shared<IndexFile>(std::move(directories), clock);
  auto pool = std::make_shared<sql::Pool>([file] { return file->open(); }, clock, kWait);
  return std::make_shared<search::IndexDatabase>(
      std::move(pool), [file] { return file->empty(); }, [file] { return file->exists(); });
}

}  // namespace quipu
