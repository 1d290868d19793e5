// The directory below `tmp` that gemini-cli keeps for a project.
//
// It is called by a slug. Which one is in ~/.gemini/projects.json ({"projects": {path:
// slug}}), and in a file `.project_root` in the directory, by which the program finds one
// that its list does not know.
#pragma once

#include <string>

#include "dialect/dialect.h"

namespace quipu::dialect::gemini {

/// The slug that the program gives a project when nobody has it.
std::string slug_of(const std::string& cwd);

/// The slug that it uses for `cwd` on this machine, or would. `tmp`: the directory.
std::string slug_on(const Machine& machine, const std::string& tmp, const std::string& cwd);

}  // namespace quipu::dialect::gemini
