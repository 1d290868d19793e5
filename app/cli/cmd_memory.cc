#include <unistd.h>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/recall_json.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/limits.h"
#include "quipu/memory.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kBatchNodes = 5000;
constexpr std::size_t kNodeBatchBytes = std::size_t{32} << 20;
constexpr std::size_t kShownDuplicates = 5;

struct MemoryArguments {
  std::string action;
  std::vector<std::string> words;
  std::optional<std::string> agent;
  std::optional<std::string> project;
  std::vector<std::string> kinds;
  std::size_t limit = 10;
  std::string since;
  bool hybrid = false;
  std::string queries;
  std::string duplicates = "keep";
  std::string after;
  std::size_t max_nodes = static_cast<std::size_t>(-1);
  std::string max_age;
  bool dry_run = false;
};

Error memory_usage(std::string message) {
  return Error(Code::kInvalidArgument, std::move(message))
      .with_hint("`quipu memory --help` has the rest.");
}

Result<MemoryScope> scope_of(const MemoryArguments& arguments) {
  MemoryScope scope{.agent_id = arguments.agent, .project_id = arguments.project, .kinds = {}};
  for (const std::string& word : arguments.kinds) {
    const auto kind = memory_kind(word);
    if (!kind)
      return memory_usage(fmt::format("--kind '{}' is none of short, long and agent", word));
    scope.kinds.push_back(*kind);
  }
  return scope;
}

// How long ago, in milliseconds.
Result<std::optional<std::int64_t>> past_time(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<std::int64_t>();
  const auto time = read_time(text, now_ms());
  if (time) return std::optional(*time);
  return memory_usage(fmt::format("{} '{}' is no time such as 2026-03-01, 12h, 7d", option, text));
}

// --- add -----------------------------------------------------------------------------------

// Of `ids` those are kept that were made.
void add_up(UpsertReport& sum, UpsertReport part, const std::vector<MemoryNode>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id.empty()) sum.ids.push_back(std::move(part.ids[i]));
  }
  sum.added += part.added;
  sum.replaced += part.replaced;
  sum.unchanged += part.unchanged;
  sum.skipped += part.skipped;
  for (Duplicate& one : part.duplicates) sum.duplicates.push_back(std::move(one));
}

void print_report(Context& context, const UpsertReport& report) {
  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("added", std::uint64_t{report.added})
        .member("replaced", std::uint64_t{report.replaced})
        .member("unchanged", std::uint64_t{report.unchanged})
        .member("skipped", std::uint64_t{report.skipped})
        .key("duplicates")
        .begin_array();
    for (const Duplicate& one : report.duplicates) {
      json.begin_object().member("id", one.id).member("of", one.of);
      json.key("likeness").raw(fmt::format("{}", one.likeness)).end_object();
    }
    json.end_array();
    if (!report.ids.empty()) json.member("made", report.ids);
    return context.out.data_line(json.end_object().text());
  }
  for (const std::string& id : report.ids) context.out.line(id);
  context.out.line(fmt::format(
      "{} added, {} replaced, {} unchanged{}", report.added, report.replaced, report.unchanged,
      report.skipped == 0 ? "" : fmt::format(", {} left out", report.skipped)));
  for (std::size_t i = 0; i < report.duplicates.size() && i < kShownDuplicates; ++i) {
    const Duplicate& one = report.duplicates[i];
    context.note(fmt::format("{} says what {} says{}", context.shown(one.id), context.shown(one.of),
                             one.likeness == 1 ? "" : ", nearly"));
  }
  if (report.duplicates.size() > kShownDuplicates) {
    context.note(fmt::format("and {} more", report.duplicates.size() - kShownDuplicates));
  }
}

