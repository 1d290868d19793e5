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
    const auto project = projects_.ensure(cwd);
    // Where work of all kinds lies, none is meant.
    if (!project.ok() && project.error().code() != Code::kInvalidArgument) return project.error();
    return known_[cwd] = project.ok() ? project->id : std::string();
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

// A fork whose base may be among the sources, too.
struct Waiting {
  std::size_t source = 0;
  std::string session;
  std::string base;
};

// The first whose base nobody else is; where they are each other's, the first.
std::vector<Waiting>::iterator first_without_base(std::vector<Waiting>& waiting) {
  std::set<std::string_view> sessions;
  for (const Waiting& fork : waiting) sessions.insert(fork.session);
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& fork) {
    return !sessions.contains(fork.base);
  });
  return found == waiting.end() ? waiting.begin() : found;
}

// Forks, each after what it is a fork of. When nothing goes on, one of them refers to
// what is not there. `take` adds those that still wait.
template <class Take>
void take_forks(std::vector<Waiting>& waiting, const std::atomic<bool>& stopped, const Take& take) {
  using Base = exchange::ImportFrom::Base;
  std::sort(waiting.begin(), waiting.end(),
            [](const Waiting& a, const Waiting& b) { return a.source < b.source; });
  while (!waiting.empty() && !stopped) {
    const std::vector<Waiting> before = std::exchange(waiting, {});
    for (std::size_t i = 0; i < before.size() && !stopped; ++i) {
      take(before[i].source, Base::kStored);
    }
    if (stopped || waiting.size() < before.size()) continue;
    const auto first = first_without_base(waiting);
    const std::size_t source = first->source;
    waiting.erase(first);
    take(source, Base::kMissing);
  }
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

  using Base = exchange::ImportFrom::Base;
  const auto import_one = [&](const ImportSource& from, Base base) -> Result<exchange::Imported> {
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
        exchange::Imported unchanged;
        unchanged.report.session_id = at->second.session_id;
        unchanged.report.total = at->second.mark->records;
        return unchanged;
      }
      start.position = exchange::position_after(*at->second.mark, now, source, files_);
      if (start.position.offset != 0) start.state.records = at->second.mark->records;
    }
    exchange::SessionImport import(store_, *dialect, files_,
                                   [&](const std::string& cwd) { return projects.of(cwd); });
    start.base = base;
    return import.run(source, start);
  };
  std::vector<Waiting> waiting;
  const auto take = [&](std::size_t at, Base base) {
    auto imported = guarded([&] { return import_one(sources[at], base); });
    const std::lock_guard lock(reporting);
    if (imported.ok() && !imported->waits_for.empty()) {
      waiting.push_back({.source = at,
                         .session = std::move(imported->report.session_id),
                         .base = std::move(imported->waits_for)});
      return;
    }
    ImportReport report;
    if (imported.ok()) {
      report = std::move(imported->report);
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
  take_forks(waiting, stopped, take);
  for (const std::string& session : touched) TRY(store_.backend()->settle(session));
  return {};
}

}  // namespace quipu
