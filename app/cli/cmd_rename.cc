#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/session_facts.h"

namespace quipu::cli {
namespace {

struct RenameArguments {
  std::string session;
  std::string title;
};

Result<int> run_rename(Context& context, const RenameArguments& arguments) {
  return say_of_session(context, arguments.session, [&](const SessionSummary& session) {
    // An empty title takes the last one back, which may show another.
    if (session.title == arguments.title) return std::string();
    return JsonWriter().begin_object().member("title", arguments.title).end_object().text();
  });
}

}  // namespace

void add_rename(CommandLine& line) {
  line.add<RenameArguments>(
      "rename", "give a session another title",
      [](Declare& declare, RenameArguments& arguments) {
        declare.session(arguments.session)
            .positional("TITLE", arguments.title, "the new title; '' for the one it began with");
      },
      run_rename);
}

}  // namespace quipu::cli
