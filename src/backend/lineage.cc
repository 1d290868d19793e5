#include "backend/lineage.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/try.h"

namespace quipu {
namespace {

constexpr std::string_view kRedactedPayload = "{\"redacted\":true}";

}  // namespace

Result<std::shared_ptr<const Ancestry>> Ancestry::of_fork(std::string parent_session,
                                                          std::shared_ptr<const Lineage> parent,
                                                          std::string_view entry_id) {
  auto ancestry = std::make_shared<Ancestry>();
  TRY_ASSIGN(const std::optional<Ordinal> own, parent->own().find(entry_id));
  if (!own) {
    return Error(Code::kCorrupt, "the entry it was forked from is gone: " + std::string(entry_id));
  }
  TRY_ASSIGN(StoredEntry entry, parent->own().entry(*own));
  if (is_fact(entry.place.type))
    return Error(Code::kCorrupt, "forked from an entry that is no node");
  ancestry->nodes_.resize(entry.place.depth + 1);
  const Ordinal base = parent->base();
  for (Ordinal visible = base + *own;;) {
    ancestry->nodes_[entry.place.depth] = {.log = 0, .own = visible - base};
    visible = entry.place.parent;
    if (visible == kNone || visible < base) break;
    TRY_ASSIGN(entry, parent->own().entry(visible - base));
  }
  const Ordinal inherited = entry.place.parent == kNone ? 0 : entry.place.parent + 1;
  if (parent->ancestry()) {
    const Ancestry& older = *parent->ancestry();
    for (Ordinal depth = 0; depth < inherited; ++depth) {
      const Node& node = older.nodes_[depth];
      ancestry->nodes_[depth] = {.log = node.log + 1, .own = node.own};
    }
    ancestry->logs_ = older.logs_;
  }
  ancestry->logs_.insert(ancestry->logs_.begin(),
                         Log{.session = std::move(parent_session), .lineage = std::move(parent)});
  return std::shared_ptr<const Ancestry>(std::move(ancestry));
}

Result<std::optional<FoundEntry>> Ancestry::find(std::string_view id) const {
  for (std::uint32_t log = 0; log < logs_.size(); ++log) {
    const LogView& view = logs_[log].lineage->own();
    TRY_ASSIGN(const std::optional<Ordinal> own, view.find(id));
    if (!own) continue;
    TRY_ASSIGN(const StoredEntry entry, view.entry(*own));
    const std::uint32_t depth = entry.place.depth;
    // The log may have it off our path, or as a fact: then it is not visible.
    if (is_fact(entry.place.type) || depth >= nodes_.size()) continue;
    if (nodes_[depth].log != log || nodes_[depth].own != *own) continue;
    return std::optional(FoundEntry{.ordinal = depth, .is_node = true, .depth = depth});
  }
  return std::optional<FoundEntry>();
}

Result<StoredEntry> Ancestry::entry(Ordinal depth) const {
  const Node& node = nodes_[depth];
  TRY_ASSIGN(StoredEntry entry, logs_[node.log].lineage->own().entry(node.own));
  entry.place.parent = depth == 0 ? kNone : depth - 1;
  return entry;
}

Result<std::string> Ancestry::id(Ordinal depth) const {
  return logs_[nodes_[depth].log].lineage->own().id(nodes_[depth].own);
}

std::pair<std::shared_ptr<const Lineage>, Ordinal> Ancestry::holder(Ordinal depth) const {
  const Node& node = nodes_[depth];
  const std::shared_ptr<const Lineage>& lineage = logs_[node.log].lineage;
  return {lineage, lineage->base() + node.own};
}

bool Ancestry::is_redacted(Ordinal depth) const {
  const Node& node = nodes_[depth];
  const Lineage& lineage = *logs_[node.log].lineage;
  return lineage.is_redacted(lineage.base() + node.own);
}

Result<std::shared_ptr<const Lineage>> Lineage::make(std::shared_ptr<const LogView> own,
                                                     std::shared_ptr<const Ancestry> ancestry) {
  std::shared_ptr<Lineage> lineage(new Lineage(std::move(own), std::move(ancestry)));
  const FoldState& fold = lineage->own_->fold();
  Ordinal fact = fold.last_fact[static_cast<std::size_t>(EntryType::kRedaction)];
  while (fact != kNone) {
    TRY_ASSIGN(const StoredEntry entry, lineage->own_->entry(fact - fold.base));
    if (entry.place.parent != kNone) lineage->redacted_.push_back(entry.place.parent);
    fact = entry.place.depth;
  }
  std::sort(lineage->redacted_.begin(), lineage->redacted_.end());
  return std::shared_ptr<const Lineage>(std::move(lineage));
}

Result<StoredEntry> Lineage::entry(Ordinal visible) const {
  return visible < base() ? ancestry_->entry(visible) : own_->entry(visible - base());
}

Result<std::string> Lineage::id(Ordinal visible) const {
  return visible < base() ? ancestry_->id(visible) : own_->id(visible - base());
}

Result<std::optional<FoundEntry>> Lineage::find(std::string_view id) const {
  TRY_ASSIGN(const std::optional<Ordinal> own, own_->find(id));
  if (own) {
    TRY_ASSIGN(const StoredEntry entry, own_->entry(*own));
    return std::optional(FoundEntry{.ordinal = base() + *own,
                                    .is_node = !is_fact(entry.place.type),
                                    .depth = entry.place.depth});
  }
  if (!ancestry_) return std::optional<FoundEntry>();
  return ancestry_->find(id);
}

bool Lineage::is_redacted(Ordinal visible) const {
  if (std::binary_search(redacted_.begin(), redacted_.end(), visible)) return true;
  return visible < base() && ancestry_->is_redacted(visible);
}

namespace {

// An adopted line that is an entry already but for its parent: stays as it came.
bool is_entry(const Envelope& envelope, std::string_view id) {
  return envelope.id.view() == id && !envelope.type.empty() && !envelope.payload.empty() &&
         !envelope.timestamp.is_copy();
}

void keep(const StoredEntry& stored, const Envelope& envelope, EntryText& into) {
  into.made = "{";
  if (!is_fact(envelope.type_code) && envelope.parent_link == ParentLink::kAbsent) {
    into.made += "\"parentId\":";
    into.made += into.parent_id ? json::quoted(*into.parent_id) : "null";
    into.made += ',';
  }
  into.made += stored.text.substr(stored.text.find('{') + 1);
}

void rewrite(const StoredEntry& stored, Envelope envelope, bool redacted, EntryText& into) {
  if (stored.adopted) adopt(envelope, stored.text);
  EntryParts parts{.id = into.id,
                   .parent = std::nullopt,
                   .type = envelope.type.view(),
                   .timestamp = envelope.timestamp.view(),
                   .run_id = envelope.run_id.view(),
                   .payload = redacted ? kRedactedPayload : envelope.payload,
                   .meta = redacted ? std::string_view() : envelope.meta};
  if (!is_fact(envelope.type_code)) {
    parts.parent = into.parent_id ? std::string_view(*into.parent_id) : std::string_view();
  }
  append_entry_json(into.made, parts);
}

// Called before `into` is the entry: mostly the one before it is its parent.
Result<void> read_parent(const Lineage& lineage, const StoredEntry& stored, EntryText& into) {
  const Ordinal parent = stored.place.parent;
  if (is_fact(stored.place.type) || parent == kNone) {
    into.parent_id.reset();
  } else if (parent == into.visible) {
    into.parent_id = into.id;
  } else {
    TRY_ASSIGN(into.parent_id, lineage.id(parent));
  }
  return {};
}

// A line of our own says what its reader gets, but for the seal.
void read_own(const StoredEntry& stored, EntryText& into) {
  into.json = stored.text;
  if (stored.seal_bytes > 0) {
    into.made.assign(stored.text, 0, stored.text.size() - stored.seal_bytes);
    into.made += '}';
    into.json = into.made;
  }
  into.envelope = read_envelope(into.json);
  into.id = into.envelope.id.view();
}

}  // namespace

Result<void> read_entry(const Lineage& lineage, Ordinal visible, EntryText& into) {
  TRY_ASSIGN(const StoredEntry stored, lineage.entry(visible));
  const bool redacted = lineage.is_redacted(visible);
  TRY(read_parent(lineage, stored, into));
  into.visible = kNone;  // should anything go wrong
  if (!stored.adopted && !redacted) {
    read_own(stored, into);
    into.visible = visible;
    return {};
  }
  into.made.clear();
  TRY_ASSIGN(into.id, lineage.id(visible));
  Envelope envelope = read_envelope(stored.text);
  if (!redacted && is_entry(envelope, into.id)) {
    keep(stored, envelope, into);
  } else {
    rewrite(stored, std::move(envelope), redacted, into);
  }
  into.json = into.made;
  into.envelope = read_envelope(into.json);
  into.visible = visible;
  return {};
}

}  // namespace quipu
