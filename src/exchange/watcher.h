// Watcher: sources are imported as they grow.
//
// Changes are told by the system (HostWatch); all places are looked at when it starts,
// and from time to time, for what nobody was told of: places that did not exist, file
// systems that tell nothing. Looking takes a hundredth of the time at most.
//
// Thread-safety: one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "exchange/finder.h"
#include "exchange/known_sources.h"
#include "fs/host_watch.h"
#include "quipu/import.h"

namespace quipu::exchange {

class Watcher {
 public:
  using Done = std::function<bool(const ImportReport&)>;

  Watcher(Store& store, fs::HostFiles& files, Variable variable, const FindOptions& find,
          const ImportOptions& options, Done done);

  /// See Importer::watch.
  Result<void> run(const std::function<bool()>& is_over);

 private:
  Result<void> look_at_all(std::vector<Place> places);
  Result<void> wait();
  Result<void> import(FoundSources found);
  void report(const ImportReport& report);

  Store& store_;
  Clock& clock_;
  fs::HostFiles& files_;
  const Variable variable_;
  const FindOptions& find_;
  const ImportOptions& options_;
  const Done done_;

  std::vector<Place> places_;
  std::unique_ptr<fs::HostWatch> watch_;
  KnownSources known_;
  std::chrono::nanoseconds look_again_{};          // at, on the monotonic clock
  std::set<std::string> changed_;                  // files that are not imported yet
  std::chrono::nanoseconds import_again_{};        // not before
  std::map<std::string, std::string> complaints_;  // what was said last, by source
  bool stopped_ = false;
};

}  // namespace quipu::exchange
