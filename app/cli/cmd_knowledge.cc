#include <unistd.h>
#include <algorithm>

#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project_scope.h"
#include "cli/recall_json.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/knowledge.h"
#include "quipu/limits.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kBatchDocuments = 5000;
constexpr std::size_t kBatchBytes = std::size_t{32} << 20;

struct KnowledgeArguments {
  std::string action;
  std::vector<std::string> words;
  std::string jsonl;
  std::string title;
  std::size_t limit = 10;
  bool hybrid = false;
  std::vector<std::string> filters;
  std::string queries;
  std::string after;
};

Error knowledge_usage(std::string message) {
  return Error(Code::kInvalidArgument, std::move(message))
      .with_hint("`quipu knowledge --help` has the rest.");
}

// --- add -----------------------------------------------------------------------------------

void print_report(Context& context, const AddReport& report) {
  if (!context.json) {
    return context.out.line(fmt::format("{} added, {} replaced, {} unchanged", report.added,
                                        report.replaced, report.unchanged));
  }
  JsonWriter json;
  json.begin_object()
      .member("added", std::uint64_t{report.added})
      .member("replaced", std::uint64_t{report.replaced})
      .member("unchanged", std::uint64_t{report.unchanged})
      .end_object();
  context.out.data_line(json.text());
}

void add_up(AddReport& sum, const AddReport& part) {
  sum.added += part.added;
  sum.replaced += part.replaced;
  sum.unchanged += part.unchanged;
}

Result<void> add_lines(Context& context, KnowledgeIndex& knowledge,
                       const KnowledgeArguments& arguments, AddReport& sum) {
  auto input = Input::open(arguments.jsonl);
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1)
    context.note("Reading documents from the terminal; Ctrl-D ends them.");
  LineReader reader(input->fd(), input->place(), 2 * kLineBytesMax);
  Progress progress(input->size() > 0 && !context.json, context.err, "adding", input->size());
  for (;;) {
    auto lines = JsonLines<KnowledgeDocument>::read(reader, kBatchDocuments, kBatchBytes,
                                                    read_knowledge_document);
    if (!lines) return std::move(lines).error();
    if (lines->items.empty()) return {};
    auto stored = knowledge.add(lines->items);
    if (!stored) {
      return std::move(stored).error().in(
          fmt::format("{}: lines {} to {}", input->place(), lines->first, lines->last));
    }
    add_up(sum, *stored);
    progress.set(reader.bytes_read());
  }
}

// A file is known by its absolute path: added from elsewhere it is the same document.
Result<KnowledgeDocument> document_of(const std::string& file, const std::string& title) {
  auto input = Input::open(file);
  if (!input) return std::move(input).error();
  auto text = input->read_all(kLineBytesMax);
  if (!text) return std::move(text).error();
  KnowledgeDocument document;
  document.id = absolute_path(file);
  document.title = title.empty() ? std::filesystem::path(file).filename().string() : title;
  document.text = std::move(text).value();
  return document;
}

Result<void> add_files(Context& context, KnowledgeIndex& knowledge,
                       const KnowledgeArguments& arguments, AddReport& sum) {
  Progress progress(!context.json, context.err, "adding", arguments.words.size());
  std::vector<KnowledgeDocument> batch;
  std::size_t bytes = 0;
  const auto store = [&]() -> Result<void> {
    auto stored = knowledge.add(batch);
    if (!stored) return std::move(stored).error();
    add_up(sum, *stored);
    batch.clear();
    bytes = 0;
    return {};
  };
  for (std::size_t i = 0; i < arguments.words.size(); ++i) {
    auto document = document_of(arguments.words[i], arguments.title);
    if (!document) return std::move(document).error();
    bytes += document->text.size();
    batch.push_back(std::move(document).value());
    progress.set(i + 1);
    if (bytes < kBatchBytes && batch.size() < kBatchDocuments) continue;
    if (auto stored = store(); !stored) return stored;
  }
  return batch.empty() ? Result<void>() : store();
}

Result<void> add(Context& context, KnowledgeIndex& knowledge, const KnowledgeArguments& arguments) {
  AddReport sum;
  auto added = arguments.jsonl.empty() ? add_files(context, knowledge, arguments, sum)
                                       : add_lines(context, knowledge, arguments, sum);
  if (!added) return added;
  print_report(context, sum);
  return make_vectors(context, knowledge);
}

// --- query -----------------------------------------------------------------------------------