Result<void> add(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  auto input = Input::open(arguments.words.empty() ? "-" : arguments.words.front());
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1) context.note("Reading nodes from the terminal; Ctrl-D ends them.");
  LineReader reader(input->fd(), input->place(), 2 * kLineBytesMax);
  Progress progress(input->size() > 0 && !context.json, context.err, "adding", input->size());
  UpsertOptions options;
  if (arguments.duplicates == "skip") options.duplicates = Duplicates::kSkip;
  if (arguments.duplicates == "merge") options.duplicates = Duplicates::kMerge;
  UpsertReport sum;
  for (;;) {
    auto lines =
        JsonLines<MemoryNode>::read(reader, kBatchNodes, kNodeBatchBytes, read_memory_node);
    if (!lines) return std::move(lines).error();
    if (lines->items.empty()) break;
    auto stored = memory.upsert(lines->items, options);
    if (!stored) {
      return std::move(stored).error().in(
          fmt::format("{}: lines {} to {}", input->place(), lines->first, lines->last));
    }
    add_up(sum, std::move(stored).value(), lines->items);
    progress.set(reader.bytes_read());
  }
  // Ids of nodes that were not stored as such are nobody's.
  if (arguments.duplicates != "keep") {
    for (const Duplicate& one : sum.duplicates) std::erase(sum.ids, one.id);
  }
  print_report(context, sum);
  return make_vectors(context, memory);
}

// --- search ----------------------------------------------------------------------------------

void write_memory(JsonWriter& json, const StoredMemory& memory) {
  const MemoryNode& node = memory.node;
  json.member("kind", name(node.kind))
      .member("text", node.text)
      .optional_member("context", node.context)
      .optional_member("agentId", node.agent_id)
      .optional_member("projectId", node.project_id)
      .key("meta")
      .raw(node.meta.empty() ? "null" : node.meta)
      .key("sources")
      .begin_array();
  for (const MemorySource& source : node.sources) {
    json.begin_object()
        .optional_member("sessionId", source.session_id)
        .optional_member("entryId", source.entry_id)
        .end_object();
  }
  json.end_array().key("importance").raw(fmt::format("{}", node.importance));
  json.member("pinned", node.pinned);
  write_time(json, "expires", node.expires_ms.value_or(0));
  write_time(json, "created", memory.created_ms);
  write_time(json, "updated", memory.updated_ms);
  json.member("hits", memory.hits);
  write_time(json, "lastUsed", memory.used_ms);
}

void write_items(JsonWriter& json, const Hits<MemoryHit>& hits) {
  json.key("items").begin_array();
  for (const MemoryHit& hit : hits.items) {
    json.begin_object().member("id", hit.memory.node.id);
    write_rank(json, hit.score, hit.excerpt, hit.reason);
    write_memory(json, hit.memory);
    json.end_object();
  }
  json.end_array();
}

void print_hits(Context& context, const Hits<MemoryHit>& hits) {
  for (const MemoryHit& hit : hits.items) {
    const std::string id =
        paint(context.out.terminal(), Style::kCyan, context.shown(hit.memory.node.id));
    context.out.line(
        fmt::format("{:8.3g}  {}  {}", hit.score, id, shown_excerpt(context, hit.excerpt)));
  }
  print_notes(context, hits);
}

Result<MemorySearchOptions> search_options(const MemoryArguments& arguments) {
  MemorySearchOptions options;
  auto scope = scope_of(arguments);
  if (!scope) return std::move(scope).error();
  options.scope = std::move(scope).value();
  auto since = past_time(arguments.since, "--since");
  if (!since) return std::move(since).error();
  options.since_ms = *since;
  options.ranking.hybrid = arguments.hybrid;
  return options;
}

