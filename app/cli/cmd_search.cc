#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/index_progress.h"
#include "cli/input.h"
#include "cli/json_in.h"
#include "cli/json_out.h"
#include "cli/pager.h"
#include "cli/project_scope.h"
#include "cli/times.h"
#include "quipu/search.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kFoundMax = 1000;
constexpr std::size_t kSnippetBytes = 160;
constexpr std::size_t kQueryLineBytesMax = std::size_t{16} << 20;

struct SearchArguments {
  std::string query;
  std::string queries;
  bool all = false;
  bool paths = false;
  std::optional<std::string> neighbours;
  std::string project;
  std::optional<std::string> agent;
  std::string role;
  std::optional<std::string> tool;
  std::string since;
  std::string until;
  std::string session;
  std::string branch;
  std::size_t limit = 20;
  std::string after;
};

Result<std::optional<std::int64_t>> time_of(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<std::int64_t>();
  const auto time = read_time(text, now_ms());
  if (time) return std::optional(*time);
  return Error(Code::kInvalidArgument, fmt::format("{} '{}' is no time", option, text))
      .with_hint(
          "A date (2026-03-01), a time (2026-03-01T09:30:00Z), or how long ago (30m 12h 7d 2w).");
}

Result<double> weight_of(const std::string& text) {
  double weight = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, weight);
  if (read.ec == std::errc() && read.ptr == end && weight >= 0 && weight <= 1) return weight;
  return Error(Code::kInvalidArgument,
               fmt::format("--neighbours '{}' is no number between 0 and 1", text));
}

// What needs no store to be understood.
Result<SearchOptions> options_of(const SearchArguments& arguments) {
  SearchOptions options{.sessions = {.project = ProjectScope::all()}};
  options.sessions.agent = arguments.agent;
  if (!arguments.role.empty()) options.role = arguments.role;
  options.tool = arguments.tool;
  options.snippet_bytes = kSnippetBytes;
  options.paths = arguments.paths;
  if (arguments.neighbours) {
    const auto weight = weight_of(*arguments.neighbours);
    if (!weight) return weight.error();
    options.joined_weight = *weight;
  }
  auto since = time_of(arguments.since, "--since");
  if (!since) return std::move(since).error();
  auto until = time_of(arguments.until, "--until");
  if (!until) return std::move(until).error();
  options.from_ms = *since;
  options.to_ms = *until;
  if (!arguments.branch.empty()) options.branch = arguments.branch;
  if (arguments.query.empty() == arguments.queries.empty()) {
    return Error(Code::kInvalidArgument, "a QUERY or --queries, one of them");
  }
  return options;
}

/// What is searched, and what people should know of it.
struct Searched {
  SearchOptions options{.sessions = {.project = ProjectScope::all()}};
  std::optional<Project> project;  // the search is limited to
};

Result<Searched> scope_of(Store& store, const SearchArguments& arguments, SearchOptions options) {
  Searched searched{.options = std::move(options), .project = {}};
  if (!arguments.session.empty()) {
    auto session = resolve_session(store.sessions(), arguments.session);
    if (!session) return std::move(session).error();
    searched.options.session = *session;
  }
  Projects projects(store);
  // A session that is named is meant, whosever it is.
  const bool all = arguments.all || !arguments.session.empty();
  auto project = chosen_project(projects, arguments.project, all);
  if (!project) return std::move(project).error();
  if (*project) searched.options.sessions.project = ProjectScope::of((*project)->id);
  searched.project = *project;
  return searched;
}

void write_hit(JsonWriter& json, const SearchHit& hit) {
  json.begin_object()
      .member("id", hit.entry_id)
      .key("score")
      .raw(fmt::format("{:.6g}", hit.score))
      .member("sessionId", hit.session_id)
      .member("entryId", hit.entry_id)
      .member("ordinal", hit.ordinal)
      .member("type", hit.type)
      .member("roles", hit.roles)
      .member("tools", hit.tools)
      .optional_member("timestamp", hit.timestamp)
      .optional_member("projectId", hit.project_id)
      .optional_member("agentId", hit.agent_id)
      .optional_member("title", hit.title)
      .member("neighbour", hit.neighbour)
      .member("snippet", hit.snippet)
      .key("marks")
      .begin_array();
  for (const auto& [begin, end] : hit.marks) {
    json.begin_array().value(std::uint64_t{begin}).value(std::uint64_t{end}).end_array();
  }
  json.end_array();
  if (!hit.path.empty()) json.member("path", hit.path);
  json.end_object();
}

void write_page(JsonWriter& json, const SearchPage& page) {
  json.key("items").begin_array();
  for (const SearchHit& hit : page.items) write_hit(json, hit);
  json.end_array().optional_member("next", page.next).member("total", std::uint64_t{page.total});
  if (page.query_is_cut) json.member("queryIsCut", true);
}

