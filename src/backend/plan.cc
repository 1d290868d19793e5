#include "backend/plan.h"

#include <vector>

#include "base/json_scan.h"
#include "base/try.h"

namespace quipu {
namespace {

// Which drafts are stored already. `id_conflict` when one differs from what is
// stored under its id.
Result<std::vector<bool>> find_stored(AppendTarget& target, const Batch& batch) {
  std::vector<bool> stored(batch.drafts.size(), false);
  for (std::size_t i = 0; i < batch.drafts.size(); ++i) {
    const Draft& draft = batch.drafts[i];
    if (!draft.id_given) continue;  // just made up: nobody has it
    TRY_ASSIGN(const auto found, target.find(draft.id.view()));
    if (!found) continue;
    TRY_ASSIGN(const std::string_view text, target.text(found->ordinal));
    if (!same_as_stored(draft, text)) {
      return Error(Code::kIdConflict,
                   "entry " + std::string(draft.id.view()) + " is stored with other content");
    }
    stored[i] = true;
  }
  return stored;
}

Result<void> check_tail(AppendTarget& target, const AppendOptions& options) {
  if (!options.expected_tail) return {};
  const FoldState& fold = target.fold();
  std::string tail;
  if (fold.count > 0) {
    TRY_ASSIGN(const std::string_view last, target.id(fold.next() - 1));
    tail = last;
  }
  if (tail == *options.expected_tail) return {};
  return Error(Code::kTailMoved,
               "the session ends with " + tail + ", not with " + *options.expected_tail)
      .with_actual(std::move(tail));
}

Result<void> check_head(AppendTarget& target, const AppendOptions& options) {
  if (!options.expected_head) return {};
  const FoldState& fold = target.fold();
  std::string head;
  if (fold.head != kNone) {
    TRY_ASSIGN(const std::string_view id, target.id(fold.head));
    head = id;
  }
  if (head == *options.expected_head) return {};
  return Error(Code::kHeadMoved,
               "the session's head is " + head + ", not " + *options.expected_head)
      .with_actual(std::move(head));
}

Result<void> check_fence(AppendTarget& target, const AppendOptions& options) {
  if (!options.fence) return {};
  const Ordinal newest = target.fold().last_fact[static_cast<std::size_t>(EntryType::kRunStart)];
  std::string run;
  if (newest != kNone) {
    TRY_ASSIGN(const std::string_view id, target.id(newest));
    run = id;
  }
  if (run == *options.fence) return {};
  return Error(Code::kFenced, "the session is held by " + (run.empty() ? "no run" : "run " + run) +
                                  ", not by " + *options.fence)
      .with_actual(std::move(run));
}

Error unknown(const Draft& draft, std::string_view role, std::string_view id,
              std::string_view why) {
  std::string message = "entry ";
  for (const std::string_view part : {draft.id.view(), std::string_view(": its "), role,
                                      std::string_view(" "), id, std::string_view(" is "), why}) {
    message += part;
  }
  return {Code::kUnknownParent, std::move(message)};
}

// Everything that entries point at must be there: stored, or earlier in the
// batch.
class References {
 public:
  References(AppendTarget& target, const Batch& batch) : target_(target), batch_(batch) {}

  /// Those of the draft at this place of the batch.
  Result<void> check(std::size_t place) {
    place_ = place;
    return check_pointers(batch_.drafts[place]);
  }

 private:
  Result<void> check_pointers(const Draft& draft) {
    if (draft.parent_link == ParentLink::kEntry) {
      TRY(require_node(draft, "parent", draft.parent.view()));
    }
    const std::string_view target = draft.target.view();
    if (draft.type == EntryType::kHead) TRY(require_node(draft, "head", target));
    if (draft.type == EntryType::kRedaction) {
      TRY_ASSIGN(const auto is_node, look_up(target));
      if (!is_node) return unknown(draft, "target", target, "not in the session");
    }
    return {};
  }

  Result<void> require_node(const Draft& draft, std::string_view role, std::string_view id) {
    TRY_ASSIGN(const auto is_node, look_up(id));
    if (!is_node) return unknown(draft, role, id, "not in the session");
    if (!*is_node) return unknown(draft, role, id, "a fact, not a node of the tree");
    return {};
  }

  Result<std::optional<bool>> look_up(std::string_view id) {
    if (const auto place = batch_.places.find(id); place && *place < place_) {
      return std::optional(batch_.drafts[*place].is_node());
    }
    TRY_ASSIGN(const auto found, target_.find(id));
    return found ? std::optional(found->is_node) : std::nullopt;
  }

  AppendTarget& target_;
  const Batch& batch_;
  std::size_t place_ = 0;
};

// The member that a draft without one gets: the head as it is at this line.
Result<void> write_parent(AppendTarget& target, const Draft& draft, std::string& member) {
  member.clear();
  if (!draft.is_node() || draft.parent_link != ParentLink::kAbsent) return {};
  member += "\"parentId\":";
  if (target.fold().head == kNone) {
    member += "null";
  } else {
    TRY_ASSIGN(const std::string_view head, target.id(target.fold().head));
    json::append_quoted(member, head);
  }
  member += ',';
  return {};
}

}  // namespace

Error damaged_repeat(const std::string& session_id) {
  return {Code::kCorrupt, "an entry with an id of the batch is damaged in session " + session_id};
}

Result<Planned> plan_append(AppendTarget& target, const Batch& batch,
                            const AppendOptions& options) {
  TRY_ASSIGN(const std::vector<bool> stored, find_stored(target, batch));
  Planned planned;
  for (const bool is_stored : stored) ++(is_stored ? planned.already_present : planned.appended);
  if (planned.appended == 0) return planned;
  if (planned.already_present > 0 && options.mode != AppendMode::kMerge) {
    return Error(Code::kPartialOverlap, std::to_string(planned.already_present) + " of " +
                                            std::to_string(batch.drafts.size()) +
                                            " entries are stored already");
  }
  TRY(check_tail(target, options));
  TRY(check_head(target, options));
  TRY(check_fence(target, options));
  References references(target, batch);
  for (std::size_t i = 0; i < batch.drafts.size(); ++i) {
    if (!stored[i]) TRY(references.check(i));
  }
  std::string parent;
  for (std::size_t i = 0; i < batch.drafts.size(); ++i) {
    if (stored[i]) continue;
    const Draft& draft = batch.drafts[i];
    TRY(write_parent(target, draft, parent));
    target.stage(draft, parent,
                 {.type = draft.type,
                  .parent_link = draft.parent_link,
                  .parent = draft.parent.view(),
                  .target = draft.target.view()});
  }
  return planned;
}

}  // namespace quipu
