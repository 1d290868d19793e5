// Folding: how a log of lines becomes a tree with a head.
//
// The one place that knows the rules of parent and head. It never refuses: it
// is run over what is stored, whoever stored it. Every backend uses it, so
// that the same log means the same tree everywhere.
//
// Ordinals are *visible* ordinals: in a fork the inherited path has 0 … base-1
// (a node's ordinal there is its depth), own entries follow in log order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "model/envelope.h"
#include "quipu/result.h"

namespace quipu {

using Ordinal = std::uint32_t;
inline constexpr Ordinal kNone = 0xffff'ffff;

/// What the index keeps of an entry's place.
struct Placement {
  /// Nodes: the parent, kNone for roots. Facts that point at an entry: that
  /// entry, kNone when the session cannot see it. Other facts: kNone.
  Ordinal parent = kNone;
  /// Nodes: steps from the root. Facts: the previous fact of the same type, so
  /// that facts of one type can be walked without the rest of the log.
  std::uint32_t depth = 0;
  EntryType type = EntryType::kOther;
  /// A node that names a parent which is not there.
  bool orphan = false;
};

struct FoldState {
  Ordinal base = 0;   // inherited nodes
  Ordinal count = 0;  // own entries
  Ordinal head = kNone;
  std::uint32_t head_depth = 0;
  std::array<Ordinal, kFactTypeMax + 1> last_fact = filled();

  /// The next entry's ordinal.
  Ordinal next() const { return base + count; }

 private:
  static constexpr std::array<Ordinal, kFactTypeMax + 1> filled() {
    std::array<Ordinal, kFactTypeMax + 1> none{};
    none.fill(kNone);
    return none;
  }
};

/// A session before its first own line: `base` nodes inherited, the last of
/// them being the head.
FoldState fold_start(Ordinal base);

/// What folding needs to know of an entry.
struct FoldInput {
  EntryType type = EntryType::kOther;
  ParentLink parent_link = ParentLink::kAbsent;
  std::string_view parent;  // kEntry only
  std::string_view target;  // facts that point at an entry; empty: none
};

struct FoundEntry {
  Ordinal ordinal = kNone;
  bool is_node = false;
  std::uint32_t depth = 0;  // nodes only
};
/// The path that a fork sees of other logs: ordinals 0 … count()-1, by depth.
class Inherited {
 public:
  virtual ~Inherited() = default;
  virtual Ordinal count() const = 0;
  /// A node of that path by its id.
  virtual Result<std::optional<FoundEntry>> find(std::string_view id) const = 0;
};

using FindEntry = std::function<std::optional<FoundEntry>(std::string_view id)>;

/// Places the next entry and moves the state past it. `find` answers for ids
/// stored before this line. `after_gap`: damaged lines precede this one, so a
/// parent that is missing was probably among them and the node goes on from the
/// head instead of starting a new root; otherwise one bad line would cut off
/// everything after it.
Placement fold(FoldState& state, const FoldInput& input, const FindEntry& find, bool after_gap);

}  // namespace quipu
