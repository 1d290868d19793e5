#include "quipu/store.h"

#include <filesystem>

#include "backend/backend.h"
#include "backend/file/file_backend.h"
#include "backend/memory/memory_backend.h"
#include "backend/sql/sql_stores.h"
#include "base/try.h"
#include "fs/posix_fs.h"
#include "search/index_database.h"
#include "store/index_place.h"
#include "view/catalogue.h"
#include "view/usage_view.h"

namespace quipu {
namespace {

constexpr std::string_view kFileScheme = "file:";
constexpr std::string_view kMemoryScheme = "memory:";

// A scheme has at least two characters, so that nothing on any system takes a
// drive letter for one.
bool has_scheme(std::string_view url) {
  const auto colon = url.find(':');
  return colon != std::string_view::npos && colon > 1 && url.find_first_of("/.") > colon;
}

Result<std::shared_ptr<Backend>> open_file_store(std::string path, const StoreOptions& options,
                                                 Clock& clock, Random& random) {
  if (path.empty()) return Error(Code::kInvalidArgument, "the URL names no directory");
  if (options.create) TRY(fs::PosixFs::make_root(path));
  auto fs = fs::PosixFs::open(path);
  if (!fs.ok() && fs.error().code() == Code::kNotFound) {
    return Error(Code::kNotFound, "there is no store at " + path)
        .with_hint("make one with `quipu init`, or name another with --store");
  }
  if (!fs.ok()) return std::move(fs).error();
  auto backend =
      file::FileBackend::open(std::move(fs).value(), clock, random,
                              {.create = options.create, .lock_wait = options.lock_wait});
  if (!backend.ok()) return std::move(backend).error().in(path);
  return backend;
}

Result<std::shared_ptr<sqlstore::SqlBackend>> open_sql_store(std::string_view url,
                                                             const StoreOptions& options,
                                                             Clock& clock, Random& random) {
  TRY_ASSIGN(auto primary, sqlstore::connections(url, options.create, clock, options.lock_wait));
  sql::Pool::Open replica;
  if (!options.replica.empty()) {
    if (!sqlstore::is_postgres(url) || !sqlstore::is_postgres(options.replica)) {
      return Error(Code::kInvalidArgument, "only PostgreSQL has replicas: " + options.replica);
    }
    TRY_ASSIGN(replica, sqlstore::connections(options.replica, false, clock, options.lock_wait));
  }
  return sqlstore::SqlBackend::open(std::move(primary), std::move(replica), clock, random,
                                    {.create = options.create, .wait = options.lock_wait});
}

// Null, which is "in memory", when there is no saying where it would be.
std::unique_ptr<view::ViewFile> open_view_file(const view::ViewSchema& schema,
                                               const std::string& path) {
  if (path.empty()) return nullptr;
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).string();
  auto fs = fs::PosixFs::open(path);
  if (failed || !fs.ok()) return nullptr;
  return std::make_unique<view::ViewFile>(schema, std::move(fs).value(), absolute);
}

// What is computed from a database is kept where the system keeps such things: there may be
// no directory beside it, and it may be another machine's. Empty: nowhere.
std::string cached_views(const std::string& store_id) {
  const std::string place = cache_directory(store_id);
  return !place.empty() && fs::PosixFs::make_root(place).ok() ? place : std::string();
}

// A store whose views are kept in this directory.
Store with_views(std::shared_ptr<Backend> backend, const std::string& directory,
                 std::shared_ptr<search::IndexDatabase> indexes) {
  auto catalogue =
      std::make_shared<view::Catalogue>(backend, open_view_file(view::Catalogue::kFile, directory));
  auto usage = std::make_shared<view::UsageView>(backend, catalogue,
                                                 open_view_file(view::UsageView::kFile, directory));
  return Store(std::move(backend), std::move(catalogue), std::move(usage), std::move(indexes));
}

}  // namespace

Result<Store> Store::open(std::string_view url, const StoreOptions& options) {
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  Random& random = options.random != nullptr ? *options.random : Random::system();
  if (url == kMemoryScheme) return Store(memory::make_backend(clock, random));
  if (sqlstore::is_database(url)) {
    TRY_ASSIGN(auto backend, open_sql_store(url, options, clock, random));
    auto indexes = sqlstore::is_postgres(url)
                       ? std::make_shared<search::IndexDatabase>(backend->connections())
                       : index_in({cache_directory(backend->store_id())}, clock);
    return with_views(backend, cached_views(backend->store_id()), std::move(indexes));
  }
  if (url.starts_with(kFileScheme)) {
    url.remove_prefix(kFileScheme.size());
    if (url.starts_with("//")) url.remove_prefix(2);
  } else if (has_scheme(url)) {
    return Error(Code::kUnsupported, "no backend for " + std::string(url))
        .with_hint("use file:DIR or a directory, sqlite:FILE, postgres://…, or memory:");
  }
  TRY_ASSIGN(auto backend, open_file_store(std::string(url), options, clock, random));
  auto indexes = index_in({std::string(url), cache_directory(backend->store_id())}, clock);
  return with_views(std::move(backend), std::string(url), std::move(indexes));
}

Store::Store(std::shared_ptr<Backend> backend, std::shared_ptr<view::Catalogue> catalogue,
             std::shared_ptr<view::UsageView> usage, std::shared_ptr<search::IndexDatabase> indexes)
    : backend_(std::move(backend)), indexes_(std::move(indexes)), usage_(std::move(usage)) {
  if (!indexes_) indexes_ = std::make_shared<search::IndexDatabase>(backend_->filler().clock);
  if (!catalogue) catalogue = std::make_shared<view::Catalogue>(backend_, nullptr);
  if (!usage_) usage_ = std::make_shared<view::UsageView>(backend_, catalogue, nullptr);
  sessions_ = std::make_unique<SessionStore>(backend_, std::move(catalogue));
}

const std::string& Store::id() const { return backend_->store_id(); }

Result<void> Store::close() { return sessions_->close(); }

}  // namespace quipu
