// ImportRun: many sources into a store, several at a time.
//
// New sessions are made many at a time: the disk is waited for once for all of them.
// Sessions that refer to a part of another one come last, each after its base. Which
// sessions there are in the end does not depend on the threads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
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
            const ImportOptions& options, const std::vector<ImportSource>& sources,
            const Done& done);

  /// See Importer::run.
  void run();

 private:
  using Base = ImportFrom::Base;

  struct Task {
    std::size_t place = 0;  // among the sources
    Base base = Base::kLater;
    int tries = 1;
    Task again() const { return {.place = place, .base = base, .tries = tries + 1}; }
  };
  struct NewSession {
    Task task;
    Imported imported;
  };
  /// One that comes after another session, which may be among the sources, too.
  struct Waiting {
    std::size_t place = 0;
    std::string session;
    std::string base;
  };

  void take(const Task& task);
  void finish(const Task& task, Result<Imported> imported);
  /// Whether there are enough of them now.
  bool keep_new(const Task& task, Imported imported);
  /// False when there was none to make.
  bool make_some();
  /// Until none is left.
  void make_new();
  void make(std::vector<NewSession> sessions);
  Result<Imported> import(const Task& task);
  void take_waiting();
  Waiting without_base() REQUIRES(mutex_);
  Result<std::string> project_of(const std::string& cwd);

  Store& store_;
  fs::HostFiles& files_;
  const KnownSources& known_;
  const ImportOptions& options_;
  const std::vector<ImportSource>& sources_;
  const Done& done_;
  Projects projects_;
  SessionNames names_;
  std::atomic<bool> stopped_ = false;

  Mutex mutex_;
  std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
  std::vector<NewSession> new_ GUARDED_BY(mutex_);  // read, not stored yet
  Mutex projects_mutex_;
  std::map<std::string, std::string> project_ids_ GUARDED_BY(projects_mutex_);  // by directory
};

}  // namespace quipu::exchange
