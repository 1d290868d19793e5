// The append plan: what a batch does to a session, decided in one place for
// every backend, under that backend's lock.
//
//   ids of the batch            | precondition | answer
//   ----------------------------+--------------+-------------------------------
//   all stored, same content    | any          | success, nothing added
//   any stored, other content   | any          | id_conflict
//   some stored, same content   | any          | partial_overlap; merge: the
//                               |              |   missing ones are added
//   none stored                 | holds        | added
//   none stored                 | fails        | tail_moved, head_moved, fenced
//
// then parents: unknown_parent, or staged.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/door.h"
#include "model/fold.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

/// What the plan asks of a session whose lock is held.
class AppendTarget {
 public:
  virtual ~AppendTarget() = default;
  /// As it stands with what was staged so far.
  virtual const FoldState& fold() const = 0;
  virtual Result<std::optional<FoundEntry>> find(std::string_view id) = 0;
  /// The stored JSON object of a visible entry, and its id. Valid until the
  /// next call.
  virtual Result<std::string_view> text(Ordinal visible) = 0;
  virtual Result<std::string_view> id(Ordinal visible) = 0;
  /// Adds to the batch in the making. `parent`: the member to put in, or empty.
  virtual void stage(const Draft& draft, std::string_view parent, const FoldInput& input) = 0;
};

/// What is stored under an id that is given again is not what was stored there: nobody can say
/// whether it is the same.
Error damaged_repeat(const std::string& session_id);

struct Planned {
  std::size_t appended = 0;
  std::size_t already_present = 0;
};

/// Decides, and stages what is to be added. An error other than `corrupt` (an
/// index to be made anew) has staged nothing.
Result<Planned> plan_append(AppendTarget& target, const Batch& batch, const AppendOptions& options);

}  // namespace quipu
