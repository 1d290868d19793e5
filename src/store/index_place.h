// Where a store's index.db lies (search/index_database.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "search/index_database.h"

namespace quipu {

/// The directory for what is computed from the store of that id: `$XDG_CACHE_HOME/quipu/ID`, or in
/// `~/.cache`. Empty when the environment names neither.
std::string cache_directory(const std::string& store_id);

/// In the first of these directories where it can be made. Nothing is made before somebody
/// needs it. `not_allowed` when none will do.
std::shared_ptr<search::IndexDatabase> index_in(std::vector<std::string> directories, Clock& clock);

}  // namespace quipu
