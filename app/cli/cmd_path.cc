#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"

namespace quipu::cli {
namespace {

struct PathArguments {
  std::string session;
  std::string entry;
};

Result<int> run_path(Context& context, const PathArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), arguments.session);
  if (!id) return std::move(id).error();
  auto tree = store->sessions().session_tree(*id);
  if (!tree) return std::move(tree).error();
  auto entry = resolve_node(*tree, arguments.entry);
  if (!entry) return std::move(entry).error();

  std::vector<std::string> ids;
  for (const SessionTree::Ordinal step : tree->path(*entry)) {
    auto step_id = tree->id(step);
    if (!step_id) return std::move(step_id).error();
    ids.push_back(std::move(step_id).value());
  }
  if (context.json) {
    context.out.data_line(JsonWriter().value(ids).text());
  } else {
    for (const std::string& step : ids) context.out.data_line(step);
  }
  return kExitOk;
}

}  // namespace

void add_path(CommandLine& line) {
  line.add<PathArguments>(
      "path", "print the ids from the root to an entry, one a line",
      [](Declare& declare, PathArguments& arguments) {
        declare.session(arguments.session)
            .positional("ENTRY", arguments.entry, "an entry's id, or any unique prefix of it");
      },
      run_path);
}

}  // namespace quipu::cli
