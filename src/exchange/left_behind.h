// What a session has and an export of it has not: the part of the report that does not
// depend on how a dialect writes.
#pragma once

#include <string>
#include <vector>

#include "backend/lineage.h"
#include "dialect/dialect.h"
#include "exchange/spoken.h"
#include "quipu/export.h"
#include "quipu/store.h"

namespace quipu::exchange {

/// What was said on other branches than that of `head`, and is not in `spoken`: ids, newest
/// first.
Result<std::vector<std::string>> said_elsewhere(const Lineage& lineage, const Spoken& spoken,
                                                Ordinal head);

/// Other branches, what was compacted, labels, characters and texts that were not written. `head`:
/// the end of the path that was. `given`: whose records were given back as they are; null:
/// nobody's.
Result<void> report_left_behind(Store& store, const Lineage& lineage, const Spoken& spoken,
                                const dialect::Dialect* given, Ordinal head, ExportReport& report);

/// `recorded`: of the whole session, as far as its records do not come back themselves.
void report_cost(const dialect::Dialect& dialect, const dialect::Transcript& transcript,
                 std::int64_t recorded, ExportReport& report);

}  // namespace quipu::exchange