// Queries as JSON lines of the form of a node, answered a line each.
Result<void> search_many(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  auto options = search_options(arguments);
  if (!options) return std::move(options).error();
  auto input = Input::open(arguments.queries);
  if (!input) return std::move(input).error();
  LineReader reader(input->fd(), input->place(), 2 * kLineBytesMax);
  while (!context.out.failed()) {
    auto lines = JsonLines<MemoryNode>::read(reader, 1, kNodeBatchBytes, read_memory_node);
    if (!lines) return std::move(lines).error();
    if (lines->items.empty()) break;
    MemoryNode& query = lines->items.front();
    MemorySearchOptions own = *options;
    if (!query.agent_id.empty()) own.scope.agent_id = query.agent_id;
    if (!query.project_id.empty()) own.scope.project_id = query.project_id;
    own.ranking.embedding = std::move(query.embedding);
    auto hits = memory.search(query.text, arguments.limit, own);
    if (!hits) return std::move(hits).error();
    JsonWriter json;
    json.begin_object().member("id", query.id);
    write_items(json, *hits);
    write_ranking(json, own.ranking, *hits);
    context.out.data_line(json.end_object().text());
    // At once: whoever asks may wait for the answer before it asks again.
    if (auto written = context.out.flush(); !written) return std::move(written).error();
  }
  return {};
}

Result<void> search(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  if (!arguments.queries.empty()) return search_many(context, memory, arguments);
  auto options = search_options(arguments);
  if (!options) return std::move(options).error();
  auto hits = memory.search(joined(arguments.words), arguments.limit, *options);
  if (!hits) return std::move(hits).error();
  if (!context.json) {
    print_hits(context, *hits);
    return {};
  }
  JsonWriter json;
  json.begin_object();
  write_items(json, *hits);
  write_ranking(json, options->ranking, *hits);
  context.out.data_line(json.end_object().text());
  return {};
}

// --- list, evict, forget -----------------------------------------------------------------------

Result<void> list(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  auto scope = scope_of(arguments);
  if (!scope) return std::move(scope).error();
  auto page = memory.list(*scope, {.after = arguments.after, .limit = arguments.limit});
  if (!page) return std::move(page).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object().key("items").begin_array();
    for (const StoredMemory& one : page->items) {
      json.begin_object().member("id", one.node.id);
      write_memory(json, one);
      json.end_object();
    }
    json.end_array().member("total", std::uint64_t{page->total});
    if (!page->next.empty()) json.member("next", page->next);
    context.out.data_line(json.end_object().text());
    return {};
  }
  Table table({{.title = "ID", .fit = Table::Fit::kCutEnd},
               {.title = "KIND"},
               {.title = "UPDATED", .expendable = true},
               {.title = "HITS", .right = true, .expendable = true},
               {.title = "TEXT", .fit = Table::Fit::kCutEnd}});
  for (const StoredMemory& one : page->items) {
    table.add({context.shown(one.node.id), std::string(name(one.node.kind)),
               ago_text(one.updated_ms, now_ms()), std::to_string(one.hits),
               context.shown(one.node.text)});
  }
  for (const std::string& line : table.lines(context.out.terminal())) context.out.line(line);
  if (!page->next.empty()) {
    context.note(fmt::format("{} of {}; the next with --after {}", page->items.size(), page->total,
                             page->next));
  }
  return {};
}

Result<void> evict(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  EvictOptions options;
  auto scope = scope_of(arguments);
  if (!scope) return std::move(scope).error();
  options.scope = std::move(scope).value();
  if (arguments.max_nodes != static_cast<std::size_t>(-1)) options.max_nodes = arguments.max_nodes;
  auto oldest = past_time(arguments.max_age, "--max-age");
  if (!oldest) return std::move(oldest).error();
  if (*oldest) options.max_age = std::chrono::milliseconds(now_ms() - **oldest);
  options.dry_run = arguments.dry_run;
  auto report = memory.evict(options);
  if (!report) return std::move(report).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("evicted", report->ids)
        .member("kept", std::uint64_t{report->kept})
        .member("dryRun", arguments.dry_run)
        .end_object();
    context.out.data_line(json.text());
    return {};
  }
  for (const std::string& id : report->ids) context.out.line(context.shown(id));
  context.note(fmt::format("{} {}, {} stay", report->ids.size(),
                           arguments.dry_run ? "would go" : "are gone", report->kept));
  return {};
}

