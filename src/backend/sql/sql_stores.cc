#include "backend/sql/sql_stores.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/try.h"
#include "fs/posix_fs.h"
#include "log/session_lock.h"
#include "sql/database.h"
#include "sql/postgres_engine.h"

namespace quipu::sqlstore {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

// The turn of a writer: of the threads of this process, then of all processes.
class Turns {
 public:
  Turns(std::shared_ptr<fs::Fs> fs, Result<std::unique_ptr<fs::File>> file, Clock& clock,
        std::chrono::milliseconds wait)
      : fs_(std::move(fs)), lock_(std::move(file), clock, wait) {}

  static Result<std::shared_ptr<void>> take(const std::shared_ptr<Turns>& turns) {
    // Nobody else writes this thread's id.
    if (turns->holder_ == std::this_thread::get_id()) return turns->taken_.lock();
    auto taken = std::make_shared<Taken>(turns);
    TRY_ASSIGN(auto held, turns->lock_.acquire("writer"));
    taken->processes.emplace(std::move(held));
    turns->taken_ = taken;
    turns->holder_ = std::this_thread::get_id();
    return std::shared_ptr<void>(std::move(taken));
  }

 private:
  struct Taken {
    explicit Taken(std::shared_ptr<Turns> of) : turns(std::move(of)), threads(turns->mutex_) {}
    ~Taken() { turns->holder_ = std::thread::id(); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    std::shared_ptr<Turns> turns;
    std::unique_lock<std::timed_mutex> threads;
    std::optional<log::LockFile::Held> processes{};
  };

  std::shared_ptr<fs::Fs> fs_;
  log::LockFile lock_;
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> holder_{};
  std::weak_ptr<void> taken_;  // of the holder
};

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9');
         });
}

// Takes `key=…` out of the query of a URL.
std::string take_out(std::string& url, std::string_view key) {
  const std::size_t query = url.find('?');
  for (std::size_t at = query; at < url.size();) {
    const std::size_t end = std::min(url.find('&', at + 1), url.size());
    const std::string_view member = std::string_view(url).substr(at + 1, end - at - 1);
    if (member.starts_with(key)) {
      std::string value(member.substr(key.size()));
      url.erase(at + 1, std::min(end + 1, url.size()) - at - 1);
      while (!url.empty() && (url.back() == '?' || url.back() == '&')) url.pop_back();
      return value;
    }
    at = end;
  }
  return {};
}

// Whoever names a wrong file must find it as it was: a store is opened with a lock and a
// write-ahead log beside it. Only what is certain is refused here; of everything else the real
// opening speaks.
Result<void> look_at(const std::string& path, bool create) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return Error(Code::kInvalidArgument, path + " is a directory, not a database")
        .with_hint("without `sqlite:` it is taken for a store on files");
  }
  auto connection = sql::Connection::open(
      path, {.create = false, .own_checkpoints = true, .read_only = true, .vfs = nullptr});
  if (!connection.ok()) return {};
  const auto tables =
      connection->number("SELECT count(*) FROM sqlite_master WHERE name = 'quipu_schema'");
  if (!tables.ok() && tables.error().code() == Code::kCorrupt) {
    return Error(Code::kCorrupt, path + ": " + tables.error().message())
        .with_hint("name another file, or bring back a backup; nothing was changed");
  }
  if (!create && tables.ok() && tables->value_or(0) == 0) {
    return Error(Code::kNotFound, "there is no store in the database " + path)
        .with_hint("make one with `quipu init`, or name another with --store");
  }
  return {};
}

Result<sql::Pool::Open> sqlite_connections(const std::string& file, bool create, Clock& clock,
                                           std::chrono::milliseconds wait) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed || path.filename().empty()) {
    return Error(Code::kInvalidArgument, "the URL names no file: " + file);
  }
  if (!std::filesystem::exists(path, failed) && !create) {
    return Error(Code::kNotFound, "there is no store at " + path.string())
        .with_hint("make one with `quipu init`, or name another with --store");
  }
  TRY(look_at(path.string(), create));
  if (create) TRY(fs::PosixFs::make_root(path.parent_path().string()));
  TRY_ASSIGN(std::shared_ptr<fs::Fs> fs, fs::PosixFs::open(path.parent_path().string()));
  return connections(
      SqliteFile{.fs = std::move(fs), .name = path.filename().string(), .path = path.string()},
      create, clock, wait);
}

// SQLite takes no notice when the directory that it made its log in cannot be synced.
Result<std::unique_ptr<sql::Engine>> open_engine(const SqliteFile& file,
                                                 const sql::SqliteOptions& options) {
  const auto log = file.fs->stat(file.name + "-wal");
  auto engine = sql::open_sqlite(file.path, options);
  if (!engine.ok()) return std::move(engine).error().in(file.path);
  if (!log.ok() && !options.read_only) {
    TRY((*engine)->number("PRAGMA schema_version"));  // the first look makes it
    TRY(file.fs->sync_dir(""));
  }
  return engine;
}

Result<sql::Pool::Open> postgres_connections(const std::string& url, Clock& clock,
                                             std::chrono::milliseconds wait) {
  std::string server = url;
  sql::PostgresOptions options;
  options.clock = &clock;
  options.connect_wait = wait;
  if (std::string schema = take_out(server, "schema="); !schema.empty()) {
    if (!is_name(schema)) {
      return Error(Code::kInvalidArgument, "no name for a schema: " + schema)
          .with_hint("letters, digits and _, at most 63, not beginning with a digit");
    }
    options.schema = std::move(schema);
  }
  return sql::Pool::Open([server, options] { return sql::open_postgres(server, options); });
}

}  // namespace

bool is_postgres(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

bool is_database(std::string_view url) { return url.starts_with(kSqlite) || is_postgres(url); }

Result<sql::Pool::Open> connections(std::string_view url, bool create, Clock& clock,
                                    std::chrono::milliseconds wait) {
  if (is_postgres(url)) return postgres_connections(std::string(url), clock, wait);
  url.remove_prefix(kSqlite.size());
  if (url.starts_with("//")) url.remove_prefix(2);
  return sqlite_connections(std::string(url), create, clock, wait);
}

Result<sql::SqliteOptions> sqlite_options(const SqliteFile& file, bool create, Clock& clock,
                                          std::chrono::milliseconds wait) {
  // SQLite would let everybody read it; what it makes beside it is as open as this.
  if (create) TRY(file.fs->open(file.name, fs::OpenMode::kCreate));
  auto lock_file = file.fs->open(file.name + ".lck", fs::OpenMode::kCreate);
  const bool is_read_only = !lock_file.ok();
  auto turns = std::make_shared<Turns>(file.fs, std::move(lock_file), clock, wait);
  sql::SqliteOptions options;
  options.create = create;
  options.read_only = is_read_only;
  options.busy_wait = wait;
  options.turn = [turns] { return Turns::take(turns); };
  options.vfs = file.vfs;
  options.tokenizer = file.tokenizer;
  return options;
}

Result<sql::Pool::Open> connections(const SqliteFile& file, bool create, Clock& clock,
                                    std::chrono::milliseconds wait) {
  TRY_ASSIGN(auto options, sqlite_options(file, create, clock, wait));
  return sql::Pool::Open([file, options] { return open_engine(file, options); });
}

}  // namespace quipu::sqlstore
