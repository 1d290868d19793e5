#include "model/fold.h"

namespace quipu {
namespace {

Placement place_fact(FoldState& state, const FoldInput& input, const FindEntry& find) {
  Placement placed;
  placed.type = input.type;
  auto& last = state.last_fact[static_cast<std::size_t>(input.type)];
  placed.depth = last;
  last = state.next();
  if (!input.target.empty()) {
    const auto found = find(input.target);
    if (found) placed.parent = found->ordinal;
    if (input.type == EntryType::kHead && found && found->is_node) {
      state.head = found->ordinal;
      state.head_depth = found->depth;
    }
  }
  return placed;
}

Placement place_node(FoldState& state, const FoldInput& input, const FindEntry& find,
                     bool after_gap) {
  Placement placed;
  placed.type = input.type;
  bool on_head = input.parent_link == ParentLink::kAbsent;
  if (input.parent_link == ParentLink::kEntry) {
    const auto found = find(input.parent);
    if (found && found->is_node) {
      placed.parent = found->ordinal;
      placed.depth = found->depth + 1;
    } else {
      placed.orphan = !found;
      // A fact stands beside the tree: naming it means "here", at the head.
      on_head = found || after_gap;
    }
  }
  if (on_head && state.head != kNone) {
    placed.parent = state.head;
    placed.depth = state.head_depth + 1;
  }
  if (placed.parent == state.head) {  // kNone: the first root
    state.head = state.next();
    state.head_depth = placed.depth;
  }
  return placed;
}

}  // namespace

FoldState fold_start(Ordinal base) {
  FoldState state;
  state.base = base;
  if (base > 0) {
    state.head = base - 1;
    state.head_depth = base - 1;
  }
  return state;
}

Placement fold(FoldState& state, const FoldInput& input, const FindEntry& find, bool after_gap) {
  const Placement placed = is_fact(input.type) ? place_fact(state, input, find)
                                               : place_node(state, input, find, after_gap);
  ++state.count;
  return placed;
}

}  // namespace quipu
