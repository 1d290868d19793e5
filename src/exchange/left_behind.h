// What a session has and an export of it has not: the part of the report that does not
// depend on how a dialect writes.
#pragma once

#include <string>
#include <unordered_set>

#include "backend/lineage.h"
#include "dialect/dialect.h"
#include "dialect/transcript.h"
#include "quipu/export.h"
#include "quipu/store.h"

namespace quipu::exchange {

/// What was written anew, and of what it was made.
struct Spoken {
  dialect::Transcript transcript;
  std::unordered_set<std::string> entries;  // ids of those that it was made from
  std::unordered_set<std::string> calls;    // and results: call_key
};

/// What says the same in two places: a call, or the result of one.
std::string call_key(PartType type, const std::string& id);

/// Other branches, what was compacted, labels, characters and texts that were not written. `head`:
/// the end of the path that was. `given`: whose records were given back as they are; null:
/// nobody's.
Result<void> report_left_behind(Store& store, const Lineage& lineage, const Spoken& spoken,
                                const dialect::Dialect* given, Ordinal head, ExportReport& report);

/// `recorded`: of the whole session, as far as its records do not come back themselves.
void report_cost(const dialect::Dialect& dialect, const dialect::Transcript& transcript,
                 std::int64_t recorded, ExportReport& report);

}  // namespace quipu::exchange
