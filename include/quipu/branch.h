// SessionBranch: the branches of one session, by entry ids and labels.
//
// Where an entry is expected, its id or a label's name will do; an id wins over
// a label. Reading answers for one moment: that of `open`, of the last `refresh`, or of
// the last change made through this object (as far as it could be read after that;
// `refresh` says).
//
// Moving the head is an entry (`head`), naming a place is an entry (`label`):
// nothing becomes unreachable, and the log knows which head was active when.
//
// Thread-safety: one thread at a time. The store must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"
#include "quipu/result.h"
#include "quipu/store.h"
#include "quipu/tree.h"

namespace quipu {

/// A name for a place. Of the labels of one entry the last one holds; a name
/// belongs to the entry that got it last.
struct Label {
  std::string name;
  std::string entry_id;
  std::string timestamp;
};

/// What two paths have in common and what not. Ids, root first.
struct BranchDiff {
  /// The last entry on both; empty when they have different roots.
  std::string common_ancestor;
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
};

/// A `head` fact: from then on the session went on from this entry.
struct HeadMove {
  std::string fact_id;
  std::string entry_id;
  std::string timestamp;
  std::string run_id;  // empty: of no run
};

struct BranchOptions {
  /// See AppendOptions::fence.
  std::optional<std::string> fence{};
  /// Fails with `head_moved` unless this is the head.
  std::optional<std::string> expected_head{};
};

struct SwitchOptions {
  std::optional<std::string> fence{};
  std::optional<std::string> expected_head{};
  /// What is to be known of the branch that is left: a `branch_summary` after the
  /// entry that is switched to, in the same batch. Empty: none.
  std::string summary{};
};

class SessionBranch {
 public:
  static Result<SessionBranch> open(Store& store, std::string_view session_id);

  /// Looks at the session anew.
  Result<void> refresh();

  /// The id that a place stands for. `not_found` when it is neither an id nor a
  /// label, `invalid_argument` when it is a fact.
  Result<std::string> resolve(std::string_view place) const;

  Result<std::vector<std::string>> get_children(std::string_view place) const;
  /// Root first, the entry last: what a context as of that entry is made of.
  Result<std::vector<std::string>> get_path(std::string_view place) const;
  /// Nodes with more than one child, in log order.
  Result<std::vector<std::string>> get_branch_points() const;
  /// Nodes without children, in log order.
  Result<std::vector<std::string>> get_leaves() const;
  /// Empty in a session without nodes.
  Result<std::string> head() const;
  const SessionTree& tree() const { return tree_; }

  Result<BranchDiff> diff(std::string_view a, std::string_view b) const;

  /// Goes on from `from` with these entries: the `head` fact and the entries
  /// are one batch, so that a crash leaves both or neither. Entries without a
  /// parent of their own chain. Durable on return; errors as those of an append.
  /// Repeating it is safe when the first entry has an id: the fact's is made from it.
  /// `invalid_argument` without entries: see `switch_to`.
  Result<AppendResult> create_branch(std::string_view from, std::span<const NewEntry> entries,
                                     const BranchOptions& options = {});
  /// The same for entries that are JSON objects already.
  Result<AppendResult> create_branch(std::string_view from, std::span<const std::string_view> lines,
                                     const BranchOptions& options = {});

  /// Makes `to` the head (or a summary that hangs on it). Durable on return; the new
  /// head's id is the answer.
  Result<std::string> switch_to(std::string_view to, const SwitchOptions& options = {});

  /// `invalid_argument` for a name that is empty, over 128 bytes, not
  /// UTF-8, with control characters, or an entry's id.
  Result<void> set_label(std::string_view place, std::string_view name);
  /// `not_found` when nothing has that name.
  Result<void> remove_label(std::string_view name);
  /// In log order of the entries they name.
  Result<std::vector<Label>> labels() const;

  /// All moves of the head that were said, oldest first. Between two of them the
  /// head went with the entries that were appended to it: see `head_as_of`.
  Result<std::vector<HeadMove>> heads_history() const;
  /// The head as it was when this entry (a fact, say) had just been stored; empty when there
  /// was none.
  Result<std::string> head_as_of(std::string_view entry_id) const;

 private:
  SessionBranch(SessionStore& sessions, std::string session_id,
                std::shared_ptr<const Lineage> lineage, SessionTree tree);
  Result<SessionTree::Ordinal> node_at(std::string_view place) const;
  Result<std::vector<std::string>> ids_of(const std::vector<SessionTree::Ordinal>& nodes) const;
  void look_again();
  Result<void> append_label(const std::string& entry_id, std::string_view name);

  SessionStore* sessions_;
  std::string session_id_;
  std::shared_ptr<const Lineage> lineage_;
  SessionTree tree_;
};

}  // namespace quipu
