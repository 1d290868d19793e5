#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "cli/pager.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/context.h"

namespace quipu::cli {
namespace {

struct ContextArguments {
  std::string session;
  std::string provider = "quipu";
  std::string model;
  std::string head;
  std::size_t budget = 0;
  bool explain = false;
  bool full = false;
  bool open_ended = false;
};

// An exact id needs no tree; a prefix of one does.
Result<quipu::Context> build(Store& store, const std::string& session, ContextOptions& options) {
  auto built = build_context(store, session, options);
  if (built.ok() || options.head.empty() || built.error().code() != Code::kNotFound) return built;
  auto tree = store.sessions().session_tree(session);
  if (!tree) return std::move(tree).error();
  auto node = resolve_node(*tree, options.head);
  if (!node) return std::move(node).error();
  auto id = tree->id(*node);
  if (!id) return std::move(id).error();
  options.head = *id;
  return build_context(store, session, options);
}

std::string explanation_json(const quipu::Context& built) {
  JsonWriter json;
  json.begin_object()
      .member("sessionId", built.session_id)
      .optional_member("head", built.head)
      .optional_member("model", built.model)
      .member("tokens", built.tokens)
      .member("messages", built.messages)
      .optional_member("compaction", built.compaction_entry_id)
      .member("coveredEntries", built.covered_entries)
      .member("damaged", built.damaged);
  json.key("entries").begin_array();
  for (const ContextNote& note : built.notes) {
    json.begin_object()
        .member("entryId", note.entry_id)
        .member("type", note.type)
        .member("verdict", name(note.verdict))
        .optional_member("reason", note.reason)
        .member("tokens", note.tokens)
        .end_object();
  }
  return json.end_array().end_object().text();
}

void print_explanation(Context& context, const quipu::Context& built) {
  Table table({{.title = "ENTRY", .fit = Table::Fit::kCutEnd},
               {.title = "TYPE", .fit = Table::Fit::kCutEnd, .expendable = true},
               {.title = "TOKENS", .right = true},
               {.title = "VERDICT"},
               {.title = "WHY", .fit = Table::Fit::kCutEnd}});
  for (const ContextNote& note : built.notes) {
    table.add({context.shown(note.entry_id), context.shown(note.type),
               fmt::format("{}", note.tokens), std::string(name(note.verdict)),
               context.shown(note.reason)});
  }
  for (const std::string& line : table.lines(context.out.terminal())) context.out.line(line);
  context.out.line("");
  context.out.line(fmt::format("{}, about {} tokens",
                               counted(built.messages, "message", "messages"), built.tokens));
  if (!built.compaction_entry_id.empty()) {
    context.out.line(
        fmt::format("{} covered by compaction {}",
                    counted(built.covered_entries, "older entry is", "older entries are"),
                    context.shown(built.compaction_entry_id)));
  }
}

Result<int> run_context(Context& context, const ContextArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  ContextOptions options;
  options.provider = *provider_named(arguments.provider);
  options.model = arguments.model;
  options.head = arguments.head;
  if (arguments.budget > 0) options.budget_tokens = arguments.budget;
  options.full = arguments.full;
  options.open_ended = arguments.open_ended;
  auto built = build(store, id, options);
  if (!built) return std::move(built).error();
  context.warn_of_damage(id, built->damaged);

  if (!arguments.explain) {
    context.out.data_line(built->request);
  } else if (context.json) {
    // The request as it is, and beside its members one of ours.
    built->request.pop_back();
    context.out.data_line(built->request + ",\"explain\":" + explanation_json(*built) + "}");
  } else {
    Pager pager;
    if (!context.no_pager) pager.start(context.out);
    print_explanation(context, *built);
  }
  return kExitOk;
}

}  // namespace

void add_context(CommandLine& line) {
  line.add<ContextArguments>(
      "context", "print the request that a provider would get for a session",
      [](Declare& declare, ContextArguments& arguments) {
        declare.session(arguments.session)
            .choice("--provider", arguments.provider,
                    {"quipu", "anthropic", "openai-chat", "openai-responses", "gemini"},
                    "whose request it is to be (default: quipu, canonical messages)")
            .option("--model", "NAME", arguments.model,
                    "the model that will answer (default: the one that answered last)")
            .option("--head", "ENTRY", arguments.head,
                    "end with this entry instead of the session's head")
            .number("--budget", arguments.budget, 1, 1'000'000'000,
                    "tokens that it may take: old tool outputs are shortened, then turns dropped")
            .flag("--explain", arguments.explain,
                  "say for each entry what became of it (with --json: as the member `explain`)")
            .flag("--full", arguments.full, "pass over compactions")
            .flag("--open-ended", arguments.open_ended,
                  "add nothing when the assistant spoke last");
      },
      run_context);
}

}  // namespace quipu::cli
