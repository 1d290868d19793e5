// Schema versions: PRAGMA user_version says how many steps a database has taken.
#pragma once

#include <span>

#include "sql/database.h"

namespace quipu::sql {

/// Takes the steps that the database has not taken yet, each in a transaction of
/// its own, so that one that fails leaves the version before it. `unsupported`
/// when the database has taken more steps than there are: a newer program's.
Result<void> migrate(Connection& connection, std::span<const char* const> steps);

}  // namespace quipu::sql
