#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/try.h"
#include "context/selection.h"
#include "dialect/lift.h"
#include "quipu/conversation.h"
#include "store/guarded.h"

namespace quipu {
namespace {

class Conversation {
 public:
  explicit Conversation(std::shared_ptr<const Lineage> lineage) : lineage_(std::move(lineage)) {}

  Result<std::vector<Utterance>> run(Ordinal head) {
    TRY_ASSIGN(selection_, context::select(lineage_, head, false));
    if (selection_.compaction) TRY(add_summary(*selection_.compaction));
    for (const context::PathEntry& entry : selection_.entries) {
      if (!entry.redacted) TRY(add(entry));
    }
    return std::move(said_);
  }

 private:
  Result<void> add(const context::PathEntry& entry) {
    if (entry.is_foreign()) {
      const dialect::Lifted& lifted = selection_.foreign.lifted;
      const dialect::LiftedMessage& message = lifted.messages()[entry.lifted];
      return add(entry, dialect::owned(message.view, lifted.parts(message)));
    }
    if (!dialect::carries_message(entry.type)) return {};
    std::vector<PartView> parts;
    const MessageView view = dialect::lift(entry.type, entry.payload, parts);
    return add(entry, dialect::owned(view, parts));
  }

  Result<void> add_summary(const context::PathEntry& compaction) {
    const auto summary = json::find_member(compaction.payload, "summary");
    if (!summary) return {};
    return add(compaction, Message::user("This summary stands for what was said before:\n\n" +
                                         json::decode_string(summary->value)));
  }

  Result<void> add(const context::PathEntry& entry, Message message) {
    if (message.parts.empty()) return {};
    const Lineage& log = entry.is_foreign() ? *selection_.foreign.log : *lineage_;
    TRY_ASSIGN(std::string id, log.id(entry.ordinal));
    TRY_ASSIGN(const StoredEntry stored, log.entry(entry.ordinal));
    said_.push_back({.entry_id = std::move(id),
                     .type = std::string(entry.type),
                     .timestamp = std::string(read_envelope(stored.text).timestamp.view()),
                     .message = std::move(message)});
    return {};
  }

  std::shared_ptr<const Lineage> lineage_;
  context::Selection selection_;
  std::vector<Utterance> said_;
};

}  // namespace

Result<std::vector<Utterance>> read_conversation(Store& store, std::string_view session_id,
                                                 std::string_view head) {
  return guarded([&]() -> Result<std::vector<Utterance>> {
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
    Ordinal at = lineage->head();
    if (!head.empty()) {
      TRY_ASSIGN(const auto found, lineage->find(head));
      if (!found || !found->is_node) {
        return Error(Code::kNotFound, "no node " + std::string(head) + " in the session");
      }
      at = found->ordinal;
    }
    if (at == kNone) return std::vector<Utterance>();
    return Conversation(lineage).run(at);
  });
}

}  // namespace quipu
