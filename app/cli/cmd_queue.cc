#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/input.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "quipu/limits.h"
#include "quipu/runtime.h"

namespace quipu::cli {
namespace {

struct QueueArguments {
  std::string session;
  std::string action;
  std::string argument;
  std::optional<std::string> text;
  std::string id;
};

Error queue_usage(const char* message) {
  return Error(Code::kInvalidArgument, message)
      .with_hint(
          "queue SESSION add FILE|- or --text TEXT, queue SESSION list, queue SESSION remove ID");
}

Result<void> check(const QueueArguments& arguments) {
  if (arguments.action == "add" && arguments.argument.empty() == !arguments.text) {
    return queue_usage("either a file with a message, or --text");
  }
  if (arguments.action == "remove" && arguments.argument.empty()) {
    return queue_usage("which message is to be removed?");
  }
  return {};
}

Result<std::string> message_of(const QueueArguments& arguments) {
  if (arguments.text) {
    JsonWriter json;
    json.begin_object().member("role", "user").member("content", *arguments.text).end_object();
    return json.text();
  }
  auto input = Input::open(arguments.argument);
  if (!input) return std::move(input).error();
  auto message = input->read_all(kLineBytesMax);
  if (!message) return message;
  // As a file ends; inside the object the store would refuse it.
  while (message->ends_with('\n') || message->ends_with('\r')) message->pop_back();
  return message;
}

Result<void> add(Context& context, Runtime& runtime, const QueueArguments& arguments) {
  auto message = message_of(arguments);
  if (!message) return std::move(message).error();
  auto id = runtime.enqueue(*message, arguments.id);
  if (!id) return std::move(id).error();
  if (context.json) {
    context.out.data_line(JsonWriter().begin_object().member("queueId", *id).end_object().text());
  } else {
    context.out.data_line(*id);
  }
  return {};
}

Result<void> remove(Context& context, Runtime& runtime, const QueueArguments& arguments) {
  auto queued = runtime.queued();
  if (!queued) return std::move(queued).error();
  std::vector<std::string> ids;
  for (const QueuedMessage& one : *queued) ids.push_back(one.queue_id);
  auto id = match_prefix({"queued message", "`quipu queue SESSION list` shows them."},
                         arguments.argument, ids);
  if (!id) return std::move(id).error();
  if (auto removed = runtime.remove_queued(*id); !removed) return removed;
  if (context.json) {
    context.out.data_line(JsonWriter().begin_object().member("removed", *id).end_object().text());
  }
  return {};
}

Result<void> list(Context& context, Runtime& runtime) {
  auto queued = runtime.queued();
  if (!queued) return std::move(queued).error();
  JsonWriter json;
  json.begin_array();
  for (const QueuedMessage& one : *queued) {
    json.begin_object()
        .member("queueId", one.queue_id)
        .member("timestamp", one.timestamp)
        .key("message")
        .raw(one.message)
        .end_object();
    if (!context.json) {
      context.out.line(
          fmt::format("{}  {}", context.shown(one.queue_id), context.shown(one.message)));
    }
  }
  if (context.json) context.out.data_line(json.end_array().text());
  if (queued->empty()) context.note("the queue is empty");
  return {};
}

Result<int> run_queue(Context& context, const QueueArguments& arguments) {
  if (auto good = check(arguments); !good) {
    context.report(good.error());
    return kExitUsage;
  }
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  Runtime runtime(store, id);
  auto done = arguments.action == "add"      ? add(context, runtime, arguments)
              : arguments.action == "remove" ? remove(context, runtime, arguments)
                                             : list(context, runtime);
  if (!done) return std::move(done).error();
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_queue(CommandLine& line) {
  line.add<QueueArguments>(
      "queue", "messages that wait for an agent: add, list, remove",
      [](Declare& declare, QueueArguments& arguments) {
        declare.session(arguments.session)
            .word_choice("ACTION", arguments.action, {"add", "list", "remove"},
                         "add, list or remove")
            .optional_positional("FILE|ID", arguments.argument,
                                 "add: where the message is (a JSON object), - is standard input; "
                                 "remove: its id, or any unique prefix of it")
            .option("--text", "TEXT", arguments.text, "add: what the user says")
            .option("--id", "ID", arguments.id, "add: its id (else a UUIDv7)")
            .footer("Adding the same message under the same id again adds nothing.");
      },
      run_queue);
}

}  // namespace quipu::cli
