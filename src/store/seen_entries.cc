#include "store/seen_entries.h"

#include <algorithm>

#include "base/try.h"

namespace quipu {

Result<std::vector<Ordinal>> path_to(const Lineage& lineage, Ordinal node) {
  std::vector<Ordinal> path;
  while (node != kNone) {
    path.push_back(node);
    TRY_ASSIGN(const StoredEntry stored, lineage.entry(node));
    node = stored.place.parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Result<std::shared_ptr<const Lineage>> SeenEntries::lineage(const std::string& session_id) {
  auto& known = lineages_[session_id];
  if (!known) {
    TRY_ASSIGN(known, backend_.lineage(session_id));
  }
  return known;
}

void SeenEntries::add_inherited(const Lineage& lineage, Ordinal count) {
  for (Ordinal depth = 0; depth < count; ++depth) {
    const auto [holder, visible] = lineage.ancestry()->holder(depth);
    parts_[lineage.ancestry()->session(depth)].own.insert(visible - holder->base());
  }
}

Result<void> SeenEntries::add_path(const std::string& session_id, const Lineage& lineage,
                                   Ordinal node) {
  TRY_ASSIGN(const std::vector<Ordinal> path, path_to(lineage, node));
  Ordinal inherited = 0;
  for (const Ordinal visible : path) {
    if (visible < lineage.base()) {
      inherited = visible + 1;  // a node's ordinal there is its depth
    } else {
      parts_[session_id].own.insert(visible - lineage.base());
    }
  }
  add_inherited(lineage, inherited);
  return {};
}

Result<bool> SeenEntries::add_session(const std::string& session_id,
                                      const std::optional<std::string>& branch) {
  TRY_ASSIGN(const auto session, lineage(session_id));
  if (!branch) {
    parts_[session_id].is_whole = true;
    add_inherited(*session, session->base());
    return true;
  }
  Ordinal node = session->head();
  if (*branch != "head") {
    TRY_ASSIGN(const auto found, session->find(*branch));
    node = found && found->is_node ? found->ordinal : kNone;
  }
  if (node == kNone) return false;
  TRY(add_path(session_id, *session, node));
  return true;
}

std::set<std::string> SeenEntries::logs() const {
  std::set<std::string> logs;
  for (const auto& [session, part] : parts_) logs.insert(session);
  return logs;
}

// What cannot be read is on no path.
bool SeenEntries::is_on_head_path(const std::string& session_id, Ordinal own) {
  const auto [path, is_new] = head_paths_.try_emplace(session_id);
  if (is_new) {
    const auto session = lineage(session_id);
    if (!session.ok() || (*session)->head() == kNone) return false;
    const auto nodes = path_to(**session, (*session)->head());
    if (!nodes.ok()) return false;
    for (const Ordinal visible : *nodes) {
      if (visible >= (*session)->base()) path->second.insert(visible - (*session)->base());
    }
  }
  return path->second.contains(own);
}

bool SeenEntries::contains(const std::string& session_id, Ordinal own) {
  if (!parts_.empty()) {
    const auto part = parts_.find(session_id);
    if (part == parts_.end()) return false;
    if (!part->second.is_whole && !part->second.own.contains(own)) return false;
  }
  return !only_heads_ || is_on_head_path(session_id, own);
}

}  // namespace quipu
