#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/input.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "quipu/limits.h"

namespace quipu::cli {
namespace {

struct BranchArguments {
  std::string session;
  std::string at;
  std::string file;  // empty: only the head moves
  std::string summary;
};

Result<std::string> move_head(SessionBranch& branch, const std::string& at,
                              const BranchArguments& arguments) {
  return branch.switch_to(at, {.summary = arguments.summary});
}

Result<std::string> append_there(Context& context, SessionBranch& branch, const std::string& at,
                                 const BranchArguments& arguments) {
  auto input = Input::open(arguments.file);
  if (!input) return std::move(input).error();
  LineReader reader(input->fd(), input->place(), kLineBytesMax);
  auto batch = read_batch(reader, 0);
  if (!batch) return std::move(batch).error();
  if (batch->lines.empty()) {
    context.note(fmt::format("{} has no entries: only the head moves", input->place()));
    return move_head(branch, at, arguments);
  }
  auto stored = branch.create_branch(at, batch->views);
  // The first entry of that append is the head fact.
  if (!stored) return in_terms_of_lines(std::move(stored).error(), input->place(), *batch, 1);
  return branch.head();
}

Result<int> run_branch(Context& context, const BranchArguments& arguments) {
  if (!arguments.file.empty() && !arguments.summary.empty()) {
    context.report(Error(Code::kInvalidArgument, "--summary is for moving the head without entries")
                       .with_hint("Put a branch_summary entry into the input."));
    return kExitUsage;
  }
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  auto at = resolve_place(branch, arguments.at);
  if (!at) return std::move(at).error();
  auto head = arguments.file.empty() ? move_head(branch, *at, arguments)
                                     : append_there(context, branch, *at, arguments);
  if (!head) return std::move(head).error();

  if (context.json) {
    JsonWriter json;
    json.begin_object().member("sessionId", id).member("from", *at).member("head", *head);
    context.out.data_line(json.end_object().text());
  } else {
    context.out.data_line(*head);
  }
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_branch(CommandLine& line) {
  line.add<BranchArguments>(
      "branch", "go on from another entry of the session, print the new head",
      [](Declare& declare, BranchArguments& arguments) {
        declare.session(arguments.session)
            .required_option("--at", "ENTRY|LABEL", arguments.at, "where to go on")
            .optional_positional("FILE", arguments.file,
                                 "entries to append there, one JSON object a line; - is standard "
                                 "input")
            .option("--summary", "TEXT", arguments.summary,
                    "what to remember of the branch that is left")
            .footer(
                "The move of the head and the entries are stored together or not at all.\n"
                "Without FILE only the head moves.");
      },
      run_branch);
}

}  // namespace quipu::cli
