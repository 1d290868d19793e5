// Which project a command is about, and what projects are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "quipu/project.h"

namespace quipu::cli {

/// An absolute path, without ".." and links left as they are; the current
/// directory for an empty one. Empty when there is none (it was removed).
std::string absolute_path(std::string_view given);

/// A project by its id, any unique prefix of it, its name, or a path in it (what
/// has a slash, "." or ".."). `not_found` when there is none.
Result<Project> find_project(Projects& projects, std::string_view name);

/// Which project's sessions are to be listed: the named one; else, unless `all`,
/// the one that the current directory is in; else nothing, which is all.
Result<std::optional<Project>> chosen_project(Projects& projects, std::string_view name, bool all);

/// The name of a project for a table: empty without one, an unknown one by its id.
std::string project_name(const std::vector<Project>& projects, const std::string& id);

}  // namespace quipu::cli
