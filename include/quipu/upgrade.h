// Upgrades of a store's schema. A program that is newer than the store reads it, and
// writes after an upgrade; see docs/sql.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

struct UpgradeOptions {
  /// Say what would be done, and do nothing.
  bool dry_run = false;
  /// PostgreSQL: somebody has made a backup. Without it nothing is begun, because only the
  /// server's own means can make one. SQLite makes its own.
  bool have_backup = false;
};

struct UpgradeReport {
  int from_version = 0;
  int to_version = 0;
  /// An upgrade that was interrupted is gone on with.
  bool resumed = false;
  /// What was done, or would be: a sentence a version. Empty: the store is current.
  std::vector<std::string> steps;
  /// Where the copies are that can be gone back to.
  std::vector<std::string> backups;
};

/// Brings the schema of a store up to date. Interrupted at any point it can be repeated, and goes
/// on where it stopped. `unsupported` for a store that is newer than this program, and on
/// PostgreSQL without a backup; nothing was changed then. Directories have no schema: there
/// is nothing to do.
Result<UpgradeReport> upgrade_store(std::string_view url, const UpgradeOptions& options = {});

}  // namespace quipu
