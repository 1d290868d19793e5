// Phases: taken one after the other on an open database.
//
//   1. A phase is one transaction, its record in `quipu_adoption` included: it is there whole
//      or not at all, whatever ends the process.
//   2. What it made is checked before it is committed.
#pragma once

#include <vector>

#include "quipu/adopt.h"
#include "sql/database.h"

namespace quipu::adoption {

/// `require_codepilot` of this database, and `unsupported` when it has taken a phase that this
/// version does not know.
Result<void> require_adoptable(sql::Connection& connection);

/// Whether `phase` would change anything. Changes nothing.
Result<bool> is_due(sql::Connection& connection, int phase);

/// Takes `phase`; those before it must have been taken. Steps that had nothing to do are left
/// out of the answer.
Result<std::vector<AdoptChange>> take_phase(sql::Connection& connection, int phase);

}  // namespace quipu::adoption
