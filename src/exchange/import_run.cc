#include "exchange/import_run.h"

#include <algorithm>

#include "backend/backend.h"
#include "base/share_out.h"
#include "base/try.h"
#include "store/guarded.h"

namespace quipu::exchange {

using dialect::Dialect;

namespace {

// How often somebody else may be faster in making the same session.
constexpr int kTriesMax = 3;
// New sessions that are made together: each is an open file until then.
constexpr std::size_t kNewMax = 128;

}  // namespace

ImportRun::ImportRun(Store& store, fs::HostFiles& files, const KnownSources& known,
                     const ImportOptions& options, const std::vector<ImportSource>& sources,
                     const Done& done)
    : store_(store),
      files_(files),
      known_(known),
      options_(options),
      sources_(sources),
      done_(done),
      projects_(store, &files),
      names_(sources.size()) {}

void ImportRun::run() {
  share_out(sources_.size(), options_.threads, [&](std::size_t place) {
    if (!stopped_) take({.place = place, .base = Base::kLater});
    names_.pass(place);
  });
  make_new();
  take_waiting();
}

void ImportRun::take(const Task& task) {
  auto imported = guarded([&] { return import(task); });
  const bool was_overtaken = !imported.ok() && (imported.error().code() == Code::kIdConflict ||
                                                imported.error().code() == Code::kTailMoved);
  if (was_overtaken && task.tries < kTriesMax) return take(task.again());
  if (imported.ok() && !imported->waits_for.empty()) {
    const MutexLock lock(mutex_);
    waiting_.push_back({.place = task.place,
                        .session = std::move(imported->report.session_id),
                        .base = std::move(imported->waits_for)});
    return;
  }
  if (imported.ok() && imported->log != nullptr) {
    if (keep_new(task, std::move(imported).value())) make_some();
    return;
  }
  finish(task, std::move(imported));
}

void ImportRun::finish(const Task& task, Result<Imported> imported) {
  const ImportSource& source = sources_[task.place];
  ImportReport report;
  if (imported.ok()) {
    report = std::move(imported->report);
  } else {
    report.error = std::move(imported).error();
  }
  report.agent = source.agent;
  report.source = name_of(source);
  const MutexLock lock(mutex_);
  if (!done_(report)) stopped_ = true;
}

bool ImportRun::keep_new(const Task& task, Imported imported) {
  const MutexLock lock(mutex_);
  new_.push_back({.task = task, .imported = std::move(imported)});
  return new_.size() >= kNewMax;
}

// Those that are there now. What comes meanwhile waits until it is many again: each time the
// disk is waited for, and made to write down all that it has.
bool ImportRun::make_some() {
  std::vector<NewSession> sessions;
  {
    const MutexLock lock(mutex_);
    sessions.swap(new_);
  }
  if (sessions.empty()) return false;
  make(std::move(sessions));
  return true;
}

void ImportRun::make_new() {
  // One whose name was taken comes back under another.
  while (make_some()) {
  }
}

void ImportRun::make(std::vector<NewSession> sessions) {
  std::vector<std::unique_ptr<NewLog>> logs;
  for (NewSession& session : sessions) logs.push_back(std::move(session.imported.log));
  const auto taken = guarded([&] { return store_.backend()->create_all(std::move(logs)); });
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Task& task = sessions[i].task;
    if (!taken.ok()) {
      finish(task, taken.error());
    } else if (std::count(taken->begin(), taken->end(), i) == 0) {
      finish(task, std::move(sessions[i].imported));
    } else if (task.tries < kTriesMax) {
      take(task.again());
    } else {
      const std::string& session = sessions[i].imported.report.session_id;
      finish(task, Error(Code::kIdConflict, session + " exists already"));
    }
  }
}

Result<Imported> ImportRun::import(const Task& task) {
  const ImportSource& from = sources_[task.place];
  const Dialect* dialect = dialect::find_dialect(from.agent);
  if (dialect == nullptr) {
    return Error(Code::kInvalidArgument, "no agent is called " + from.agent);
  }
  const dialect::Source source = source_of(from);
  const KnownSource* known = known_.find(from.agent, name_of(from));
  // What is known may have changed since it was found, and who was overtaken looks again.
  const bool is_new = task.tries == 1 && (known == nullptr || !known->mark);
  const auto seen = is_new ? seen_of(from) : std::nullopt;
  TRY_ASSIGN(const ImportMark now, seen ? look_at(source, *seen, files_) : look_at(source, files_));
  ImportFrom start{.position = {}, .state = now, .is_live = options_.is_live, .base = task.base};
  if (known != nullptr && known->mark) {
    start.session = known->session_id;
    start.state.lost = known->mark->lost;
    if (known->mark->is_same_state(now)) {
      Imported unchanged;
      unchanged.report.session_id = known->session_id;
      unchanged.report.total = known->mark->records;
      return unchanged;
    }
    // What is known may be out of date by now: then the whole source says what is new.
    if (task.tries == 1) start.position = position_after(*known->mark, now, source, files_);
    if (start.position.offset != 0) {
      start.after = &*known->mark;
      start.state.records = known->mark->records - known->mark->beside;
    }
  }
  // What this run made meanwhile has its name claimed.
  const bool looks = task.base != Base::kLater || task.tries > 1;
  SessionImport session(
      store_, *dialect, files_, [&](const std::string& cwd) { return project_of(cwd); },
      [&](const std::string& id) { return looks || known_.has_session(id); },
      [&](const std::string& id, const std::string& file) {
        return names_.claim(task.place, id, file);
      });
  return session.run(source, start);
}

// Each after what it is a fork or a copy of. When nothing goes on, one of them refers to
// what is not there.
void ImportRun::take_waiting() {
  std::vector<Waiting> some;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      std::swap(some, waiting_);
    }
    if (some.empty() || stopped_) return;
    std::sort(some.begin(), some.end(),
              [](const Waiting& a, const Waiting& b) { return a.place < b.place; });
    for (const Waiting& one : some) {
      if (!stopped_) take({.place = one.place, .base = Base::kStored});
      make_new();
    }
    std::optional<Waiting> first;
    {
      const MutexLock lock(mutex_);
      if (waiting_.size() == some.size()) first = without_base();
    }
    if (first && !stopped_) {
      take({.place = first->place, .base = Base::kMissing});
      make_new();
    }
    some.clear();
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
