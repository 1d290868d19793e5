#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/reports.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct VerifyArguments {
  std::string session;
};

void write_report(JsonWriter& json, const VerifyReport& report) {
  json.begin_object()
      .member("sessionId", report.session_id)
      .member("ok", report.problems.empty())
      .member("logBytes", report.log_bytes)
      .member("entries", report.entries)
      .member("sealed", report.sealed)
      .member("adopted", report.adopted)
      .member("indexPresent", report.index_present)
      .key("problems");
  write_problems(json, report.problems);
  json.end_object();
}

// Of a newer version, and nothing else is known to be wrong.
bool is_newer(const VerifyReport& report) {
  return report.problems.size() == 1 && report.problems[0].kind == "newer_version";
}

void print_report(Context& context, const VerifyReport& report) {
  const bool sound = report.problems.empty();
  const char* const word = sound ? "sound  " : is_newer(report) ? "newer  " : "damaged";
  std::string detail = fmt::format("{}, {}", counted(report.entries, "entry", "entries"),
                                   bytes_text(report.log_bytes));
  if (report.adopted > 0) detail += fmt::format(", {} adopted", report.adopted);
  if (!report.index_present) detail += ", no index yet";
  const Terminal& terminal = context.out.terminal();
  const std::string id = context.shown(report.session_id);
  const bool fits =
      terminal.width == 0 || 9 + columns_of(id) + 2 + columns_of(detail) <= terminal.width;
  context.out.line(fmt::format("{}  {}{}{}",
                               paint(terminal, sound ? Style::kGreen : Style::kRed, word), id,
                               fits ? "  " : "\n         ", detail));
  print_problems(context, report.problems);
}

Result<int> run_verify(Context& context, const VerifyArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto ids = chosen_sessions(store->sessions(), arguments.session);
  if (!ids) return std::move(ids).error();

  const auto reports = go_over(context, "verifying", *ids, [&](const std::string& id) {
    return store->sessions().verify_session(id);
  });
  Rounds rounds(context);
  rounds.begin();
  std::size_t sound = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i]) {
      rounds.failed((*ids)[i], reports[i].error());
      continue;
    }
    const VerifyReport& report = *reports[i];
    if (is_newer(report)) {
      rounds.found_newer();
    } else if (!report.problems.empty()) {
      rounds.found_damage();
    } else {
      ++sound;
    }
    if (context.json) {
      write_report(rounds.json(), report);
    } else {
      print_report(context, report);
    }
  }
  if (!context.json && arguments.session.empty()) {
    context.out.line(
        fmt::format("{} of {} sound", sound, counted(ids->size(), "session", "sessions")));
  }
  return rounds.end();
}

}  // namespace

void add_verify(CommandLine& line) {
  line.add<VerifyArguments>(
      "verify", "check every seal, parent and index; exit code 5 when one is wrong",
      [](Declare& declare, VerifyArguments& arguments) {
        declare.optional_session(arguments.session)
            .footer("Nothing is written. `quipu repair` mends what can be mended.");
      },
      run_verify);
}

}  // namespace quipu::cli
