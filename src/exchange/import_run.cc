#include "exchange/import_run.h"

#include <algorithm>
#include <thread>

#include "base/try.h"
#include "store/guarded.h"

namespace quipu::exchange {

using dialect::Dialect;

ImportRun::ImportRun(Store& store, fs::HostFiles& files, const KnownSources& known,
                     const ImportOptions& options, const Done& done)
    : store_(store),
      files_(files),
      known_(known),
      options_(options),
      done_(done),
      projects_(store, &files) {}

void ImportRun::run(const std::vector<ImportSource>& sources) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t at = next++; at < sources.size() && !stopped_; at = next++) {
      take(sources[at], Base::kLater);
    }
  };
  const std::size_t wanted =
      options_.threads != 0 ? options_.threads : std::thread::hardware_concurrency();
  const std::size_t count = std::min(std::max<std::size_t>(wanted, 1), sources.size());
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < count; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  take_forks();
}

void ImportRun::take(const ImportSource& source, Base base) {
  auto imported = guarded([&] { return import(source, base); });
  const MutexLock lock(mutex_);
  if (imported.ok() && !imported->waits_for.empty()) {
    waiting_.push_back({.source = &source,
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
  report.agent = source.agent;
  report.source = name_of(source);
  if (!done_(report)) stopped_ = true;
}

Result<Imported> ImportRun::import(const ImportSource& from, Base base) {
  const Dialect* dialect = dialect::find_dialect(from.agent);
  if (dialect == nullptr) {
    return Error(Code::kInvalidArgument, "no agent is called " + from.agent);
  }
  const dialect::Source source = source_of(from);
  TRY_ASSIGN(const ImportMark now, look_at(source, files_));
  ImportFrom start{.position = {}, .state = now, .is_live = false, .base = base};
  const KnownSource* known = known_.find(from);
  if (known != nullptr && known->mark) {
    if (known->mark->is_same_state(now)) {
      Imported unchanged;
      unchanged.report.session_id = known->session_id;
      unchanged.report.total = known->mark->records;
      return unchanged;
    }
    start.position = position_after(*known->mark, now, source, files_);
    if (start.position.offset != 0) start.state.records = known->mark->records;
  }
  SessionImport session(store_, *dialect, files_,
                        [&](const std::string& cwd) { return project_of(cwd); });
  return session.run(source, start);
}

// Each after what it is a fork of. When nothing goes on, one of them refers to what is
// not there.
void ImportRun::take_forks() {
  std::vector<Waiting> forks;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      std::swap(forks, waiting_);
    }
    if (forks.empty() || stopped_) return;
    std::sort(forks.begin(), forks.end(),
              [](const Waiting& a, const Waiting& b) { return a.source->path < b.source->path; });
    for (const Waiting& fork : forks) {
      if (!stopped_) take(*fork.source, Base::kStored);
    }
    Waiting first;
    {
      const MutexLock lock(mutex_);
      if (waiting_.size() == forks.size()) first = without_base();
    }
    if (first.source != nullptr && !stopped_) take(*first.source, Base::kMissing);
    forks.clear();
  }
}

// The first whose base nobody else is; where they are each other's, the first.
ImportRun::Waiting ImportRun::without_base() {
  std::set<std::string> sessions;
  for (const Waiting& fork : waiting_) sessions.insert(fork.session);
  auto found = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const Waiting& fork) { return !sessions.contains(fork.base); });
  if (found == waiting_.end()) found = waiting_.begin();
  Waiting first = std::move(*found);
  waiting_.erase(found);
  return first;
}

// Each directory is asked for once: the answer takes a look at the log of projects.
Result<std::string> ImportRun::project_of(const std::string& cwd) {
  if (!options_.project_id.empty() || !cwd.starts_with('/')) return options_.project_id;
  const MutexLock lock(projects_mutex_);
  if (const auto known = project_ids_.find(cwd); known != project_ids_.end()) return known->second;
  const auto project = projects_.ensure(cwd);
  // Where work of all kinds lies, none is meant.
  if (!project.ok() && project.error().code() != Code::kInvalidArgument) return project.error();
  return project_ids_[cwd] = project.ok() ? project->id : std::string();
}

}  // namespace quipu::exchange
