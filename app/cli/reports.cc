#include "cli/reports.h"

#include <fmt/format.h>

#include "cli/ids.h"

namespace quipu::cli {

Result<std::vector<std::string>> chosen_sessions(SessionStore& sessions, std::string_view name) {
  if (name.empty()) return sessions.session_ids();
  auto id = resolve_session(sessions, name);
  if (!id) return std::move(id).error();
  return std::vector{std::move(id).value()};
}

void write_problems(JsonWriter& json, const std::vector<Problem>& problems) {
  json.begin_array();
  for (const Problem& problem : problems) {
    json.begin_object()
        .member("kind", problem.kind)
        .member("offset", problem.offset)
        .member("bytes", problem.bytes)
        .member("detail", problem.detail)
        .end_object();
  }
  json.end_array();
}

void print_problems(Context& context, const std::vector<Problem>& problems) {
  const Terminal& terminal = context.out.terminal();
  for (const Problem& problem : problems) {
    context.out.line(fmt::format("  {} at byte {}, {} bytes: {}",
                                 paint(terminal, Style::kYellow, context.shown(problem.kind)),
                                 problem.offset, problem.bytes, context.shown(problem.detail)));
  }
}

void Rounds::begin() { json_.begin_object().key("sessions").begin_array(); }

void Rounds::failed(const std::string& session_id, const Error& error) {
  if (failure_ == kExitOk) failure_ = exit_code(error.code());
  if (error.code() == Code::kCorrupt) damaged_ = true;
  if (context_.json) {
    json_.begin_object().member("sessionId", session_id).key("error").raw(error_object(error));
    json_.end_object();
    return;
  }
  context_.out.line(fmt::format("{}  {}  {}",
                                paint(context_.out.terminal(), Style::kRed, "failed "),
                                context_.shown(session_id), context_.shown(error.message())));
}

int Rounds::end() {
  const int code = damaged_ ? kExitCorrupt : failure_;
  if (context_.json) {
    json_.end_array().member("ok", code == kExitOk).end_object();
    context_.out.data_line(json_.text());
  }
  return code;
}

}  // namespace quipu::cli
