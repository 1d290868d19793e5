#include <algorithm>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/summary_json.h"
#include "cli/table.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct ListArguments {
  bool ids = false;
  bool wide = false;
};

struct Listing {
  std::vector<SessionSummary> sessions;  // newest first
  // Sessions that cannot be described are reported one by one; the others are
  // listed all the same.
  std::optional<Error> problem;
};

Result<Listing> load(Context& context, SessionStore& sessions) {
  auto ids = sessions.list_sessions();
  if (!ids) return std::move(ids).error();
  Listing listing;
  Progress progress(!context.json, context.err, "reading", ids->size());
  for (std::size_t i = 0; i < ids->size(); ++i) {
    auto summary = sessions.describe_session((*ids)[i]);
    progress.set(i + 1);
    if (summary) {
      listing.sessions.push_back(std::move(summary).value());
    } else if (summary.error().code() != Code::kNotFound) {  // else removed meanwhile
      context.warn("session " + (*ids)[i] + ": " + summary.error().message());
      if (!listing.problem) listing.problem = std::move(summary).error();
    }
  }
  std::sort(listing.sessions.begin(), listing.sessions.end(), [](const auto& a, const auto& b) {
    return a.modified_ms != b.modified_ms ? a.modified_ms > b.modified_ms
                                          : a.session_id > b.session_id;
  });
  return listing;
}

// "~/project" for what is below the home directory.
std::string short_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  const std::string prefix = home == nullptr ? std::string() : std::string(home) + "/";
  return prefix.size() > 2 && path.starts_with(prefix) ? "~/" + path.substr(prefix.size()) : path;
}

void print_table(Context& context, const std::vector<SessionSummary>& sessions, bool wide) {
  std::vector<std::string> ids;
  for (const auto& session : sessions) ids.push_back(session.session_id);
  const ShortIds short_ids(ids);

  Table table({{.title = "ID"},
               {.title = "UPDATED", .expendable = true},
               {.title = "ENTRIES", .right = true},
               {.title = "TITLE", .fit = Table::Fit::kCutEnd},
               {.title = "DIRECTORY", .fit = Table::Fit::kCutStart, .expendable = true}});
  for (const auto& session : sessions) {
    std::string title = context.shown(session.title);
    if (session.damaged > 0) title = "(damaged) " + title;
    if (!session.parent_session.empty() && title.empty()) title = "(fork)";
    table.add({wide ? session.session_id : short_ids.of(session.session_id),
               local_text(session.modified_ms), std::to_string(session.entries), std::move(title),
               context.shown(short_path(session.cwd))});
  }
  Terminal terminal = context.out.terminal();
  if (wide) terminal.width = 0;
  for (const std::string& line : table.lines(terminal)) context.out.line(line);
}

Result<int> run_list(Context& context, const ListArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto listing = load(context, store->sessions());
  if (!listing) return std::move(listing).error();

  Pager pager;
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const auto& session : listing->sessions) write_summary(json, session);
    context.out.data_line(json.end_array().text());
  } else if (arguments.ids) {
    for (const auto& session : listing->sessions) context.out.data_line(session.session_id);
  } else if (listing->sessions.empty()) {
    context.note("No sessions yet: `quipu new` makes one.");
  } else {
    if (!context.no_pager) pager.start(context.out);
    print_table(context, listing->sessions, arguments.wide);
  }
  pager.finish();
  for (const auto& session : listing->sessions) {
    context.warn_of_damage(session.session_id, session.damaged);
  }
  return listing->problem ? exit_code(listing->problem->code()) : kExitOk;
}

}  // namespace

void add_list(CommandLine& line) {
  line.add<ListArguments>(
      "list", "list the sessions, newest first",
      [](Declare& declare, ListArguments& arguments) {
        declare.flag("--ids", arguments.ids, "only the ids, one a line")
            .flag("--wide", arguments.wide, "nothing is shortened")
            .alias("ls");
      },
      run_list);
}

}  // namespace quipu::cli
