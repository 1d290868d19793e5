// build_context: from a session's path to a request that a provider accepts.
//
//   auto context = quipu::build_context(*store, session_id,
//       {.provider = quipu::Provider::kAnthropic, .model = "…", .budget_tokens = 150'000});
//   send(context->request);
//
// What it promises:
//   * every tool call has its result right behind it, every result its call;
//   * roles come in the order the provider wants, nothing is empty;
//   * reasoning goes back only to the provider and model that signed it;
//   * the same head and options give the same bytes, and a longer path the same
//     beginning, so that prompt caches hit;
//   * the request fits the budget: old tool outputs are shortened before turns are
//     dropped, whole turns from the old end, and the text says that they are missing;
//   * for each entry it says whether it was kept, and if not, why.
// The rules, one by one, are in docs/context.md. Nothing is written.
//
// Cost: the entries between the last compaction and the head, not the session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

class Store;

/// Whose request it is to be. kQuipu: canonical messages (message.h) as JSON.
enum class Provider : unsigned char { kQuipu, kAnthropic, kOpenAiChat, kOpenAiResponses, kGemini };

/// "quipu", "anthropic", "openai-chat", "openai-responses", "gemini".
std::string_view name(Provider provider);
std::optional<Provider> provider_named(std::string_view name);

struct ContextOptions {
  /// The node that the context ends with, also an old one ("as of"). Empty: the
  /// session's head.
  std::string head{};
  Provider provider = Provider::kQuipu;
  /// The model that will answer. Empty: the one that the session last used.
  std::string model{};
  /// Tokens that system prompt and messages may take together. None: no limit.
  std::optional<std::uint64_t> budget_tokens{};
  /// Leave a conversation that ends with the assistant as it is. Otherwise a line
  /// that asks it to go on is added where the provider wants the user to speak last.
  bool open_ended = false;
  /// Ignore compactions: everything as it was said.
  bool full = false;
};

enum class Verdict : unsigned char {
  kKept,
  kShortened,  // a part of it is there
  kReplaced,   // an edit, a summary or a stand-in speaks for it
  kDropped,
  kAdded,  // not in the log: needed to make the request whole
};
std::string_view name(Verdict verdict);

/// What became of one entry.
struct ContextNote {
  std::string entry_id;  // kAdded: the entry it was added for
  std::string type;
  Verdict verdict = Verdict::kKept;
  std::string reason;  // a stable word, such as "over_budget"; empty for plain kKept
  std::uint64_t tokens = 0;
};

struct Context {
  std::string session_id;
  std::string head;  // the node it ends with; empty in a session without nodes
  std::string model;
  std::string thinking_level;
  /// A JSON object with the provider's own members for system prompt and
  /// messages: `system` and `messages`, `instructions` and `input`, or
  /// `systemInstruction` and `contents`.
  std::string request;
  /// What the request takes, as far as it can be known without the provider's
  /// tokenizer: anchored on usage that the provider reported, else estimated.
  std::uint64_t tokens = 0;
  std::uint32_t messages = 0;
  /// The user or a tool spoke last: it is the model's turn. (What is added to make the
  /// user speak last does not count.)
  bool awaits_answer = false;
  /// The compaction in force, and how many nodes before it are not looked at.
  std::string compaction_entry_id;
  std::uint64_t covered_entries = 0;
  /// Damaged lines of the session's own log that were met: what they said is missing here.
  std::uint32_t damaged = 0;
  /// The entries that were looked at, in the order of the path.
  std::vector<ContextNote> notes;
};

/// `not_found` for an unknown session or head, `invalid_argument` for a head that
/// is a fact, `too_large` when even the newest turn cannot be made to fit.
Result<Context> build_context(Store& store, std::string_view session_id,
                              const ContextOptions& options = {});

}  // namespace quipu