void write_document(JsonWriter& json, const StoredDocument& document) {
  json.optional_member("title", document.title)
      .key("meta")
      .raw(document.meta.empty() ? "null" : document.meta)
      .member("bytes", std::uint64_t{document.bytes})
      .member("chunks", std::uint64_t{document.chunks});
  write_time(json, "created", document.created_ms);
  write_time(json, "updated", document.updated_ms);
}

void write_items(JsonWriter& json, const Hits<KnowledgeHit>& hits) {
  json.key("items").begin_array();
  for (const KnowledgeHit& hit : hits.items) {
    json.begin_object().member("id", hit.document.id);
    write_rank(json, hit.score, hit.excerpt, hit.reason);
    json.key("chunk")
        .begin_object()
        .member("number", std::uint64_t{hit.chunk})
        .member("begin", std::uint64_t{hit.begin})
        .member("end", std::uint64_t{hit.end})
        .optional_member("headings", hit.headings)
        .member("text", hit.text)
        .end_object();
    write_document(json, hit.document);
    json.end_object();
  }
  json.end_array();
}

void print_hits(Context& context, const Hits<KnowledgeHit>& hits) {
  for (const KnowledgeHit& hit : hits.items) {
    const std::string id =
        paint(context.out.terminal(), Style::kCyan, context.shown(hit.document.id));
    const std::string place =
        hit.headings.empty() ? "" : fmt::format("  {}", context.shown(hit.headings));
    context.out.line(fmt::format("{:8.3g}  {}{}", hit.score, id, place));
    context.out.line(fmt::format("          {}", shown_excerpt(context, hit.excerpt)));
  }
  print_notes(context, hits);
}

Result<QueryOptions> query_options(const KnowledgeArguments& arguments) {
  QueryOptions options;
  options.ranking.hybrid = arguments.hybrid;
  for (const std::string& filter : arguments.filters) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos || equals == 0) {
      return knowledge_usage(fmt::format("--filter '{}' is not NAME=VALUE", filter));
    }
    options.filter.emplace_back(filter.substr(0, equals), filter.substr(equals + 1));
  }
  return options;
}

// Queries as JSON lines of the form of a document, answered a line each.
Result<void> query_many(Context& context, KnowledgeIndex& knowledge,
                        const KnowledgeArguments& arguments, QueryOptions options) {
  auto input = Input::open(arguments.queries);
  if (!input) return std::move(input).error();
  LineReader reader(input->fd(), input->place(), 2 * kLineBytesMax);
  while (!context.out.failed()) {
    auto lines =
        JsonLines<KnowledgeDocument>::read(reader, 1, kBatchBytes, read_knowledge_document);
    if (!lines) return std::move(lines).error();
    if (lines->items.empty()) break;
    KnowledgeDocument& query = lines->items.front();
    options.ranking.embedding = std::move(query.embedding);
    auto hits = knowledge.query(query.text, arguments.limit, options);
    if (!hits) return std::move(hits).error();
    JsonWriter json;
    json.begin_object().member("id", query.id);
    write_items(json, *hits);
    write_ranking(json, options.ranking, *hits);
    context.out.data_line(json.end_object().text());
    // At once: whoever asks may wait for the answer before it asks again.
    if (auto written = context.out.flush(); !written) return std::move(written).error();
  }
  return {};
}

Result<void> query(Context& context, KnowledgeIndex& knowledge,
                   const KnowledgeArguments& arguments) {
  auto options = query_options(arguments);
  if (!options) return std::move(options).error();
  if (!arguments.queries.empty()) return query_many(context, knowledge, arguments, *options);
  auto hits = knowledge.query(joined(arguments.words), arguments.limit, *options);
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

// --- list, remove ------------------------------------------------------------------------------

Result<void> list(Context& context, KnowledgeIndex& knowledge,
                  const KnowledgeArguments& arguments) {
  auto page = knowledge.list({.after = arguments.after, .limit = arguments.limit});
  if (!page) return std::move(page).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object().key("items").begin_array();
    for (const StoredDocument& one : page->items) {
      json.begin_object().member("id", one.id);
      write_document(json, one);
      json.end_object();
    }
    json.end_array().member("total", std::uint64_t{page->total});
    if (!page->next.empty()) json.member("next", page->next);
    context.out.data_line(json.end_object().text());
    return {};
  }
  Table table({{.title = "ID", .fit = Table::Fit::kCutStart},
               {.title = "TITLE", .fit = Table::Fit::kCutEnd},
               {.title = "SIZE", .right = true},
               {.title = "CHUNKS", .right = true, .expendable = true},
               {.title = "UPDATED", .expendable = true}});
  for (const StoredDocument& one : page->items) {
    table.add({context.shown(one.id), context.shown(one.title), bytes_text(one.bytes),
               std::to_string(one.chunks), ago_text(one.updated_ms, now_ms())});
  }
  for (const std::string& line : table.lines(context.out.terminal())) context.out.line(line);
  if (!page->next.empty()) {
    context.note(fmt::format("{} of {}; the next with --after {}", page->items.size(), page->total,
                             page->next));
  }
  return {};
}

