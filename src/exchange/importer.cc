#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "backend/backend.h"
#include "base/mutex.h"
#include "base/try.h"
#include "exchange/finder.h"
#include "exchange/session_import.h"
#include "fs/host_files.h"
#include "quipu/import.h"
#include "quipu/project.h"
#include "store/guarded.h"

namespace quipu {
namespace {

using dialect::Dialect;

// Each directory is asked for once: the answer takes a look at the log of projects.
class ProjectNames {
 public:
  ProjectNames(Store& store, fs::HostFiles& files, std::string given)
      : projects_(store, &files), given_(std::move(given)) {}

  Result<std::string> of(const std::string& cwd) {
    if (!given_.empty() || !cwd.starts_with('/')) return given_;
    const MutexLock lock(mutex_);
    if (const auto known = known_.find(cwd); known != known_.end()) return known->second;
    TRY_ASSIGN(const Project project, projects_.ensure(cwd));
    return known_[cwd] = project.id;
  }

 private:
  Projects projects_;
  const std::string given_;
  Mutex mutex_;
  std::map<std::string, std::string> known_ GUARDED_BY(mutex_);
};

std::string name_of(const ImportSource& source) {
  return source.part.empty() ? source.path : source.path + "#" + source.part;
}

}  // namespace

std::vector<std::string> known_agents() {
  std::vector<std::string> names;
  for (const Dialect* dialect : dialect::all_dialects()) names.emplace_back(dialect->name());
  return names;
}

Importer::Importer(Store& store, fs::HostFiles* files,
                   const std::map<std::string, std::string>* variables)
    : store_(store), files_(files != nullptr ? *files : fs::HostFiles::system()) {
  if (variables != nullptr) {
    variable_ = [copy = *variables](const std::string& name) {
      const auto found = copy.find(name);
      return found == copy.end() ? std::string() : found->second;
    };
  } else {
    variable_ = [](const std::string& name) {
      const char* value = std::getenv(name.c_str());
      return std::string(value == nullptr ? "" : value);
    };
  }
}

Result<FoundSources> Importer::find(const FindOptions& options) {
  return guarded([&] { return exchange::find_sources(files_, variable_, options); });
}

Result<void> Importer::run(const std::vector<ImportSource>& sources, const ImportOptions& options,
                           const std::function<bool(const ImportReport&)>& done) {
  ProjectNames projects(store_, files_, options.project_id);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex reporting;
  std::set<std::string> touched;

  using Base = exchange::ImportFrom::Base;
  // Nothing: it waits for another.
  const auto import_one = [&](const ImportSource& from,
                              Base base) -> Result<std::optional<ImportReport>> {
    const Dialect* dialect = dialect::find_dialect(from.agent);
    if (dialect == nullptr) {
      return Error(Code::kInvalidArgument, "no agent is called " + from.agent);
    }
    const dialect::Source source{
        .agent = from.agent, .path = from.path, .part = from.part, .files = from.files};
    exchange::SessionImport import(store_, *dialect, files_,
                                   [&](const std::string& cwd) { return projects.of(cwd); });
    TRY_ASSIGN(exchange::Imported imported,
               import.run(source, {.position = {}, .is_live = false, .base = base}));
    if (imported.waits) return std::optional<ImportReport>();
    return std::optional(std::move(imported.report));
  };
  std::vector<std::size_t> waiting;
  const auto take = [&](std::size_t at, Base base) {
    auto imported = guarded([&] { return import_one(sources[at], base); });
    const std::lock_guard lock(reporting);
    if (imported.ok() && !*imported) {
      waiting.push_back(at);
      return;
    }
    ImportReport report;
    if (imported.ok()) {
      report = std::move(**imported);
    } else {
      report.error = std::move(imported).error();
    }
    report.agent = sources[at].agent;
    report.source = name_of(sources[at]);
    if (report.added > 0) touched.insert(report.session_id);
    if (!done(report)) stopped = true;
  };
  const auto work = [&] {
    for (std::size_t at = next++; at < sources.size() && !stopped; at = next++) {
      take(at, Base::kLater);
    }
  };
  const unsigned wanted =
      options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  const std::size_t count =
      std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(sources.size(), 1));
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < count; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  // Forks, each after what it is a fork of; what is left refers to what is not there.
  std::sort(waiting.begin(), waiting.end());
  for (Base base = Base::kStored; !waiting.empty() && !stopped;) {
    const std::vector<std::size_t> before = std::exchange(waiting, {});
    for (std::size_t i = 0; i < before.size() && !stopped; ++i) take(before[i], base);
    if (waiting.size() == before.size()) base = Base::kMissing;
  }
  for (const std::string& session : touched) TRY(store_.backend()->settle(session));
  return {};
}

}  // namespace quipu
