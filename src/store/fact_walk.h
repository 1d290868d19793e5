// The facts of one type in a session's own log, newest first: what state made
// of facts is read with. Facts of one type are chained (model/fold.h), so the
// rest of the log is not touched. Inherited facts are none: they do not cross a
// fork.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/lineage.h"
#include "quipu/result.h"

namespace quipu {

/// Views into the walk, valid until its next step.
struct Fact {
  Ordinal ordinal = kNone;
  /// The entry that a `head`, `label` or `redaction` points at; kNone when the
  /// session cannot see it.
  Ordinal target = kNone;
  std::string_view id;
  std::string_view timestamp;
  std::string_view run_id;
  std::string_view payload;
};

class FactWalk {
 public:
  FactWalk(const Lineage& lineage, EntryType type)
      : lineage_(lineage), next_(lineage.own().fold().last_fact[static_cast<std::size_t>(type)]) {}

  Result<std::optional<Fact>> next();

 private:
  const Lineage& lineage_;
  Ordinal next_;
  EntryText text_;
};

/// A member that is a string, decoded; empty when it is not there or something
/// else.
std::string text_member(std::string_view object, std::string_view key);

/// The id of the last entry of the session's own log; empty without entries.
Result<std::string> tail_of(const Lineage& lineage);

/// The id of the head; empty without nodes.
Result<std::string> head_of(const Lineage& lineage);

}  // namespace quipu
