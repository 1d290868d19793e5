#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/session_facts.h"

namespace quipu::cli {
namespace {

struct ArchiveArguments {
  std::string session;
  bool undo = false;
};

Result<int> run_archive(Context& context, const ArchiveArguments& arguments) {
  const bool archived = !arguments.undo;
  return say_of_session(context, arguments.session, [&](const SessionSummary& session) {
    if (session.archived == archived) return std::string();
    return JsonWriter().begin_object().member("archived", archived).end_object().text();
  });
}

}  // namespace

void add_archive(CommandLine& line) {
  line.add<ArchiveArguments>(
      "archive", "leave a session out of lists; nothing is moved or deleted",
      [](Declare& declare, ArchiveArguments& arguments) {
        declare.session(arguments.session)
            .flag("--undo", arguments.undo, "put it into lists again");
      },
      run_archive);
}

}  // namespace quipu::cli
