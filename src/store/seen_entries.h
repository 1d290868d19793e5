// SeenEntries: which entries a search may show, by sessions and branches.
//
// A session sees its own log and the path that it inherits, whose entries lie in other logs. So
// what is seen is said log by log: all of it, or some of its entries.
//
// Thread-safety: one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace quipu {

class SeenEntries {
 public:
  explicit SeenEntries(Backend& backend) : backend_(backend) {}

  /// Everything that the session sees; with `branch` (an entry's id, or "head") only nodes on the
  /// path to it. False when it has no such node.
  Result<bool> add_session(const std::string& session_id, const std::optional<std::string>& branch);
  /// Whatever else is asked for: nodes on the path to the head of their own session.
  void only_heads() { only_heads_ = true; }

  /// The logs that something was added of.
  std::set<std::string> logs() const;
  bool contains(const std::string& session_id, Ordinal own);

  /// Sessions are looked at again and again: each is opened once.
  Result<std::shared_ptr<const Lineage>> lineage(const std::string& session_id);

 private:
  struct Part {
    bool is_whole = false;
    std::set<Ordinal> own{};
  };

  void add_inherited(const Lineage& lineage, Ordinal count);
  Result<void> add_path(const std::string& session_id, const Lineage& lineage, Ordinal node);
  bool is_on_head_path(const std::string& session_id, Ordinal own);

  Backend& backend_;
  std::map<std::string, std::shared_ptr<const Lineage>> lineages_;
  std::map<std::string, Part> parts_;
  bool only_heads_ = false;
  std::map<std::string, std::set<Ordinal>> head_paths_;
};

/// Visible ordinals from the root to the node.
Result<std::vector<Ordinal>> path_to(const Lineage& lineage, Ordinal node);

}  // namespace quipu
