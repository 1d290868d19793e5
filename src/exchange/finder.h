// Finding sources: directories are walked, files are shown to the dialects.
#pragma once

#include <functional>
#include <string>

#include "dialect/dialect.h"
#include "exchange/known_sources.h"
#include "quipu/import.h"

namespace quipu::exchange {

/// An environment variable; empty when it is not set.
using Variable = std::function<std::string(const std::string&)>;

/// A file or directory in which sources are looked for, and whose.
struct Place {
  std::string path;
  std::vector<const dialect::Dialect*> dialects;
  bool is_own = false;  // where the agent keeps its sessions; else somebody named it
};

/// From the current directory on, as it is stored and compared.
std::string whole_path(const std::string& path);

/// The places that were named, or where agents keep sessions on this machine and
/// something is, or may not be looked at. `invalid_argument` for an agent nobody knows.
Result<std::vector<Place>> places_of(fs::HostFiles& files, const Variable& variable,
                                     const FindOptions& options);

/// Links are not followed below the places; every directory is entered once. What cannot
/// be looked at is a problem of the answer, and so is a file of an agent's own place that is
/// called as its sessions are and is none. A file that is known and has not changed is
/// not opened: it is whose it was.
FoundSources find_in(fs::HostFiles& files, const KnownSources& known,
                     const std::vector<Place>& places, std::int64_t since_ms);

/// Only among these files, as far as they lie in one of the places.
FoundSources find_changed(fs::HostFiles& files, const KnownSources& known,
                          const std::vector<Place>& places,
                          const std::vector<std::string>& changed);

}  // namespace quipu::exchange
