#include "cli/commands.h"
#include "cli/project_scope.h"
#include "cli/summary_json.h"

namespace quipu::cli {
namespace {

struct NewArguments {
  NewSession session;
  std::string project;
};

// A directory that was named is a project from now on, unless it is none (/tmp);
// the current one only counts when it is known already. Trouble with projects does
// not keep anybody from working.
std::string project_of(Context& context, Projects& projects, const std::string& cwd, bool given) {
  if (cwd.empty()) return {};
  std::optional<Error> failure;
  if (given) {
    auto project = projects.ensure(cwd);
    if (project) return project->id;
    if (project.error().code() == Code::kInvalidArgument) {
      context.note("The session gets no project: " + project.error().message() + '.');
      return {};
    }
    failure = std::move(project).error();
  } else {
    auto project = projects.resolve(cwd);
    if (project) return project->has_value() ? (*project)->id : std::string();
    failure = std::move(project).error();
  }
  context.warn("the session gets no project: " + failure->message());
  return {};
}

Result<int> run_new(Context& context, const NewArguments& arguments) {
  NewSession session = arguments.session;
  const bool given = !session.cwd.empty();
  // Without a working directory (it was removed) the session simply has none.
  session.cwd = absolute_path(session.cwd);
  auto store = context.open_store(/*create=*/true);
  if (!store) return std::move(store).error();
  Projects projects(*store);
  if (arguments.project.empty()) {
    session.project_id = project_of(context, projects, session.cwd, given);
  } else {
    auto project = find_project(projects, arguments.project);
    if (!project) return std::move(project).error();
    session.project_id = project->id;
  }
  auto made = store->sessions().create_session(session);
  if (!made) return std::move(made).error();

  print_handle(context, *made);
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_new(CommandLine& line) {
  line.add<NewArguments>(
      "new", "make a session (and the store when there is none), print its id",
      [](Declare& declare, NewArguments& arguments) {
        NewSession& session = arguments.session;
        declare.option("--id", "ID", session.id, "the session's id (else a UUIDv7)")
            .option("--cwd", "DIR", session.cwd,
                    "its working directory (else the current one); also its project")
            .option("--title", "TEXT", session.title, "its title")
            .option("--agent", "ID", session.agent_id, "the agent that it belongs to")
            .option("--project", "ID|PATH", arguments.project, "a project that exists")
            .footer("Example: id=$(quipu new --title 'Fix the build')");
      },
      run_new);
}

}  // namespace quipu::cli