Result<void> forget(Context& context, MemoryStore& memory, const MemoryArguments& arguments) {
  auto count = memory.forget(arguments.words);
  if (!count) return std::move(count).error();
  return answer_taken(context, "forgotten", *count, arguments.words);
}

// What the arguments say, before anything is opened.
Result<void> check(const MemoryArguments& arguments) {
  const std::size_t words = arguments.words.size();
  const std::string& action = arguments.action;
  if (action == "add" && words > 1) return memory_usage("after `memory add`: a file, or -");
  const bool has_queries = !arguments.queries.empty();
  if (action == "search" && has_queries == (words > 0)) {
    return memory_usage("after `memory search`: a query, or --queries FILE");
  }
  if (action == "forget" && words == 0)
    return memory_usage("after `memory forget`: the ids of nodes");
  if ((action == "list" || action == "evict") && words > 0) {
    return memory_usage(fmt::format("after `memory {}`: options only", action));
  }
  if (auto scope = scope_of(arguments); !scope) return std::move(scope).error();
  if (auto since = past_time(arguments.since, "--since"); !since) return std::move(since).error();
  if (auto age = past_time(arguments.max_age, "--max-age"); !age) return std::move(age).error();
  return {};
}

Result<int> run_memory(Context& context, const MemoryArguments& arguments) {
  if (auto good = check(arguments); !good) return context.refuse(good.error());
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Result<void> done;
  {
    MemoryStore memory(*store, {.endpoint = EmbeddingEndpoint::from_environment()});
    const std::string& action = arguments.action;
    done = action == "add"      ? add(context, memory, arguments)
           : action == "search" ? search(context, memory, arguments)
           : action == "list"   ? list(context, memory, arguments)
           : action == "evict"  ? evict(context, memory, arguments)
                                : forget(context, memory, arguments);
  }
  if (!done) return std::move(done).error();
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_memory(CommandLine& line) {
  line.add<MemoryArguments>(
      "memory", "what an agent should know again: add, search, list, evict, forget",
      [](Declare& declare, MemoryArguments& arguments) {
        declare
            .word_choice("ACTION", arguments.action, {"add", "search", "list", "evict", "forget"},
                         "add, search, list, evict or forget")
            .words("WORD", arguments.words, "a file or -; a query; the ids of nodes")
            .option("--agent", "ID", arguments.agent, "nodes of this agent")
            .option("--project", "ID", arguments.project, "nodes of this project")
            .options("--kind", "KIND", arguments.kinds, "short, long or agent; several times")
            .number("--limit", arguments.limit, 1, kRecallLimitMax, "at most so many (10)")
            .option("--since", "TIME", arguments.since, "search: written since then")
            .flag("--hybrid", arguments.hybrid, "search: by vectors, too")
            .option("--queries", "FILE", arguments.queries,
                    "search: many queries, a JSON object a line; - is standard input")
            .choice("--duplicates", arguments.duplicates, {"keep", "skip", "merge"},
                    "add: what says what another node says")
            .option("--after", "CURSOR", arguments.after, "list: go on after the page before")
            .number("--max-nodes", arguments.max_nodes, 0, 1'000'000'000, "evict: so many may stay")
            .option("--max-age", "TIME", arguments.max_age,
                    "evict: what was neither written nor found since")
            .flag("--dry-run", arguments.dry_run, "evict: say what would go")
            .footer(
                "quipu memory add nodes.jsonl    {id, kind, text, context?, agentId?, projectId?, "
                "meta?, embedding?}\n"
                "quipu memory search 'what does ada prefer' --agent coder --limit 5\n"
                "quipu memory list --kind long\n"
                "quipu memory evict --max-nodes 1000 --dry-run\n"
                "quipu memory forget ID…\n"
                "\n"
                "Vectors are those of the nodes, or made by the endpoint of QUIPU_EMBED_URL and\n"
                "QUIPU_EMBED_MODEL (docs/memory.md has all variables).");
      },
      run_memory);
}

}  // namespace quipu::cli
