// Steps: what a phase is made of, as data. All SQL of the adoption is here and in parts.cc.
//
// A step that makes a table, a column, an index or a trigger is there only when the database
// lacks it; one that fills rows leaves those alone that are filled. So all steps of a phase can be
// taken again at any time, and after an interruption anywhere.
//
// Statements of triggers take nothing for granted of whoever runs them: no INSERT OR, because
// that of the outer statement would hold instead.
#pragma once

#include <string>
#include <vector>

#include "exchange/adopt/schema.h"

namespace quipu::adoption {

struct Step {
  std::string what;  // for people: "table projects", "sessions given a project"
  std::string sql;
  bool fills_rows = false;
};

/// What `phase` still has to do to a database that the phases before it were done to.
std::vector<Step> phase_steps(int phase, const Schema& schema);

/// What must not be there when `phase` is done: a count of rows each, which must be 0.
std::vector<Step> phase_faults(int phase, const Schema& schema);

}  // namespace quipu::adoption
