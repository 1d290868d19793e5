#include "sql/migrate.h"

#include "base/try.h"

namespace quipu::sql {

Result<void> migrate(Connection& connection, std::span<const char* const> steps) {
  for (;;) {
    TRY_ASSIGN(const auto seen, connection.number("PRAGMA user_version"));
    if (seen.value_or(0) == static_cast<std::int64_t>(steps.size())) return {};
    TRY_ASSIGN(Transaction transaction, Transaction::begin(connection));
    // Somebody else may have taken the step while we waited.
    TRY_ASSIGN(const auto version, connection.number("PRAGMA user_version"));
    const std::int64_t taken = version.value_or(0);
    if (taken < 0 || taken > static_cast<std::int64_t>(steps.size())) {
      return Error(Code::kUnsupported, "the database has schema " + std::to_string(taken) +
                                           ", this version knows " + std::to_string(steps.size()));
    }
    if (taken < static_cast<std::int64_t>(steps.size())) {
      TRY(connection.execute(steps[static_cast<std::size_t>(taken)]));
      TRY(connection.execute("PRAGMA user_version=" + std::to_string(taken + 1)));
    }
    TRY(transaction.commit());
  }
}

}  // namespace quipu::sql