/// A snippet that is safe for a terminal, and which of its bytes matched.
struct MarkedText {
  std::string text;
  std::vector<bool> marked;

  void add(std::string_view safe, bool is_match) {
    text += safe;
    marked.resize(text.size(), is_match);
  }
};

MarkedText marked_text(const Context& context, const SearchHit& hit) {
  const Terminal& terminal = context.out.terminal();
  const std::string_view ellipsis = Glyphs::of(terminal).ellipsis;
  const auto safe = [&](std::size_t from, std::size_t to) {
    return safe_text(std::string_view(hit.snippet).substr(from, to - from), terminal.charset());
  };
  MarkedText text;
  if (hit.cut_before) text.add(ellipsis, false);
  std::size_t at = 0;
  for (const auto& [begin, end] : hit.marks) {
    text.add(safe(at, begin), false);
    // Without colours the marks are in the text.
    const std::string_view mark = terminal.color ? "" : "**";
    text.add(std::string(mark) + safe(begin, end) + std::string(mark), true);
    at = end;
  }
  text.add(safe(at, hit.snippet.size()), false);
  if (hit.cut_after) text.add(ellipsis, false);
  return text;
}

// Lines are stretches of the text without the spaces that they were broken at.
void print_marked(Context& context, const MarkedText& marked, std::size_t columns) {
  std::size_t at = 0;
  for (const std::string& line : wrap(marked.text, columns)) {
    while (at < marked.text.size() && marked.text.compare(at, line.size(), line) != 0) ++at;
    if (at + line.size() > marked.text.size()) return context.out.line("  " + line);
    std::string painted = "  ";
    for (std::size_t from = 0; from < line.size();) {
      std::size_t to = from;
      while (to < line.size() && marked.marked[at + to] == marked.marked[at + from]) ++to;
      const std::string_view stretch = std::string_view(line).substr(from, to - from);
      painted += marked.marked[at + from] ? paint(context.out.terminal(), Style::kYellow, stretch)
                                          : std::string(stretch);
      from = to;
    }
    context.out.line(painted);
    at += line.size();
  }
}

std::string who(const SearchHit& hit) {
  std::string text;
  for (const std::string& role : hit.roles) text += (text.empty() ? "" : "+") + role;
  for (const std::string& tool : hit.tools) text += " " + tool;
  return text;
}

// Ids of entries are whole: what is unique in its session is not known here.
void print_hits(Context& context, SessionStore& sessions, const Page<SearchHit>& page) {
  const ShortIds short_ids = ShortIds::of_sessions(sessions);
  const Terminal& terminal = context.out.terminal();
  for (const SearchHit& hit : page.items) {
    const std::string place = context.shown(short_ids.of(hit.session_id) + " " + hit.entry_id);
    std::string rest = "  " + context.shown(who(hit));
    if (!hit.timestamp.empty()) rest += "  " + context.shown(local_text(hit.timestamp));
    if (!hit.title.empty()) rest += "  " + context.shown(hit.title);
    if (hit.neighbour) rest += "  (beside a hit)";
    if (terminal.width > 0) {
      const std::size_t left = terminal.width - std::min(terminal.width, columns_of(place));
      rest = cut(rest, left, Glyphs::of(terminal).ellipsis);
    }
    context.out.line(paint(terminal, Style::kCyan, place) + paint(terminal, Style::kDim, rest));
    print_marked(context, marked_text(context, hit),
                 terminal.width > 2 ? terminal.width - 2 : terminal.width);
  }
}

Result<int> answer(Context& context, Store& store, SessionSearch& search,
                   const SearchArguments& arguments, const Searched& searched) {
  auto page = search.search(arguments.query, searched.options,
                            {.after = arguments.after, .limit = arguments.limit});
  const bool refused = !page && page.error().code() == Code::kInvalidArgument;
  if (refused) return context.refuse(page.error());
  if (!page) return std::move(page).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object();
    write_page(json, *page);
    context.out.data_line(json.end_object().text());
    return kExitOk;
  }
  if (page->query_is_cut) {
    context.warn("the query has more than 64 terms or 64 KiB: what is beyond was left out");
  }
  if (page->items.empty()) {
    context.note(searched.project
                     ? fmt::format("Nothing found in project {}: `quipu search --all` looks into "
                                   "all of them.",
                                   context.shown(searched.project->name))
                     : "Nothing found.");
    return kExitOk;
  }
  Pager pager;
  if (!context.no_pager) pager.start(context.out);
  print_hits(context, store.sessions(), *page);
  pager.finish();
  if (!page->next.empty()) context.note("More: --after " + page->next);
  return kExitOk;
}

