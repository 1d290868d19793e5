#include "quipu/upgrade.h"

#include "backend/sql/schema.h"
#include "backend/sql/sql_stores.h"
#include "base/try.h"
#include "quipu/store.h"
#include "store/guarded.h"

namespace quipu {
namespace {

Result<UpgradeReport> upgrade_database(std::string_view url, const UpgradeOptions& options) {
  TRY_ASSIGN(const auto open,
             sqlstore::connections(url, false, Clock::system(), StoreOptions().lock_wait));
  TRY_ASSIGN(const auto engine, open());
  const auto versions = sqlstore::versions();
  TRY_ASSIGN(const auto state, sql::schema_state(*engine));
  if (!state) return Error(Code::kNotFound, "there is no store in this database");
  UpgradeReport report;
  report.from_version = static_cast<int>(state->version);
  report.to_version = static_cast<int>(versions.size());
  report.resumed = state->taken > 0;
  if (report.from_version > report.to_version) return *sql::not_writable(*state, versions);
  for (auto next = static_cast<std::size_t>(state->version); next < versions.size(); ++next) {
    report.steps.push_back("version " + std::to_string(next + 1) + ": " + versions[next].what);
  }
  if (report.steps.empty() || options.dry_run) return report;
  TRY(sql::upgrade(*engine, versions, [&](std::int64_t version) -> Result<void> {
    if (options.have_backup) return {};
    auto made = engine->back_up("before-version-" + std::to_string(version));
    if (!made.ok() && made.error().code() == Code::kUnsupported) {
      return Error(Code::kUnsupported, "an upgrade begins with a backup, and none was made")
          .with_hint("make one with pg_dump, then repeat with --i-have-a-backup");
    }
    if (!made.ok()) return std::move(made).error();
    report.backups.push_back(std::move(made).value());
    return {};
  }));
  return report;
}

}  // namespace

Result<UpgradeReport> upgrade_store(std::string_view url, const UpgradeOptions& options) {
  return guarded([&]() -> Result<UpgradeReport> {
    if (sqlstore::is_database(url)) return upgrade_database(url, options);
    TRY(Store::open(url));
    return UpgradeReport{
        .from_version = 1, .to_version = 1, .resumed = false, .steps = {}, .backups = {}};
  });
}

}  // namespace quipu
