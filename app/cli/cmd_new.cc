#include <filesystem>

#include "cli/commands.h"
#include "cli/summary_json.h"

namespace quipu::cli {
namespace {

// Without a working directory (it was removed) the session simply has none.
std::string absolute_directory(const std::string& given) {
  std::error_code error;
  const auto path = given.empty() ? std::filesystem::current_path(error)
                                  : std::filesystem::absolute(given, error);
  return error ? given : path.lexically_normal().string();
}

Result<int> run_new(Context& context, const NewSession& arguments) {
  NewSession session = arguments;
  session.cwd = absolute_directory(session.cwd);
  auto store = context.open_store(/*create=*/true);
  if (!store) return std::move(store).error();
  auto made = store->sessions().create_session(session);
  if (!made) return std::move(made).error();

  print_handle(context, *made);
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_new(CommandLine& line) {
  line.add<NewSession>(
      "new", "make a session (and the store when there is none), print its id",
      [](Declare& declare, NewSession& session) {
        declare.option("--id", "ID", session.id, "the session's id (else a UUIDv7)")
            .option("--cwd", "DIR", session.cwd, "its working directory (else the current one)")
            .option("--title", "TEXT", session.title, "its title")
            .footer("Example: id=$(quipu new --title 'Fix the build')");
      },
      run_new);
}

}  // namespace quipu::cli
