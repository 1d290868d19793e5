#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/progress.h"
#include "cli/times.h"
#include "quipu/copy.h"

namespace quipu::cli {
namespace {

struct CopyArguments {
  std::string from;
  std::string to;
  std::vector<std::string> sessions;
};

void write_report(Context& context, const CopyReport& report) {
  JsonWriter json;
  json.begin_object()
      .member("sessions", std::uint64_t{report.sessions})
      .member("added", report.entries_added)
      .member("present", report.entries_present)
      .member("attachments", std::uint64_t{report.attachments_added})
      .key("problems")
      .begin_array();
  for (const CopyProblem& problem : report.problems) {
    json.begin_object()
        .member("sessionId", problem.session_id)
        .key("error")
        .raw(error_object(problem.error))
        .end_object();
  }
  json.end_array().end_object();
  context.out.data_line(json.text());
}

Result<int> run_copy(Context& context, const CopyArguments& arguments) {
  auto from = Store::open(arguments.from);
  if (!from) return std::move(from).error().in(arguments.from);
  auto to = Store::open(arguments.to, {.create = true});
  if (!to) return std::move(to).error().in(arguments.to);
  auto all = from->sessions().session_ids();
  if (!all) return std::move(all).error();
  CopyOptions options;
  options.sessions = arguments.sessions;
  const std::size_t expected = options.sessions.empty() ? all->size() : options.sessions.size();
  auto report = [&] {
    Progress progress(!context.json, context.err, "copying", expected);
    options.progress = [&](std::size_t done, std::size_t) { progress.set(done); };
    return copy_store(*from, *to, options);
  }();
  if (!report) return std::move(report).error();
  if (context.json) {
    write_report(context, *report);
  } else {
    context.out.line(fmt::format("{}: {} copied and compared, {} were there; {} copied",
                                 counted(report->sessions, "session", "sessions"),
                                 counted(report->entries_added, "entry", "entries"),
                                 report->entries_present,
                                 counted(report->attachments_added, "attachment", "attachments")));
  }
  for (const CopyProblem& problem : report->problems) {
    context.report(Error(problem.error).in(problem.session_id));
  }
  if (auto closed = to->close(); !closed) return std::move(closed).error();
  return report->problems.empty() ? kExitOk : exit_code(report->problems.front().error.code());
}

}  // namespace

void add_copy(CommandLine& line) {
  line.add<CopyArguments>(
      "copy", "copy sessions from one store to another, and compare",
      [](Declare& declare, CopyArguments& arguments) {
        declare.positional("SRC_URL", arguments.from, "the store to read")
            .positional("DST_URL", arguments.to, "the store to write; made when there is none")
            .hyphen_words("--session", "ID", arguments.sessions,
                          "only this session and what it goes on from; may be repeated")
            .footer(
                "Stores: DIR or file:DIR, sqlite:FILE, postgres://USER@HOST/DATABASE. Repeated, it "
                "copies what is missing.");
      },
      run_copy);
}

}  // namespace quipu::cli
