#include "backend/backend.h"
#include "base/base64.h"
#include "base/try.h"
#include "context/budget.h"
#include "context/conversation.h"
#include "context/request.h"
#include "context/rules.h"
#include "context/selection.h"
#include "quipu/attachments.h"
#include "quipu/context.h"
#include "quipu/store.h"
#include "store/guarded.h"

namespace quipu {
namespace {

Result<Ordinal> head_of(const Lineage& lineage, const std::string& wanted) {
  if (wanted.empty()) return lineage.head();
  TRY_ASSIGN(const auto found, lineage.find(wanted));
  if (!found) return Error(Code::kNotFound, "no entry " + wanted + " in the session");
  if (!found->is_node) {
    return Error(Code::kInvalidArgument, wanted + " is a fact, no place of the conversation");
  }
  return found->ordinal;
}

Result<void> take_notes(const context::Selection& selection, const Lineage& lineage,
                        const context::Conversation& conversation, Context& into) {
  into.notes.reserve(conversation.notes.size());
  for (const context::Note& note : conversation.notes) {
    TRY_ASSIGN(std::string id, selection.id_of(lineage, *note.entry));
    into.notes.push_back({.entry_id = std::move(id),
                          .type = std::string(note.entry->type),
                          .verdict = note.verdict,
                          .reason = std::string(note.reason),
                          .tokens = note.tokens});
  }
  return {};
}

// What each entry takes, and all of them.
std::uint64_t add_up(context::Conversation& conversation) {
  std::uint64_t total = 0;
  const auto add = [&](const context::Pieces& pieces) {
    for (const context::Piece& piece : pieces) {
      conversation.notes[piece.note].tokens += piece.tokens;
      total += piece.tokens;
    }
  };
  add(conversation.system);
  for (const context::Block& block : conversation.blocks) {
    add(block.pieces);
    add(block.results);
  }
  return total;
}

Result<Context> build(Store& store, std::string_view session_id, const ContextOptions& options) {
  TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
  TRY_ASSIGN(const Ordinal head, head_of(*lineage, options.head));
  Context context;
  context.session_id = session_id;
  context::Selection selection;
  if (head != kNone) {
    TRY_ASSIGN(context.head, lineage->id(head));
    TRY_ASSIGN(selection, context::select(lineage, head, options.full));
  }
  const context::Rules& rules = context::rules_of(options.provider);
  context::Conversation conversation = context::converse(selection, *lineage, rules, options);
  context::count_tokens(conversation);
  if (options.budget_tokens) TRY(context::fit(conversation, *options.budget_tokens));
  context.awaits_answer = !conversation.blocks.empty() && !conversation.assistant_last;
  context::Request request =
      context::write_request(conversation, options.provider, [&](const std::string& sha256) {
        auto bytes = Attachments(store).get(sha256);
        return bytes.ok() ? std::optional(base64_encode(*bytes)) : std::nullopt;
      });
  context.request = std::move(request.json);
  context.messages = request.messages;
  context.tokens = add_up(conversation);
  // Before the notes are made: both are large.
  conversation.free_blocks();
  context.model = conversation.model;
  context.thinking_level = conversation.thinking_level;
  context.covered_entries = selection.covered;
  if (selection.compaction) {
    TRY_ASSIGN(context.compaction_entry_id, lineage->id(selection.compaction->ordinal));
  }
  TRY(take_notes(selection, *lineage, conversation, context));
  context.damaged = lineage->own().damaged();
  return context;
}

}  // namespace

Result<Context> build_context(Store& store, std::string_view session_id,
                              const ContextOptions& options) {
  return guarded([&]() -> Result<Context> { return build(store, session_id, options); });
}

}  // namespace quipu
