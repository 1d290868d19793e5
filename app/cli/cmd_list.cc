#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/pager.h"
#include "cli/project_scope.h"
#include "cli/summary_json.h"
#include "cli/table.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kListedMax = 1'000'000'000;

struct ListArguments {
  bool ids = false;
  bool wide = false;
  bool all = false;
  bool archived = false;
  std::string project;
  std::optional<std::string> agent;
  std::string parent;
  std::string title;
  std::optional<std::string> tag;
  std::string status;
  std::string since;
  std::string until;
  std::size_t limit = kNoLimit;
  std::string after;
};

Result<std::optional<std::int64_t>> time_option(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<std::int64_t>();
  const auto time = read_time(text, now_ms());
  if (time) return std::optional(*time);
  return Error(Code::kInvalidArgument, fmt::format("{} '{}' is no time", option, text))
      .with_hint(
          "A date (2026-03-01), a time (2026-03-01T09:30:00Z), or how long ago (30m 12h 7d 2w).");
}

// What needs no store to be understood.
Result<SessionFilter> filter_of(const ListArguments& arguments) {
  SessionFilter filter{.project = ProjectScope::all()};
  filter.agent = arguments.agent;
  filter.title_contains = arguments.title;
  filter.tag = arguments.tag;
  if (!arguments.status.empty()) filter.status = arguments.status;
  if (arguments.archived || !arguments.all) filter.archived = arguments.archived;
  filter.whole_only = !arguments.all && arguments.parent.empty();
  auto since = time_option(arguments.since, "--since");
  if (!since) return std::move(since).error();
  auto until = time_option(arguments.until, "--until");
  if (!until) return std::move(until).error();
  filter.since_ms = *since;
  filter.until_ms = *until;
  return filter;
}

struct Listing {
  SessionFilter filter{.project = ProjectScope::all()};
  Page<SessionSummary> page;
  std::vector<Project> projects;
  std::optional<Project> project;
  /// Pass the filter as well, but belong to other projects.
  std::size_t elsewhere = 0;
  /// Whether somebody asked for certain ones.
  bool filtered = false;
  /// Sessions that only the archive keeps out.
  std::size_t archived = 0;
  /// Parts of others: sub-agents and the like.
  std::size_t parts = 0;
};

Result<Listing> load(Store& store, const ListArguments& arguments, SessionFilter filter) {
  SessionStore& sessions = store.sessions();
  Listing listing;
  Projects projects(store);
  auto project = chosen_project(projects, arguments.project, arguments.all);
  if (!project) return std::move(project).error();
  listing.project = *project;
  auto known = projects.list();
  if (!known) return std::move(known).error();
  listing.projects = std::move(known).value();

  if (!arguments.parent.empty()) {
    auto parent = resolve_session(sessions, arguments.parent);
    if (!parent) return std::move(parent).error();
    filter.parent = *parent;
  }
  listing.filtered = arguments.archived || arguments.agent || arguments.tag ||
                     !(arguments.project + arguments.parent + arguments.title + arguments.status +
                       arguments.since + arguments.until + arguments.after)
                          .empty();
  if (listing.project) filter.project = ProjectScope::of(listing.project->id);
  auto page = sessions.list_sessions(filter, {.after = arguments.after, .limit = arguments.limit});
  if (!page) return std::move(page).error();
  listing.page = std::move(page).value();
  listing.filter = std::move(filter);
  return listing;
}

// What people should know of: sessions that are there and not shown.
void count_hidden(SessionStore& sessions, const ListArguments& arguments, Listing& listing) {
  const auto count = [&](const SessionFilter& other) {
    const auto found = sessions.list_sessions(other, {.after = {}, .limit = 0});
    return found ? found->total : 0;
  };
  if (listing.project && arguments.project.empty()) {
    SessionFilter everywhere = listing.filter;
    everywhere.project = ProjectScope::all();
    const std::size_t all = count(everywhere);
    listing.elsewhere = all - std::min(all, listing.page.total);  // others may write meanwhile
  }
  if (listing.filter.archived == false) {
    SessionFilter hidden = listing.filter;
    hidden.archived = true;
    listing.archived = count(hidden);
  }
  if (listing.filter.whole_only) {
    SessionFilter with_parts = listing.filter;
    with_parts.whole_only = false;
    const std::size_t all = count(with_parts);
    listing.parts = all - std::min(all, listing.page.total);
  }
}

