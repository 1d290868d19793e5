#include "exchange/stored_session.h"

#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/recipe.h"

namespace quipu::exchange {

Result<std::unique_ptr<StoredSession>> StoredSession::look_at(
    std::shared_ptr<const Lineage> lineage, const dialect::Dialect& dialect, bool only_new) {
  std::unique_ptr<StoredSession> session(new StoredSession(std::move(lineage), dialect));
  TRY(session->find_head());
  TRY(session->find_end(only_new));
  return session;
}

Result<void> StoredSession::find_head() {
  if (lineage_->head() == kNone) return {};
  TRY_ASSIGN(end_.head, lineage_->id(lineage_->head()));
  TRY_ASSIGN(const StoredEntry head, lineage_->entry(lineage_->head()));
  const Envelope envelope = read_envelope_prefix(head.text);
  end_.is_ours = dialect::record_type(envelope.type.view()).dialect == &dialect_;
  return {};
}

// The last node, the last record and the last mark are among the last entries, or nearly.
Result<void> StoredSession::find_end(bool only_new) {
  const LogView& own = lineage_->own();
  Ordinal marked = 0;
  bool record_found = false;
  for (Ordinal at = own.fold().count; at-- > 0;) {
    TRY_ASSIGN(const StoredEntry entry, own.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    if (envelope.type.view() == kMarkType && marked == 0) {
      marked = lineage_->base() + at;
      mark_ = read_mark(envelope.payload);
    }
    if (envelope.type.view() == dialect::kRecipeType && end_.recipe.empty()) {
      end_.recipe = envelope.payload;
    }
    if (dialect::record_type(envelope.type.view()).dialect != &dialect_) continue;
    const dialect::CarriedMeta meta = dialect::read_meta(envelope.meta);
    if (!meta.file.empty()) continue;  // the other files come last, and each is whole
    if (!record_found) {
      if (meta.problem == "torn") end_.torn = envelope.id.view();
      if (meta.problem != "torn" && meta.end.empty()) end_.open = envelope.id.view();
    }
    record_found = true;
    if (end_.last_node.empty() && !is_fact(entry.place.type)) end_.last_node = envelope.id.view();
    if (!end_.last_node.empty() && (marked != 0 || !only_new)) break;
  }
  if (only_new) marked_ = marked;
  if (end_.last_node.empty() && lineage_->base() > 0) {
    TRY_ASSIGN(end_.last_node, lineage_->id(lineage_->base() - 1));
  }
  return {};
}

Result<std::optional<StoredSession::Match>> StoredSession::match(std::string_view id,
                                                                 std::string_view payload) const {
  TRY_ASSIGN(const auto found, lineage_->find(id));
  if (!found) return std::optional<Match>();
  TRY_ASSIGN(const StoredEntry entry, lineage_->entry(found->ordinal));
  const Envelope envelope = read_envelope(entry.text);
  dialect::CarriedMeta meta = dialect::read_meta(envelope.meta);
  return std::optional(Match{.is_same = envelope.payload == payload,
                             .is_before = found->ordinal < marked_,
                             .end = std::move(meta.end),
                             .file = std::move(meta.file)});
}

Result<bool> StoredSession::is_node(std::string_view id) const {
  TRY_ASSIGN(const auto found, lineage_->find(id));
  return found && found->is_node;
}

Result<bool> StoredSession::is_torn(std::string_view id) const {
  TRY_ASSIGN(const auto found, lineage_->find(id));
  if (!found) return false;
  TRY_ASSIGN(const StoredEntry entry, lineage_->entry(found->ordinal));
  return dialect::read_meta(read_envelope(entry.text).meta).problem == "torn";
}

Result<std::string> StoredSession::leader_of(std::string id) const {
  for (;;) {
    TRY_ASSIGN(const auto found, lineage_->find(id));
    if (!found) return std::string();
    TRY_ASSIGN(const StoredEntry entry, lineage_->entry(found->ordinal));
    const Envelope envelope = read_envelope_prefix(entry.text);
    if (dialect_.leads(dialect::record_type(envelope.type.view()).kind)) return id;
    if (entry.place.parent == kNone) return std::string();
    TRY_ASSIGN(id, lineage_->id(entry.place.parent));
  }
}

Result<void> StoredSession::each_record(
    const std::function<void(std::string_view id, const dialect::RecordType& type)>& see) const {
  const LogView& own = lineage_->own();
  for (Ordinal at = 0; at < own.fold().count; ++at) {
    TRY_ASSIGN(const StoredEntry entry, own.entry(at));
    const Envelope envelope = read_envelope_prefix(entry.text);
    const dialect::RecordType type = dialect::record_type(envelope.type.view());
    if (type.dialect == &dialect_) see(envelope.id.view(), type);
  }
  return {};
}

}  // namespace quipu::exchange
