// Where an agent looks for sessions on this machine.
#pragma once

#include <map>
#include <string>

#include "dialect/dialect.h"
#include "exchange/finder.h"

namespace quipu::exchange {

/// The absolute path of a file that the agent's own program finds. `name` begins with
/// what the place is called, as `WrittenFile::path` does: `projects/-home-ada/x.jsonl`; an
/// index lies beside the place. `cwd`: where the session began. `unsupported` for agents
/// that keep no such files.
Result<std::string> installed_path(const dialect::Dialect& dialect, const std::string& name,
                                   const std::string& cwd, const dialect::Machine& machine);

/// What a file that was read at `path` would be called there: from the place on.
/// `unsupported` when it did not lie in such a place.
Result<std::string> name_in_place(const dialect::Dialect& dialect, const std::string& path,
                                  const dialect::Machine& machine);

/// Of the machine, or of a test.
Variable variables(const std::map<std::string, std::string>* given);

}  // namespace quipu::exchange