void print_table(Context& context, SessionStore& sessions, const Listing& listing, bool wide) {
  const ShortIds short_ids = ShortIds::of_sessions(sessions);
  const std::int64_t now = now_ms();

  // An id that another one begins with is shown whole where there is room: the title says more.
  Table table({{.title = "ID", .fit = wide ? Table::Fit::kWhole : Table::Fit::kCutEnd},
               {.title = "TITLE", .fit = Table::Fit::kCutEnd},
               {.title = "MESSAGES", .right = true},
               {.title = "TOKENS", .right = true, .expendable = true},
               {.title = "ACTIVE"},
               {.title = "PROJECT", .fit = Table::Fit::kCutEnd, .expendable = true}});
  for (const auto& session : listing.page.items) {
    std::string title = context.shown(session.title);
    if (!session.parent_session.empty() && title.empty()) title = "(fork)";
    if (session.damaged > 0) title = "(damaged) " + title;
    if (!session.problem.empty()) title = "(unreadable)";
    if (session.archived) title = "(archived) " + title;
    table.add({wide ? session.session_id : short_ids.of(session.session_id), std::move(title),
               count_text(session.counts.messages),
               count_text(session.counts.tokens_in + session.counts.tokens_out),
               ago_text(session.last_active_ms, now),
               context.shown(project_name(listing.projects, session.project_id))});
  }
  Terminal terminal = context.out.terminal();
  if (wide) terminal.width = 0;
  for (const std::string& line : table.lines(terminal)) context.out.line(line);
}

void print_notes(Context& context, const Listing& listing) {
  if (listing.elsewhere > 0) {
    context.note(fmt::format("Only project {}; {} more in other projects: `quipu list --all`.",
                             context.shown(listing.project->name), listing.elsewhere));
  }
  if (listing.archived > 0) {
    context.note(fmt::format("{} archived: `quipu list --archived`.", listing.archived));
  }
  if (listing.parts > 0) {
    context.note(fmt::format(
        "{} that belong to others (sub-agents and the like): `quipu list --all`.", listing.parts));
  }
  if (!listing.page.next.empty()) {
    context.note(fmt::format("{} of {}; the next: --after {}", listing.page.items.size(),
                             listing.page.total, listing.page.next));
  }
}

// A program that pages needs to know how to go on.
void print_json(Context& context, const Listing& listing, bool paged) {
  JsonWriter json;
  if (paged) json.begin_object().key("sessions");
  json.begin_array();
  for (const auto& session : listing.page.items) write_summary(json, session);
  json.end_array();
  if (paged) {
    json.optional_member("next", listing.page.next)
        .member("total", std::uint64_t{listing.page.total})
        .end_object();
  }
  context.out.data_line(json.text());
}

Result<int> run_list(Context& context, const ListArguments& arguments) {
  auto filter = filter_of(arguments);
  if (!filter) return context.refuse(filter.error());
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto listing = load(*store, arguments, *filter);
  const bool refused = !listing && listing.error().code() == Code::kInvalidArgument;
  if (refused && !arguments.after.empty()) return context.refuse(listing.error());
  if (!listing) return std::move(listing).error();

  if (!context.json && !arguments.ids) count_hidden(store->sessions(), arguments, *listing);

  Pager pager;
  const auto& sessions = listing->page.items;
  if (context.json) {
    print_json(context, *listing, arguments.limit != kNoLimit || !arguments.after.empty());
  } else if (arguments.ids) {
    for (const auto& session : sessions) context.out.data_line(session.session_id);
  } else if (sessions.empty()) {
    const bool others = listing->elsewhere + listing->archived > 0 || listing->filtered;
    context.note(others ? "No such sessions." : "No sessions yet: `quipu new` makes one.");
  } else {
    if (!context.no_pager) pager.start(context.out);
    print_table(context, store->sessions(), *listing, arguments.wide);
  }
  pager.finish();
  if (!arguments.ids) print_notes(context, *listing);
  int code = kExitOk;
  for (const auto& session : sessions) {
    context.warn_of_damage(session.session_id, session.damaged);
    if (session.problem.empty()) continue;
    context.warn("session " + session.session_id + ": " + session.problem);
    const auto ends = store->sessions().session_ends(session.session_id);
    if (code == kExitOk) code = ends ? kExitCorrupt : exit_code(ends.error().code());
  }
  return code;
}

}  // namespace

void add_list(CommandLine& line) {
  line.add<ListArguments>(
      "list", "list the sessions, newest first",
      [](Declare& declare, ListArguments& arguments) {
        declare.flag("--all", arguments.all, "of all projects, archived ones and sub-agents too")
            .option("--project", "ID|PATH", arguments.project,
                    "of this project (else the one of the current directory)")
            .option("--agent", "ID", arguments.agent, "of this agent")
            .flag("--archived", arguments.archived, "only archived ones")
            .option("--parent", "SESSION", arguments.parent, "only forks of this session")
            .option("--title", "TEXT", arguments.title, "whose title contains this")
            .option("--tag", "TAG", arguments.tag, "that have this tag")
            .choice("--status", arguments.status, {"active", "terminated"}, "that are that")
            .option("--since", "TIME", arguments.since, "last active at or after")
            .option("--until", "TIME", arguments.until, "last active before")
            .number("--limit", arguments.limit, 0, kListedMax, "at most this many")
            .option("--after", "CURSOR", arguments.after, "go on after a page of --limit")
            .flag("--ids", arguments.ids, "only the ids, one a line")
            .flag("--wide", arguments.wide, "nothing is shortened")
            .footer("TIME: 2026-03-01, 2026-03-01T09:30:00Z, or how long ago: 30m, 12h, 7d, 2w.")
            .alias("ls");
      },
      run_list);
}

}  // namespace quipu::cli
