#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "backend/lineage.h"
#include "base/json_write.h"
#include "base/try.h"
#include "quipu/branch.h"
#include "store/derived_id.h"
#include "store/fact_walk.h"
#include "store/guarded.h"

namespace quipu {
namespace {

using Node = SessionTree::Ordinal;

constexpr std::size_t kLabelBytesMax = 128;

struct OwnedLabel {
  Ordinal entry = kNone;
  std::string name;
  std::string timestamp;
};

// In the order they were said: a name that is given anew is taken from its owner
// for good, also when the new owner loses it later.
Result<std::vector<OwnedLabel>> read_labels(const Lineage& lineage) {
  std::vector<OwnedLabel> said;
  FactWalk walk(lineage, EntryType::kLabel);
  for (;;) {
    TRY_ASSIGN(const auto fact, walk.next());
    if (!fact) break;
    if (fact->target == kNone) continue;
    said.push_back({.entry = fact->target,
                    .name = text_member(fact->payload, "label"),
                    .timestamp = std::string(fact->timestamp)});
  }
  std::map<Ordinal, OwnedLabel> by_entry;
  std::unordered_map<std::string, Ordinal> owner;
  for (auto label = said.rbegin(); label != said.rend(); ++label) {
    if (const auto old = by_entry.find(label->entry); old != by_entry.end()) {
      owner.erase(old->second.name);
      by_entry.erase(old);
    }
    if (label->name.empty()) continue;
    if (const auto taken = owner.find(label->name); taken != owner.end()) {
      by_entry.erase(taken->second);
    }
    owner[label->name] = label->entry;
    by_entry[label->entry] = std::move(*label);
  }
  std::vector<OwnedLabel> labels;
  for (auto& [entry, label] : by_entry) labels.push_back(std::move(label));
  return labels;
}

Result<void> check_label(std::string_view name) {
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  // Quoting replaces what is no UTF-8.
  const bool is_utf8 = json::decode_string(json::quoted(name)) == name;
  if (!name.empty() && name.size() <= kLabelBytesMax && !has_control && is_utf8) return {};
  return Error(Code::kInvalidArgument, "not a label")
      .with_hint("1 to 128 bytes of text without control characters");
}

// `first`: the id of the entry that follows it in a branch, if its caller chose one. A
// batch that is repeated after a lost answer must be the same batch.
NewEntry head_fact(std::string_view entry_id, std::string_view first = {}) {
  NewEntry fact;
  fact.type = "head";
  if (!first.empty()) fact.id = derived_id(first, ".head");
  fact.payload = "{\"entryId\":" + json::quoted(entry_id) + "}";
  return fact;
}

AppendOptions append_options(const std::optional<std::string>& fence,
                             const std::optional<std::string>& expected_head) {
  AppendOptions options;
  options.fence = fence;
  options.expected_head = expected_head;
  return options;
}

Error nothing_to_branch_with() {
  return Error(Code::kInvalidArgument, "a branch needs a first entry")
      .with_hint("switch_to moves the head without one");
}

// The answer speaks of the caller's entries; the head fact is ours.
AppendResult without_head_fact(AppendResult stored) {
  stored.entry_ids.erase(stored.entry_ids.begin());
  if (stored.appended_count > 0) --stored.appended_count;
  if (stored.already_present > 0) --stored.already_present;
  return stored;
}

}  // namespace

SessionBranch::SessionBranch(SessionStore& sessions, std::string session_id,
                             std::shared_ptr<const Lineage> lineage, SessionTree tree)
    : sessions_(&sessions),
      session_id_(std::move(session_id)),
      lineage_(std::move(lineage)),
      tree_(std::move(tree)) {}

Result<SessionBranch> SessionBranch::open(Store& store, std::string_view session_id) {
  return guarded([&]() -> Result<SessionBranch> {
    TRY_ASSIGN(auto lineage, store.sessions().lineage(session_id));
    TRY_ASSIGN(SessionTree tree, SessionTree::of(lineage));
    return SessionBranch(store.sessions(), std::string(session_id), std::move(lineage),
                         std::move(tree));
  });
}

Result<void> SessionBranch::refresh() {
  return guarded([&]() -> Result<void> {
    TRY_ASSIGN(auto lineage, sessions_->lineage(session_id_));
    TRY_ASSIGN(tree_, SessionTree::of(lineage));
    lineage_ = std::move(lineage);
    return {};
  });
}

void SessionBranch::look_again() {
  ignore(refresh(), "what was stored is stored, and an error would say that it is not");
}

Result<Node> SessionBranch::node_at(std::string_view place) const {
  TRY_ASSIGN(const auto found, lineage_->find(place));
  if (found && found->is_node) return found->ordinal;
  if (found) {
    return Error(Code::kInvalidArgument, std::string(place) + " is a fact, not a node of the tree");
  }
  TRY_ASSIGN(const auto labels, read_labels(*lineage_));
  for (const OwnedLabel& label : labels) {
    if (label.name == place && tree_.is_node(label.entry)) return label.entry;
  }
  return Error(Code::kNotFound,
               "no entry or label of session " + session_id_ + " is called " + std::string(place));
}

Result<std::string> SessionBranch::resolve(std::string_view place) const {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(const Node node, node_at(place));
    return tree_.id(node);
  });
}

