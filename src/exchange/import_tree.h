// ImportTree: the tree of a session as an import sees it grow: the ids that were
// met, which of them are nodes, where the session's head will be, and where its agent
// would go on.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dialect/dialect.h"
#include "exchange/stored_session.h"

namespace quipu::exchange {

class ImportTree {
 public:
  struct Met {
    /// The nearest node at or above it whose kind leads: a key of the map. Empty: none
    /// that was met.
    std::string_view leader{};
    std::uint32_t versions = 0;  // used of this id in this pass
    bool is_node = false;
    bool is_there = false;  // a record of the source; else one of this id that it no longer has
  };
  /// An id that was met in this pass. Stays where it is.
  using Node = std::pair<const std::string_view, Met>;

  explicit ImportTree(const dialect::Dialect& dialect) : dialect_(dialect) {}

  /// Before anything is met: the session is stored. `stored` outlives this.
  void begin_after(const StoredSession& stored);
  /// The same: it is a new fork that goes on from `entry`.
  void begin_at(const std::string& entry);

  Node& meet(std::string_view id);
  bool is_met(std::string_view id) const { return met_.contains(id); }
  bool is_there(std::string_view id) const {
    const auto met = met_.find(id);
    return met != met_.end() && met->second.is_there;
  }
  /// Whether a node of this id was met or is stored.
  Result<bool> is_node(std::string_view id) const;

  /// The entry that a record hangs on; empty: it is a root, or a fact. Its parent may
  /// be one that is not in the session (`is_missing`): then it is a root as well. The
  /// view is valid until the next `add`.
  struct Parent {
    std::string_view id;
    bool is_missing = false;
  };
  Result<Parent> parent_of(const dialect::Record& record) const;

  /// `node` is the record's, under `parent`. `is_stored`: it was there before.
  Result<void> add(const dialect::Record& record, Node& node, std::string_view parent,
                   bool is_stored);

  /// Where the head must be set to be where the agent goes on; empty: it is there, or
  /// somebody else moved it. From then on it is there.
  Result<std::string> move_head();

 private:
  static constexpr std::size_t kMemoryBytes = std::size_t{8} << 10;

  Result<void> follow(const dialect::Record& record, std::string_view id, std::string_view parent);

  const dialect::Dialect& dialect_;
  const StoredSession* stored_ = nullptr;  // null: the session is new
  // Every record is met: what is kept of it is taken from one piece of memory and never
  // given back one by one.
  std::pmr::monotonic_buffer_resource memory_{kMemoryBytes};
  std::pmr::unordered_map<std::string_view, Met> met_{&memory_};
  const Node* last_met_ = nullptr;  // the node that was added last
  std::string last_node_;
  std::string head_;  // as the session will have it
  bool has_root_ = false;
  bool follows_ = true;  // the head is the agent's, not moved by anybody else
  std::string leaf_;     // where the agent goes on; empty: no news
};

}  // namespace quipu::exchange
