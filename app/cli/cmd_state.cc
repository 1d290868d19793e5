#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/open_session.h"
#include "cli/times.h"
#include "quipu/runtime.h"

namespace quipu::cli {
namespace {

struct StateArguments {
  std::string session;
};

void print_run(Context& context, const RuntimeState& state) {
  if (state.generation == 0 && state.run_id.empty()) {
    context.out.line("idle; there was no run yet");
    return;
  }
  const std::string when = context.shown(local_text(state.since));
  const std::string run = fmt::format("run {} (generation {}, began {})",
                                      context.shown(state.run_id), state.generation, when);
  if (state.processing) {
    context.out.line("working: " + run);
  } else {
    context.out.line(fmt::format("idle; the last {} ended: {}", run, context.shown(state.status)));
  }
}

void print_state(Context& context, const RuntimeState& state) {
  print_run(context, state);
  for (const QueuedMessage& queued : state.queued) {
    context.out.line(fmt::format("queued      {}  {}", context.shown(queued.queue_id),
                                 context.shown(queued.message)));
  }
  for (const PendingPermission& request : state.pending) {
    context.out.line(fmt::format("permission  {}  {} {}", context.shown(request.request_id),
                                 context.shown(request.tool), context.shown(request.input)));
  }
  for (const OpenToolCall& call : state.open_tool_calls) {
    context.out.line(fmt::format("tool call   {}  {} {}", context.shown(call.tool_use_id),
                                 context.shown(call.tool), context.shown(call.input)));
  }
  if (const auto& stream = state.interrupted_stream) {
    context.out.line(
        fmt::format("cut off     {}  a message of {}", context.shown(stream->stream_id),
                    stream->model.empty() ? "an unnamed model" : context.shown(stream->model)));
  }
}

Result<int> run_state(Context& context, const StateArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  auto state = Runtime(store, id).state();
  if (!state) return std::move(state).error();
  if (context.json) {
    context.out.data_line(encode_runtime_state(*state));
  } else {
    print_state(context, *state);
  }
  return kExitOk;
}

}  // namespace

void add_state(CommandLine& line) {
  line.add<StateArguments>(
      "state", "show what an agent is doing: run, queue, permissions, open tool calls",
      [](Declare& declare, StateArguments& arguments) { declare.session(arguments.session); },
      run_state);
}

}  // namespace quipu::cli
