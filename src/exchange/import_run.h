// ImportRun: many sources into a store, several at a time.
//
// Sessions that refer to a part of another one come last, each after its base.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "exchange/known_sources.h"
#include "exchange/session_import.h"
#include "quipu/project.h"

namespace quipu::exchange {

class ImportRun {
 public:
  using Done = std::function<bool(const ImportReport&)>;

  ImportRun(Store& store, fs::HostFiles& files, const KnownSources& known,
            const ImportOptions& options, const Done& done);

  /// See Importer::run.
  void run(const std::vector<ImportSource>& sources);

 private:
  using Base = ImportFrom::Base;

  /// A fork whose base may be among the sources, too.
  struct Waiting {
    const ImportSource* source = nullptr;
    std::string session;
    std::string base;
  };

  void take(const ImportSource& source, Base base);
  Result<Imported> import(const ImportSource& source, Base base);
  void take_forks();
  Waiting without_base() REQUIRES(mutex_);
  Result<std::string> project_of(const std::string& cwd);

  Store& store_;
  fs::HostFiles& files_;
  const KnownSources& known_;
  const ImportOptions& options_;
  const Done& done_;
  Projects projects_;
  std::atomic<bool> stopped_ = false;

  Mutex mutex_;
  std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
  Mutex projects_mutex_;
  std::map<std::string, std::string> project_ids_ GUARDED_BY(projects_mutex_);  // by directory
};

}  // namespace quipu::exchange