// By id, or by the name of a file that was added.
Result<void> remove(Context& context, KnowledgeIndex& knowledge,
                    const KnowledgeArguments& arguments) {
  std::vector<std::string> ids = arguments.words;
  for (const std::string& word : arguments.words) ids.push_back(absolute_path(word));
  auto count = knowledge.remove(ids);
  if (!count) return std::move(count).error();
  return answer_taken(context, "removed", *count, arguments.words);
}

// What the arguments say, before anything is opened.
Result<void> check(const KnowledgeArguments& arguments) {
  const std::size_t words = arguments.words.size();
  const std::string& action = arguments.action;
  if (action == "add" &&
      std::find(arguments.words.begin(), arguments.words.end(), "-") != arguments.words.end()) {
    return knowledge_usage(
        "a document is known by its file; `--jsonl -` reads them from standard input");
  }
  if (action == "add" && (words == 0) == arguments.jsonl.empty()) {
    return knowledge_usage("after `knowledge add`: files, or --jsonl FILE");
  }
  if (action == "query" && arguments.queries.empty() == (words == 0)) {
    return knowledge_usage("after `knowledge query`: a query, or --queries FILE");
  }
  if (action == "remove" && words == 0)
    return knowledge_usage("after `knowledge remove`: ids or files");
  if (action == "list" && words > 0) return knowledge_usage("after `knowledge list`: options only");
  if (auto options = query_options(arguments); !options) return std::move(options).error();
  return {};
}

Result<int> run_knowledge(Context& context, const KnowledgeArguments& arguments) {
  if (auto good = check(arguments); !good) return context.refuse(good.error());
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Result<void> done;
  {
    KnowledgeIndex knowledge(*store, {.endpoint = EmbeddingEndpoint::from_environment()});
    const std::string& action = arguments.action;
    done = action == "add"     ? add(context, knowledge, arguments)
           : action == "query" ? query(context, knowledge, arguments)
           : action == "list"  ? list(context, knowledge, arguments)
                               : remove(context, knowledge, arguments);
  }
  if (!done) return std::move(done).error();
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_knowledge(CommandLine& line) {
  line.add<KnowledgeArguments>(
      "knowledge", "documents to look things up in: add, query, list, remove",
      [](Declare& declare, KnowledgeArguments& arguments) {
        declare
            .word_choice("ACTION", arguments.action, {"add", "query", "list", "remove"},
                         "add, query, list or remove")
            .words("WORD", arguments.words, "files; a query; ids of documents")
            .option("--jsonl", "FILE", arguments.jsonl,
                    "add: documents, a JSON object a line; - is standard input")
            .option("--title", "TEXT", arguments.title, "add: the title of a file (else its name)")
            .number("--limit", arguments.limit, 1, kRecallLimitMax, "at most so many (10)")
            .flag("--hybrid", arguments.hybrid, "query: by vectors, too")
            .options("--filter", "NAME=VALUE", arguments.filters,
                     "query: documents whose meta says so; several times")
            .option("--queries", "FILE", arguments.queries,
                    "query: many of them, a JSON object a line; - is standard input")
            .option("--after", "CURSOR", arguments.after, "list: go on after the page before")
            .footer(
                "quipu knowledge add docs/*.md\n"
                "quipu knowledge add --jsonl -    {id, text, title?, embedding?, meta?}\n"
                "quipu knowledge query 'how do I undo' --limit 5\n"
                "quipu knowledge remove ID|FILE…\n"
                "\n"
                "A file is known by its path: added again it replaces what was there. Vectors are "
                "those of the\ndocuments, or made by the endpoint of QUIPU_EMBED_URL "
                "and\nQUIPU_EMBED_MODEL (docs/memory.md has all variables).");
      },
      run_knowledge);
}

}  // namespace quipu::cli
