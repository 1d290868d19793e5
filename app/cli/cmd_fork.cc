#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/open_session.h"
#include "cli/summary_json.h"

namespace quipu::cli {
namespace {

struct ForkArguments {
  std::string session;
  std::string at;
  ForkOptions options;
};

Result<std::string> fork_point(const SessionBranch& branch, const ForkArguments& arguments,
                               const std::string& session_id) {
  if (!arguments.at.empty()) return resolve_place(branch, arguments.at);
  auto head = branch.head();
  if (!head || !head->empty()) return head;
  return Error(Code::kInvalidArgument,
               fmt::format("session {} has no messages yet: there is nothing to fork", session_id))
      .with_hint("`quipu new` makes a session that begins from nothing.");
}

Result<int> run_fork(Context& context, const ForkArguments& arguments) {
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  auto point = fork_point(branch, arguments, id);
  if (!point) return std::move(point).error();
  auto made = store.sessions().branch_from_entry(id, *point, arguments.options);
  if (!made) return std::move(made).error();

  print_handle(context, *made);
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_fork(CommandLine& line) {
  line.add<ForkArguments>(
      "fork", "make a session that goes on from an entry, print its id",
      [](Declare& declare, ForkArguments& arguments) {
        declare.session(arguments.session)
            .option("--at", "ENTRY|LABEL", arguments.at, "where (else at the head)")
            .option("--id", "NEW", arguments.options.new_id, "the new id (else a UUIDv7)")
            .flag("--detach", arguments.options.detach,
                  "copy the path: the new session stands alone");
      },
      run_fork);
}

}  // namespace quipu::cli
