// Ids as people type and read them: any unique prefix.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/branch.h"
#include "quipu/result.h"
#include "quipu/store.h"
#include "quipu/tree.h"

namespace quipu::cli {

/// What a message calls the thing looked for, and its hint when there is none.
struct Noun {
  std::string_view name;
  std::string_view where_to_look;
};

/// The one id that begins with `prefix`; an id that equals it wins. `not_found`
/// otherwise, with the candidates as hint when there are several.
Result<std::string> match_prefix(const Noun& noun, std::string_view prefix,
                                 const std::vector<std::string>& ids);

/// The session that `name` stands for. `invalid_argument` for what could not
/// even begin a session id.
Result<std::string> resolve_session(SessionStore& sessions, std::string_view name);

/// The entry that `name` stands for.
Result<SessionTree::Ordinal> resolve_entry(const SessionTree& tree, std::string_view name);

/// The same, and it is a node.
Result<SessionTree::Ordinal> resolve_node(const SessionTree& tree, std::string_view name);

/// The id of the node that `name` stands for: an id, a label, or any unique prefix
/// of an id, in this order.
Result<std::string> resolve_place(const SessionBranch& branch, std::string_view name);

/// Ids of all entries of a tree, by ordinal.
Result<std::vector<std::string>> entry_ids(const SessionTree& tree);

/// Each id cut to the shortest prefix (eight bytes or more) that no other has: give it all
/// among which the prefix is to be looked for, not only those that are shown.
class ShortIds {
 public:
  explicit ShortIds(std::vector<std::string> ids);
  /// Of the sessions of a store; if they cannot be had, nothing is cut.
  static ShortIds of_sessions(SessionStore& sessions);
  std::string of(const std::string& id) const;

 private:
  std::vector<std::string> ids_;  // sorted; none: nothing is known of others
};

}  // namespace quipu::cli