// One of many questions: as all of them, but for what it says itself.
Result<SearchPage> answer_one(Store& store, SessionSearch& search, const JsonView& asked,
                              SearchOptions options, std::size_t limit) {
  // What was appended since the last question is found.
  options.refresh = true;
  if (asked.member("session").is_string()) {
    auto session = resolve_session(store.sessions(), asked.member("session").string());
    if (!session) return std::move(session).error();
    options.session = *session;
    // It is meant, whosever it is.
    options.sessions.project = ProjectScope::all();
  }
  return search.search(asked.member("text").string(), options, {.after = {}, .limit = limit});
}

// A line of JSON for each line of JSON: for programs that have many questions.
Result<int> answer_all(Context& context, Store& store, SessionSearch& search,
                       const SearchArguments& arguments, const Searched& searched) {
  auto input = Input::open(arguments.queries);
  if (!input) return std::move(input).error();
  LineReader lines(input->fd(), input->place(), kQueryLineBytesMax);
  int exit = kExitOk;
  for (;;) {
    auto line = lines.next();
    if (!line) return std::move(line).error();
    if (!*line) return exit;
    if ((*line)->find_first_not_of(" \t") == std::string_view::npos) continue;
    const JsonView asked(**line);
    if (!asked.member("text").is_string()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("{}: line {}: no \"text\"", input->place(), lines.line_number()))
          .with_hint(R"(a query a line: {"id":"q1","text":"words"})");
    }
    const auto page = answer_one(store, search, asked, searched.options, arguments.limit);
    const bool is_of_line = !page && (page.error().code() == Code::kNotFound ||
                                      page.error().code() == Code::kInvalidArgument);
    if (!page && !is_of_line) return page.error();
    JsonWriter json;
    json.begin_object();
    if (asked.member("id").exists()) json.key("id").raw(asked.member("id").raw());
    if (page) {
      write_page(json, *page);
    } else {
      json.key("error").raw(error_object(page.error()));
      exit = kExitFailed;
    }
    context.out.data_line(json.end_object().text());
    // Whoever asks may wait for the answer before it asks again.
    if (auto written = context.out.flush(); !written) return std::move(written).error();
  }
}

Result<int> run_search(Context& context, const SearchArguments& arguments) {
  auto options = options_of(arguments);
  if (!options) return context.refuse(options.error());
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto searched = scope_of(*store, arguments, std::move(options).value());
  if (!searched) return std::move(searched).error();
  SessionSearch search(*store);
  auto report = with_index_progress(
      context, "Indexing", [&](const IndexProgress& progress) { return search.refresh(progress); });
  if (!report && report.error().code() != Code::kBusy) return std::move(report).error();
  if (report) {
    warn_of_unread(context, *report);
  } else {
    context.warn("what is newest may not be found: " + report.error().message());
  }
  searched->options.refresh = false;
  return arguments.queries.empty() ? answer(context, *store, search, arguments, *searched)
                                   : answer_all(context, *store, search, arguments, *searched);
}

}  // namespace

void add_search(CommandLine& line) {
  line.add<SearchArguments>(
      "search", "find words in all sessions, best first",
      [](Declare& declare, SearchArguments& arguments) {
        declare
            .optional_positional("QUERY", arguments.query,
                                 "words; \"a phrase\" +must -not begin* role:user tool:bash …")
            .flag("--all", arguments.all, "of all projects")
            .option("--project", "ID|PATH", arguments.project,
                    "of this project (else the one of the current directory)")
            .option("--agent", "ID", arguments.agent, "of this agent")
            .option("--session", "SESSION", arguments.session, "what this session sees")
            .option("--branch", "ENTRY", arguments.branch,
                    "only the path to this entry of --session, or to the `head` of any")
            .choice("--role", arguments.role,
                    {"user", "assistant", "system", "tool", "summary", "title", "label"},
                    "said by: user, assistant, system, tool, summary, title, label")
            .option("--tool", "NAME", arguments.tool, "calls of this tool and its results")
            .option("--since", "TIME", arguments.since, "said at or after")
            .option("--until", "TIME", arguments.until, "said before")
            .number("--limit", arguments.limit, 1, kFoundMax, "at most this many")
            .option("--after", "CURSOR", arguments.after, "go on after a page")
            .option("--neighbours", "W", arguments.neighbours,
                    "what entries beside the hits of a question count, 0 to 1 (0.5); 0: none")
            .flag("--paths", arguments.paths, "with --json: ids from the root to each hit")
            .option("--queries", "FILE", arguments.queries,
                    "JSON lines {\"id\",\"text\",\"session\"?}; an answer a line; - is stdin")
            .footer(
                "Example: quipu search 'parse_query \"syntax error\" -draft role:assistant'\n"
                "Fields of a query: role tool agent project session branch after before.\n"
                "TIME: 2026-03-01, 2026-03-01T09:30:00Z, or how long ago: 30m, 12h, 7d, 2w.");
      },
      run_search);
}

}  // namespace quipu::cli
