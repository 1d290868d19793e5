#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "backend/backend.h"
#include "base/mutex.h"
#include "base/try.h"
#include "exchange/finder.h"
#include "exchange/import_mark.h"
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

dialect::Source source_of(const ImportSource& source) {
  return {.agent = source.agent, .path = source.path, .part = source.part, .files = source.files};
}

// What was imported, by where it was read from.
struct KnownSource {
  std::string session_id;
  std::optional<exchange::ImportMark> mark;
};
using KnownSources = std::unordered_map<std::string, KnownSource>;

Result<KnownSources> known_sources(Store& store) {
  KnownSources known;
  TRY_ASSIGN(const auto all, store.sessions().list_sessions(
                                 {.project = ProjectScope::all()},
                                 {.after = {}, .limit = std::numeric_limits<std::size_t>::max()}));
  for (const SessionSummary& session : all.items) {
    if (session.source.empty()) continue;
    known[session.agent_id + ":" + session.source] = {
        .session_id = session.session_id, .mark = exchange::read_mark(session.import_mark)};
  }
  return known;
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
  return guarded([&]() -> Result<FoundSources> {
    TRY_ASSIGN(FoundSources found, exchange::find_sources(files_, variable_, options));
    TRY_ASSIGN(const KnownSources known, known_sources(store_));
    for (ImportSource& source : found.sources) {
      const auto at = known.find(source.agent + ":" + name_of(source));
      if (at == known.end()) continue;
      source.session_id = at->second.session_id;
      const auto now = exchange::look_at(source_of(source), files_);
      source.is_current = now.ok() && at->second.mark && at->second.mark->is_same_state(*now);
    }
    return found;
  });
}

Result<void> Importer::run(const std::vector<ImportSource>& sources, const ImportOptions& options,
                           const std::function<bool(const ImportReport&)>& done) {
  TRY_ASSIGN(const KnownSources known, known_sources(store_));
  ProjectNames projects(store_, files_, options.project_id);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex reporting;
  std::set<std::string> touched;

  const auto import_one = [&](const ImportSource& from) -> Result<ImportReport> {
    const Dialect* dialect = dialect::find_dialect(from.agent);
    if (dialect == nullptr) {
      return Error(Code::kInvalidArgument, "no agent is called " + from.agent);
    }
    const dialect::Source source = source_of(from);
    TRY_ASSIGN(exchange::ImportMark now, exchange::look_at(source, files_));
    exchange::ImportFrom start{.position = {}, .state = now, .is_live = false};
    const auto at = known.find(from.agent + ":" + name_of(from));
    if (at != known.end() && at->second.mark) {
      if (at->second.mark->is_same_state(now)) {
        ImportReport unchanged;
        unchanged.session_id = at->second.session_id;
        unchanged.total = at->second.mark->records;
        return unchanged;
      }
      start.position = exchange::position_after(*at->second.mark, now, source, files_);
      if (start.position.offset != 0) start.state.records = at->second.mark->records;
    }
    exchange::SessionImport import(store_, *dialect, files_,
                                   [&](const std::string& cwd) { return projects.of(cwd); });
    TRY_ASSIGN(exchange::Imported imported, import.run(source, start));
    return std::move(imported.report);
  };
  const auto work = [&] {
    for (std::size_t at = next++; at < sources.size() && !stopped; at = next++) {
      auto imported = guarded([&] { return import_one(sources[at]); });
      ImportReport report;
      if (imported.ok()) {
        report = std::move(imported).value();
      } else {
        report.error = std::move(imported).error();
      }
      report.agent = sources[at].agent;
      report.source = name_of(sources[at]);
      const std::lock_guard lock(reporting);
      if (report.added > 0) touched.insert(report.session_id);
      if (!done(report)) stopped = true;
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
  for (const std::string& session : touched) TRY(store_.backend()->settle(session));
  return {};
}

}  // namespace quipu
