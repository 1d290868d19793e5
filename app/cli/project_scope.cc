#include "cli/project_scope.h"

#include <filesystem>

#include "cli/ids.h"

namespace quipu::cli {
namespace {

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name == "." || name == "..";
}

}  // namespace

std::string absolute_path(std::string_view given) {
  std::error_code error;
  const auto path = given.empty() ? std::filesystem::current_path(error)
                                  : std::filesystem::absolute(given, error);
  if (error) return {};
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<Project> find_project(Projects& projects, std::string_view name) {
  if (is_path(name)) {
    const std::string path = absolute_path(name);
    auto found = projects.resolve(path);
    if (!found) return std::move(found).error();
    if (found->has_value()) return *std::move(found).value();
    return Error(Code::kNotFound, "no project contains " + path)
        .with_hint("`quipu project list` shows the projects; `quipu new --cwd DIR` makes one.");
  }
  auto all = projects.list();
  if (!all) return std::move(all).error();
  std::vector<std::string> ids;
  const Project* named = nullptr;
  std::size_t of_that_name = 0;
  for (const Project& project : *all) {
    ids.push_back(project.id);
    if (project.name != name) continue;
    named = &project;
    ++of_that_name;
  }
  if (of_that_name == 1) return *named;
  auto id = match_prefix({"project", "`quipu project list` shows the projects."}, name, ids);
  if (!id) return std::move(id).error();
  return projects.get(*id);
}

Result<std::optional<Project>> chosen_project(Projects& projects, std::string_view name, bool all) {
  if (!name.empty()) {
    auto found = find_project(projects, name);
    if (!found) return std::move(found).error();
    return std::optional(std::move(found).value());
  }
  const std::string here = all ? std::string() : absolute_path({});
  if (here.empty()) return std::optional<Project>();
  return projects.resolve(here);
}

std::string project_name(const std::vector<Project>& projects, const std::string& id) {
  for (const Project& project : projects) {
    if (project.id == id) return project.name.empty() ? project.id : project.name;
  }
  return id;
}

}  // namespace quipu::cli