Result<std::vector<std::string>> SessionBranch::ids_of(const std::vector<Node>& nodes) const {
  return guarded([&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> ids;
    ids.reserve(nodes.size());
    for (const Node node : nodes) {
      TRY_ASSIGN(std::string id, tree_.id(node));
      ids.push_back(std::move(id));
    }
    return ids;
  });
}

Result<std::vector<std::string>> SessionBranch::get_children(std::string_view place) const {
  TRY_ASSIGN(const Node node, node_at(place));
  return ids_of(tree_.children(node));
}

Result<std::vector<std::string>> SessionBranch::get_path(std::string_view place) const {
  TRY_ASSIGN(const Node node, node_at(place));
  return ids_of(tree_.path(node));
}

Result<std::vector<std::string>> SessionBranch::get_branch_points() const {
  return ids_of(tree_.branch_points());
}

Result<std::vector<std::string>> SessionBranch::get_leaves() const {
  return ids_of(tree_.leaves());
}

Result<std::string> SessionBranch::head() const { return head_of(*lineage_); }

Result<BranchDiff> SessionBranch::diff(std::string_view a, std::string_view b) const {
  return guarded([&]() -> Result<BranchDiff> {
    TRY_ASSIGN(const Node left, node_at(a));
    TRY_ASSIGN(const Node right, node_at(b));
    const std::vector<Node> path_a = tree_.path(left);
    const std::vector<Node> path_b = tree_.path(right);
    const auto [end_a, end_b] =
        std::mismatch(path_a.begin(), path_a.end(), path_b.begin(), path_b.end());
    BranchDiff diff;
    if (end_a != path_a.begin()) {
      TRY_ASSIGN(diff.common_ancestor, tree_.id(*(end_a - 1)));
    }
    TRY_ASSIGN(diff.only_a, ids_of({end_a, path_a.end()}));
    TRY_ASSIGN(diff.only_b, ids_of({end_b, path_b.end()}));
    return diff;
  });
}

Result<AppendResult> SessionBranch::create_branch(std::string_view from,
                                                  std::span<const NewEntry> entries,
                                                  const BranchOptions& options) {
  return guarded([&]() -> Result<AppendResult> {
    if (entries.empty()) return nothing_to_branch_with();
    TRY_ASSIGN(const std::string entry_id, resolve(from));
    std::vector<NewEntry> batch{head_fact(entry_id, entries.front().id)};
    batch.insert(batch.end(), entries.begin(), entries.end());
    TRY_ASSIGN(AppendResult stored,
               sessions_->append_session_entries(
                   session_id_, batch, append_options(options.fence, options.expected_head)));
    look_again();
    return without_head_fact(std::move(stored));
  });
}

Result<AppendResult> SessionBranch::create_branch(std::string_view from,
                                                  std::span<const std::string_view> lines,
                                                  const BranchOptions& options) {
  return guarded([&]() -> Result<AppendResult> {
    if (lines.empty()) return nothing_to_branch_with();
    TRY_ASSIGN(const std::string entry_id, resolve(from));
    const std::string_view first = lines.front();
    const NewEntry moved =
        head_fact(entry_id, json::validate(first).ok() ? text_member(first, "id") : "");
    std::string fact = "{";
    if (!moved.id.empty()) fact += "\"id\":" + json::quoted(moved.id) + ",";
    fact += R"("type":"head","payload":)" + moved.payload + "}";
    std::vector<std::string_view> batch{fact};
    batch.insert(batch.end(), lines.begin(), lines.end());
    TRY_ASSIGN(AppendResult stored,
               sessions_->append_session_lines(
                   session_id_, batch, append_options(options.fence, options.expected_head)));
    look_again();
    return without_head_fact(std::move(stored));
  });
}

