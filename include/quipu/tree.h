// SessionTree: the shape of a session at one moment, without its payloads.
//
// Made from the offset index; asking it costs array walks. Nodes are numbered
// in log order ("ordinals"): a parent always has a smaller ordinal than its
// children. In a fork the inherited path comes first. Facts have ordinals too
// (they are entries of the log) but are no nodes: no parent, no children, no
// leaf. Ordinals keep their meaning for the life of the session.
//
// Thread-safety: immutable; share it freely. It holds the log open and does
// not see later appends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

class Lineage;

class SessionTree {
 public:
  using Ordinal = std::uint32_t;

  /// Entries, facts included.
  Ordinal size() const;
  bool is_node(Ordinal entry) const;
  /// Nothing for roots and facts.
  std::optional<Ordinal> parent(Ordinal entry) const;
  /// The entry's id, read from the log. `corrupt` when the log does not hold it.
  Result<std::string> id(Ordinal entry) const;
  /// Such as "message".
  Result<std::string> type(Ordinal entry) const;
  /// `not_found` when no entry that the session can see has this id.
  Result<Ordinal> find(std::string_view id) const;

  /// The node that the session goes on from; nothing in a session without nodes.
  std::optional<Ordinal> head() const;
  /// Root first, `entry` last. Empty for a fact.
  std::vector<Ordinal> path(Ordinal entry) const;
  /// Steps from the root: 0 for a root.
  std::uint32_t depth(Ordinal entry) const;
  std::vector<Ordinal> children(Ordinal entry) const;
  std::vector<Ordinal> roots() const;
  /// Nodes without children, in log order.
  std::vector<Ordinal> leaves() const;
  /// Nodes with more than one child, in log order.
  std::vector<Ordinal> branch_points() const;
  /// The deepest node on both paths; nothing when they have different roots.
  std::optional<Ordinal> common_ancestor(Ordinal a, Ordinal b) const;

  /// For the library: see SessionStore::session_tree.
  static Result<SessionTree> of(std::shared_ptr<const Lineage> lineage);

 private:
  explicit SessionTree(std::shared_ptr<const Lineage> lineage);

  std::shared_ptr<const Lineage> lineage_;
  std::vector<std::uint32_t> parents_;  // kNone for roots and facts
  std::vector<std::uint8_t> nodes_;     // 0 for facts
};

}  // namespace quipu
