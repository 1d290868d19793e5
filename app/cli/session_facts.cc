#include "cli/session_facts.h"

#include <array>

#include "cli/ids.h"
#include "cli/summary_json.h"

namespace quipu::cli {
namespace {

constexpr int kTries = 20;

Result<void> say_once(SessionStore& sessions, const std::string& id, const Say& say) {
  auto before = sessions.describe_session(id);
  if (!before) return std::move(before).error();
  NewEntry fact;
  fact.type = "session_info";
  fact.payload = say(*before);
  if (fact.payload.empty()) return {};
  AppendOptions options;
  options.expected_tail = before->tail;
  auto stored = sessions.append_session_entries(id, std::array{fact}, options);
  if (!stored) return std::move(stored).error();
  return {};
}

}  // namespace

Result<int> say_of_session(Context& context, const std::string& session, const Say& say) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  SessionStore& sessions = store->sessions();
  auto id = resolve_session(sessions, session);
  if (!id) return std::move(id).error();
  auto said = say_once(sessions, *id, say);
  for (int i = 1; i < kTries && !said && said.error().code() == Code::kTailMoved; ++i) {
    said = say_once(sessions, *id, say);
  }
  if (!said) return std::move(said).error();
  if (context.json) {
    auto after = sessions.describe_session(*id);
    if (!after) return std::move(after).error();
    JsonWriter json;
    write_summary(json, *after);
    context.out.data_line(json.text());
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace quipu::cli