Result<std::string> SessionBranch::switch_to(std::string_view to, const SwitchOptions& options) {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(const std::string entry_id, resolve(to));
    TRY_ASSIGN(const std::string left, head());
    std::vector<NewEntry> batch{head_fact(entry_id)};
    if (!options.summary.empty()) {
      NewEntry summary;
      summary.type = "branch_summary";
      summary.parent = Parent::of(entry_id);
      summary.payload.clear();
      json::Writer out(summary.payload);
      out.begin_object()
          .member("summary", options.summary)
          .member("sourceSessionId", session_id_)
          .member("sourceEntryId", left)
          .end_object();
      batch.push_back(std::move(summary));
    }
    TRY_ASSIGN(const AppendResult stored,
               sessions_->append_session_entries(
                   session_id_, batch, append_options(options.fence, options.expected_head)));
    look_again();
    return batch.size() > 1 ? stored.last_appended_entry_id : entry_id;
  });
}

Result<void> SessionBranch::append_label(const std::string& entry_id, std::string_view name) {
  NewEntry fact;
  fact.type = "label";
  fact.payload.clear();
  json::Writer out(fact.payload);
  out.begin_object().member("targetEntryId", entry_id).member("label", name).end_object();
  TRY(sessions_->append_session_entries(session_id_, std::array{fact}));
  look_again();
  return {};
}

Result<void> SessionBranch::set_label(std::string_view place, std::string_view name) {
  return guarded([&]() -> Result<void> {
    TRY(check_label(name));
    TRY_ASSIGN(const std::string entry_id, resolve(place));
    TRY_ASSIGN(const auto taken, lineage_->find(name));
    if (taken) {
      return Error(Code::kInvalidArgument, std::string(name) + " is the id of an entry")
          .with_hint("an id always means its entry; choose another name");
    }
    return append_label(entry_id, name);
  });
}

Result<void> SessionBranch::remove_label(std::string_view name) {
  return guarded([&]() -> Result<void> {
    TRY(refresh());  // the name may have another owner by now
    TRY_ASSIGN(const auto labels, read_labels(*lineage_));
    const auto found = std::find_if(labels.begin(), labels.end(),
                                    [&](const OwnedLabel& label) { return label.name == name; });
    if (found == labels.end()) {
      return Error(Code::kNotFound, "no entry has the label " + std::string(name))
          .with_hint("`quipu label SESSION --list` shows them.");
    }
    TRY_ASSIGN(const std::string entry_id, tree_.id(found->entry));
    return append_label(entry_id, "");
  });
}

Result<std::vector<Label>> SessionBranch::labels() const {
  return guarded([&]() -> Result<std::vector<Label>> {
    TRY_ASSIGN(const auto owned, read_labels(*lineage_));
    std::vector<Label> labels;
    for (const OwnedLabel& label : owned) {
      TRY_ASSIGN(std::string entry_id, tree_.id(label.entry));
      labels.push_back(
          {.name = label.name, .entry_id = std::move(entry_id), .timestamp = label.timestamp});
    }
    return labels;
  });
}

Result<std::vector<HeadMove>> SessionBranch::heads_history() const {
  return guarded([&]() -> Result<std::vector<HeadMove>> {
    std::vector<HeadMove> moves;
    FactWalk walk(*lineage_, EntryType::kHead);
    for (;;) {
      TRY_ASSIGN(const auto fact, walk.next());
      if (!fact) break;
      moves.push_back({.fact_id = std::string(fact->id),
                       .entry_id = text_member(fact->payload, "entryId"),
                       .timestamp = std::string(fact->timestamp),
                       .run_id = std::string(fact->run_id)});
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
  });
}

Result<std::string> SessionBranch::head_as_of(std::string_view entry_id) const {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(const Node last, tree_.find(entry_id));
    // The inherited path ends in what was the head of the fork at first.
    const Ordinal base = lineage_->base();
    if (last < base) return tree_.id(base - 1);
    TRY_ASSIGN(const std::vector<Placement> places, lineage_->own().places());
    Ordinal head = base == 0 ? kNone : base - 1;
    for (Ordinal entry = base; entry <= last; ++entry) {
      const Placement& place = places[entry - base];
      if (!is_fact(place.type)) {
        if (place.parent == head) head = entry;
      } else if (place.type == EntryType::kHead && place.parent != kNone &&
                 tree_.is_node(place.parent)) {
        head = place.parent;
      }
    }
    if (head == kNone) return std::string();
    return tree_.id(head);
  });
}

}  // namespace quipu
