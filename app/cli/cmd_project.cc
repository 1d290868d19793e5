#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/project_scope.h"
#include "cli/table.h"

namespace quipu::cli {
namespace {

struct ProjectArguments {
  std::string action;
  std::string first;
  std::string second;
};

void write_project(JsonWriter& json, const Project& project) {
  json.begin_object()
      .member("projectId", project.id)
      .optional_member("name", project.name)
      .optional_member("root", project.root)
      .member("aliases", project.aliases)
      .optional_member("fingerprint", project.fingerprint)
      .end_object();
}

void print_project(Context& context, const Project& project) {
  if (context.json) {
    JsonWriter json;
    write_project(json, project);
    return context.out.data_line(json.text());
  }
  const auto row = [&](const char* name, const std::string& text) {
    if (!text.empty()) context.out.line(fmt::format("{:<10} {}", name, context.shown(text)));
  };
  row("Project", project.id);
  row("Name", project.name);
  row("Root", project.root);
  for (const std::string& alias : project.aliases) row("Also", alias);
  row("Repository", project.fingerprint);
}

Result<void> list_projects(Context& context, Projects& projects) {
  auto all = projects.list();
  if (!all) return std::move(all).error();
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const Project& project : *all) write_project(json, project);
    context.out.data_line(json.end_array().text());
    return {};
  }
  if (all->empty()) {
    context.note("No projects yet: `quipu new --cwd DIR` makes one.");
    return {};
  }
  std::vector<std::string> ids;
  for (const Project& project : *all) ids.push_back(project.id);
  const ShortIds short_ids(ids);
  Table table({{.title = "ID"},
               {.title = "NAME", .fit = Table::Fit::kCutEnd},
               {.title = "ROOT", .fit = Table::Fit::kCutStart}});
  for (const Project& project : *all) {
    table.add({short_ids.of(project.id), context.shown(project.name), context.shown(project.root)});
  }
  for (const std::string& line : table.lines(context.out.terminal())) context.out.line(line);
  return {};
}

Result<void> change_project(Context& context, Projects& projects,
                            const ProjectArguments& arguments) {
  auto found = find_project(projects, arguments.first);
  if (!found) return std::move(found).error();
  Result<Project> changed = std::move(found);
  if (arguments.action == "rename") changed = projects.rename(changed->id, arguments.second);
  if (arguments.action == "relocate") {
    changed = projects.relocate(changed->id, absolute_path(arguments.second));
  }
  if (!changed) return std::move(changed).error();
  print_project(context, *changed);
  return {};
}

// A session may be given to a project by a directory that is none yet.
Result<void> assign(Context& context, Store& store, Projects& projects,
                    const ProjectArguments& arguments) {
  auto session = resolve_session(store.sessions(), arguments.first);
  if (!session) return std::move(session).error();
  auto project = find_project(projects, arguments.second);
  const bool path = arguments.second.find('/') != std::string::npos || arguments.second == ".";
  if (!project && project.error().code() == Code::kNotFound && path) {
    project = projects.ensure(absolute_path(arguments.second));
  }
  if (!project) return std::move(project).error();
  NewEntry fact;
  fact.type = "session_info";
  fact.payload = JsonWriter().begin_object().member("projectId", project->id).end_object().text();
  auto stored = store.sessions().append_session_entries(*session, {&fact, 1});
  if (!stored) return std::move(stored).error();
  print_project(context, *project);
  return {};
}

std::size_t words_of(const ProjectArguments& arguments) {
  return arguments.first.empty() ? 0 : arguments.second.empty() ? 1 : 2;
}

Result<int> run_project(Context& context, const ProjectArguments& arguments) {
  const std::string& action = arguments.action;
  const std::size_t wanted = action == "list" ? 0 : action == "show" ? 1 : 2;
  const std::size_t given = words_of(arguments);
  // `project show` without a name: the one of the current directory.
  if (given != wanted && !(action == "show" && given == 0)) {
    const char* words = action == "list"       ? "nothing more"
                        : action == "show"     ? "[PROJECT]"
                        : action == "rename"   ? "PROJECT NAME"
                        : action == "relocate" ? "PROJECT DIR"
                                               : "SESSION PROJECT|DIR";
    return context.refuse(
        Error(Code::kInvalidArgument, fmt::format("after `project {}`: {}", action, words))
            .with_hint("`quipu project --help` has the rest."));
  }
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Projects projects(*store);
  auto here = arguments;
  if (action == "show" && given == 0) here.first = ".";
  auto done = action == "list"     ? list_projects(context, projects)
              : action == "assign" ? assign(context, *store, projects, here)
                                   : change_project(context, projects, here);
  if (!done) return std::move(done).error();
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_project(CommandLine& line) {
  line.add<ProjectArguments>(
      "project", "list, show, rename and relocate projects; give sessions to them",
      [](Declare& declare, ProjectArguments& arguments) {
        declare
            .word_choice("ACTION", arguments.action,
                         {"list", "show", "rename", "relocate", "assign"}, "what to do")
            .optional_positional("WHAT", arguments.first,
                                 "a project (id, name or path); for assign a session")
            .optional_positional("TO", arguments.second, "the new name or root; the project")
            .footer(
                "quipu project list\n"
                "quipu project show [PROJECT]\n"
                "quipu project rename PROJECT NAME\n"
                "quipu project relocate PROJECT DIR   the old root stays an alias\n"
                "quipu project assign SESSION PROJECT|DIR");
      },
      run_project);
}

}  // namespace quipu::cli
