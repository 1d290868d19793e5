#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "quipu/runtime.h"

namespace quipu::cli {
namespace {

struct RecoverArguments {
  std::string session;
  bool apply = false;
};

Result<RecoverAll> recover(Store& store, const RecoverArguments& arguments) {
  const RecoverOptions options{.apply = arguments.apply};
  if (arguments.session.empty()) return recover_all(store, options);
  auto id = resolve_session(store.sessions(), arguments.session);
  if (!id) return std::move(id).error();
  auto one = Runtime(store, *id).recover(options);
  if (!one) return std::move(one).error();
  RecoverAll all;
  all.sessions.push_back(std::move(one).value());
  return all;
}

void write_json(JsonWriter& json, const Recovery& recovery) {
  json.begin_object()
      .member("sessionId", recovery.state.session_id)
      .member("applied", recovery.applied)
      .key("cutOff")
      .begin_array();
  for (const CutOff& one : recovery.cut_off) {
    json.begin_object()
        .member("kind", one.kind)
        .member("id", one.id)
        .member("entryId", one.entry_id)
        .member("next", one.next)
        .member("detail", one.detail)
        .end_object();
  }
  json.end_array().key("state").raw(encode_runtime_state(recovery.state)).end_object();
}

void print(Context& context, const Recovery& recovery) {
  context.out.line(
      paint(context.out.terminal(), Style::kBold, context.shown(recovery.state.session_id)));
  if (recovery.cut_off.empty()) context.out.line("  nothing was cut off");
  for (const CutOff& one : recovery.cut_off) {
    const bool ended = recovery.applied && one.kind == "run";
    context.out.line(fmt::format("  {:<15} {}  {}  {}", one.kind, context.shown(one.id),
                                 ended ? "ended: interrupted" : one.next,
                                 context.shown(one.detail)));
  }
}

Result<int> run_recover(Context& context, const RecoverArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto all = recover(*store, arguments);
  if (!all) return std::move(all).error();
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const Recovery& recovery : all->sessions) write_json(json, recovery);
    context.out.data_line(json.end_array().text());
  } else {
    for (const Recovery& recovery : all->sessions) print(context, recovery);
    if (all->sessions.empty()) context.note("nothing was cut off in any session");
  }
  for (const RecoverFailure& failure : all->failed) {
    context.warn("session " + failure.session_id + ": " + failure.error.message());
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return all->failed.empty() ? kExitOk : exit_code(all->failed.front().error.code());
}

}  // namespace

void add_recover(CommandLine& line) {
  line.add<RecoverArguments>(
      "recover", "list what was cut off, and what can go on",
      [](Declare& declare, RecoverArguments& arguments) {
        declare.optional_session(arguments.session)
            .flag("--apply", arguments.apply,
                  "end runs that did not end; whoever still holds one can write no more")
            .footer(
                "Each line: what it is, its id, what can be done (take_over, ask_again, "
                "run_or_close,\nresolve, dequeue). Without --apply nothing is written.");
      },
      run_recover);
}

}  // namespace quipu::cli
