// Finding sources: directories are walked, files are shown to the dialects.
#pragma once

#include <functional>
#include <string>

#include "dialect/dialect.h"
#include "quipu/import.h"

namespace quipu::exchange {

/// See Importer::find. Links are not followed below the places that were named;
/// every directory is entered once.
Result<FoundSources> find_sources(fs::HostFiles& files,
                                  const std::function<std::string(const std::string&)>& variable,
                                  const FindOptions& options);

}  // namespace quipu::exchange
