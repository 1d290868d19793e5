#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/open_session.h"

namespace quipu::cli {
namespace {

struct PathArguments {
  std::string session;
  std::string entry;
};

Result<int> run_path(Context& context, const PathArguments& arguments) {
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  auto entry = resolve_place(branch, arguments.entry);
  if (!entry) return std::move(entry).error();
  auto ids = branch.get_path(*entry);
  if (!ids) return std::move(ids).error();
  if (context.json) {
    context.out.data_line(JsonWriter().value(*ids).text());
  } else {
    for (const std::string& step : *ids) context.out.data_line(step);
  }
  return kExitOk;
}

}  // namespace

void add_path(CommandLine& line) {
  line.add<PathArguments>(
      "path", "print the ids from the root to an entry, one a line",
      [](Declare& declare, PathArguments& arguments) {
        declare.session(arguments.session)
            .positional("ENTRY", arguments.entry,
                        "an entry's id, any unique prefix of it, or a label");
      },
      run_path);
}

}  // namespace quipu::cli
