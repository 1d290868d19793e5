#include "backend/file/file_backend.h"

#include <algorithm>
#include <map>
#include <set>

#include "backend/file/file_watch.h"
#include "base/mutex.h"
#include "base/share_out.h"
#include "base/try.h"
#include "log/inspect.h"
#include "log/seal.h"
#include "model/envelope.h"

namespace quipu::file {
namespace {

constexpr std::size_t kOpenSessionsMax = 256;
constexpr std::size_t kSnapshotsMax = 64;
constexpr std::string_view kLogSuffix = ".jsonl";

class FileLogView : public LogView {
 public:
  explicit FileLogView(std::shared_ptr<const log::LogSnapshot> snapshot)
      : snapshot_(std::move(snapshot)) {}

  const FoldState& fold() const override { return snapshot_->state().fold; }
  std::uint32_t damaged() const override {
    MutexLock lock(mutex_);
    return snapshot_->state().damaged + static_cast<std::uint32_t>(stand_ins_.size());
  }
  std::uint64_t settled_bytes() const override { return snapshot_->state().committed; }
  Result<StoredEntry> entry(Ordinal own) const override {
    TRY_ASSIGN(const log::IndexEntry entry, snapshot_->entry(own));
    TRY_ASSIGN(const bool is_sound, snapshot_->is_sound(entry));
    if (!is_sound) return stand_in(own, entry);
    return StoredEntry{.place = entry.place,
                       .text = snapshot_->line(entry),
                       .seal_bytes = entry.adopted ? 0 : log::kSealBytes,
                       .adopted = entry.adopted};
  }
  Result<std::vector<Placement>> places() const override { return snapshot_->places(); }
  Result<std::string> id(Ordinal own) const override { return snapshot_->id(own); }
  Result<std::optional<Ordinal>> find(std::string_view id) const override {
    return snapshot_->find(id);
  }

 private:
  // All that is known of a line whose bytes are not those that were stored.
  Result<StoredEntry> stand_in(Ordinal own, const log::IndexEntry& entry) const {
    const Envelope envelope = read_envelope_prefix(snapshot_->line(entry));
    const bool has_type = envelope.type_code == entry.place.type;
    const char* const some_type = is_fact(entry.place.type) ? "fact.damaged" : "damaged";
    // The index knows whether the id is what it was.
    TRY_ASSIGN(const std::string id, snapshot_->id(own));
    MutexLock lock(mutex_);
    std::string& text = stand_ins_[own];
    if (text.empty()) {
      append_entry_json(text, {.id = id,
                               .parent = std::nullopt,
                               .type = has_type ? envelope.type.view() : some_type,
                               .timestamp = envelope.timestamp.view(),
                               .run_id = {},
                               .payload = R"({"damaged":true})",
                               .meta = {}});
    }
    return StoredEntry{.place = entry.place, .text = text, .damaged = true};
  }

  std::shared_ptr<const log::LogSnapshot> snapshot_;
  mutable Mutex mutex_;
  mutable std::map<Ordinal, std::string> stand_ins_ GUARDED_BY(mutex_);
};

// A missing file is a missing session; everything else is what it is.
template <class T>
Result<T> for_session(const std::string& session_id, Result<T> result) {
  if (result.ok() || result.error().code() != Code::kNotFound) return result;
  return no_session(session_id);
}

// Names of files become the ids of logs, sorted; what is no log is left out. In place:
// there may be thousands, and every list asks for them.
void keep_ids(std::vector<std::string>& names) {
  std::size_t ids = 0;
  for (std::string& name : names) {
    if (!name.ends_with(kLogSuffix)) continue;
    name.resize(name.size() - kLogSuffix.size());
    if (is_session_id(name)) names[ids++].swap(name);
  }
  names.resize(ids);
  std::sort(names.begin(), names.end());
}

SurveyedLog surveyed(std::string session_id, const fs::Stat& stat) {
  return {.session_id = std::move(session_id),
          .device = stat.identity.device,
          .inode = stat.identity.inode,
          .bytes = stat.size,
          .modified_ms = stat.modified_ms};
}

}  // namespace

Result<std::vector<std::string>> FileBackend::list() {
  TRY_ASSIGN(std::vector<std::string> names, fs_->list("sessions"));
  keep_ids(names);
  return names;
}

Result<std::vector<std::string>> FileBackend::list_system() {
  auto names = fs_->list("system");
  // It is made with its first log.
  if (!names.ok() && names.error().code() == Code::kNotFound) return std::vector<std::string>();
  if (!names.ok()) return std::move(names).error();
  keep_ids(*names);
  for (std::string& name : *names) name.insert(0, kSystemPrefix);
  return std::move(names).value();
}

// Under the log's lock, so that no writer adds to a file that has lost its name.
Result<void> FileBackend::drop_system(const std::string& log_id) {
  TRY(settle_names());
  const log::LogPaths paths = paths_of(log_id);
  TRY(session(log_id)->undisturbed([&]() -> Result<void> {
    TRY(for_session(log_id, fs_->remove(paths.log)));
    ignore(fs_->remove(paths.index), "there may be none, and without its log it is nothing");
    return sync_names(paths.directory);
  }));
  MutexLock lock(mutex_);
  snapshots_.erase(log_id);
  return {};
}

// A look at a log takes the kernel a microsecond or two, and is asked for of every
// session whenever any list is made: many are looked at from several threads.
Result<std::vector<SurveyedLog>> FileBackend::survey() {
  TRY_ASSIGN(std::vector<std::string> ids, list());
  std::vector<std::optional<SurveyedLog>> found(ids.size());
  const auto look_at = [&](std::size_t at) {
    const auto stat = fs_->stat("sessions/" + ids[at] + std::string(kLogSuffix));
    if (stat.ok()) {
      found[at] = surveyed(std::move(ids[at]), *stat);
    } else if (stat.error().code() != Code::kNotFound) {  // that one was removed meanwhile
      found[at] = SurveyedLog{.session_id = std::move(ids[at])};
    }
  };
  constexpr std::size_t kShare = 1024;
  share_out((ids.size() + kShare - 1) / kShare, 0, [&](std::size_t share) {
    const std::size_t end = std::min(ids.size(), (share + 1) * kShare);
    for (std::size_t at = share * kShare; at < end; ++at) look_at(at);
  });
  std::vector<SurveyedLog> logs;
  logs.reserve(found.size());
  for (auto& log : found) {
    if (log) logs.push_back(std::move(*log));
  }
  return logs;
}

Result<SurveyedLog> FileBackend::survey(const std::string& session_id) {
  TRY_ASSIGN(const fs::Stat stat, for_session(session_id, fs_->stat(paths_of(session_id).log)));
  return surveyed(session_id, stat);
}

Result<void> FileBackend::create(const std::string& session_id,
                                 std::span<const std::string> entries) {
  // The stores of older versions have no directory for system logs.
  if (session_id.starts_with(kSystemPrefix)) {
    TRY(settle_names());
    TRY(fs_->make_dir(paths_of(session_id).directory));
    TRY(fs_->sync_dir(""));
  }
  TRY_ASSIGN(auto log, begin(session_id));
  for (const std::string& entry : entries) TRY(log->add(std::string_view(entry)));
  TRY(log->finish());
  std::vector<std::unique_ptr<NewLog>> logs;
  logs.push_back(std::move(log));
  TRY_ASSIGN(const std::vector<std::size_t> taken, create_all(std::move(logs)));
  if (taken.empty()) return {};
  return Error(Code::kIdConflict, "session " + session_id + " exists already");
}

Result<std::unique_ptr<FileNewLog>> FileBackend::begin(const std::string& session_id) {
  TRY(settle_names());
  return FileNewLog::begin(*fs_, paths_of(session_id).directory, session_id);
}

Result<std::unique_ptr<NewLog>> FileBackend::new_log(const std::string& session_id) {
  TRY_ASSIGN(auto log, begin(session_id));
  return std::unique_ptr<NewLog>(std::move(log));
}

// Nobody ever sees a session half made: a file gets its name when it is whole and
// durable. All contents first, then all names, then their directory.
Result<std::vector<std::size_t>> FileBackend::create_all(
    std::vector<std::unique_ptr<NewLog>> logs) {
  std::vector<std::unique_ptr<fs::File>> files;
  for (const auto& log : logs) files.push_back(static_cast<FileNewLog&>(*log).take_file());
  TRY(fs_->sync_files(files));
  struct Named {
    std::vector<fs::Fs::Naming> names;
    std::vector<std::size_t> places;  // of `logs`
  };
  std::map<std::string, Named> directories;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const log::LogPaths paths = paths_of(logs[i]->session_id());
    Named& named = directories[paths.directory];
    named.names.push_back({files[i].get(), paths.log.substr(paths.directory.size() + 1)});
    named.places.push_back(i);
  }
  std::vector<std::size_t> taken;
  for (const auto& [directory, named] : directories) {
    TRY_ASSIGN(const auto some, fs_->link_all(directory, named.names));
    for (const std::size_t i : some) taken.push_back(named.places[i]);
    if (some.size() < named.names.size()) TRY(sync_names(directory));
  }
  return taken;
}

Result<void> FileBackend::sync_names(const std::string& directory) {
  auto synced = fs_->sync_dir(directory);
  if (synced.ok()) return synced;
  return Error(Code::kDurabilityUnknown, std::move(synced).error().message());
}

Result<SessionHeader> FileBackend::header(const std::string& session_id) {
  TRY_ASSIGN(const auto file,
             for_session(session_id, fs_->open(paths_of(session_id).log, fs::OpenMode::kRead)));
  TRY_ASSIGN(const fs::Stat stat, file->stat());
  TRY_ASSIGN(const std::string first, log::first_line(*file, stat.size));
  return log::header_of(first);
}

Result<std::shared_ptr<const LogView>> FileBackend::view(
    const std::string& session_id, std::shared_ptr<const Ancestry> inherited) {
  const log::LogPaths paths = paths_of(session_id);
  TRY_ASSIGN(const fs::Stat stat, for_session(session_id, fs_->stat(paths.log)));
  std::shared_ptr<const log::LogSnapshot> snapshot;
  {
    MutexLock lock(mutex_);
    if (const auto found = snapshots_.find(session_id); found != snapshots_.end()) {
      snapshot = found->second;
    }
  }
  // What is settled only grows: the same file with the same size, all of it
  // settled, is the same log. (A torn tail may be replaced by as many bytes.)
  if (!snapshot || snapshot->stat().identity != stat.identity ||
      snapshot->stat().size != stat.size || snapshot->state().committed != stat.size) {
    TRY_ASSIGN(snapshot, for_session(session_id, log::LogSnapshot::open(*fs_, paths, key_,
                                                                        std::move(inherited))));
    MutexLock lock(mutex_);
    if (snapshots_.size() >= kSnapshotsMax) snapshots_.clear();
    snapshots_[session_id] = snapshot;
  }
  return std::shared_ptr<const LogView>(std::make_shared<FileLogView>(std::move(snapshot)));
}

std::shared_ptr<FileSession> FileBackend::session(const std::string& session_id) {
  std::shared_ptr<FileSession> wanted;
  std::shared_ptr<FileSession> oldest;
  {
    MutexLock lock(mutex_);
    if (const auto found = by_id_.find(session_id); found != by_id_.end()) {
      sessions_.splice(sessions_.begin(), sessions_, found->second);
      return found->second->second;
    }
    const FileStore store{
        .fs = *fs_, .locks = *locks_, .clock = clock_, .random = random_, .key = key_};
    wanted = std::make_shared<FileSession>(store, session_id);
    sessions_.emplace_front(session_id, wanted);
    by_id_[session_id] = sessions_.begin();
    if (sessions_.size() > kOpenSessionsMax && sessions_.back().second.use_count() == 1) {
      oldest = sessions_.back().second;
    }
  }
  if (oldest) close_idle(std::move(oldest));
  return wanted;
}

// It stays in the list until it is closed: two objects for one session would
// share its lock.
void FileBackend::close_idle(std::shared_ptr<FileSession> oldest) {
  auto closed = oldest->close();
  MutexLock lock(mutex_);
  if (!closed.ok() && !late_failure_) late_failure_ = std::move(closed).error();
  const bool is_last = !sessions_.empty() && sessions_.back().second == oldest;
  if (!is_last || oldest.use_count() != 2) return;  // wanted again, or all are closed
  by_id_.erase(sessions_.back().first);
  sessions_.pop_back();
}

FileSession::FindInherited FileBackend::inherited_of(const std::string& session_id) {
  return [this, &session_id] { return ancestry(session_id); };
}

Result<AppendResult> FileBackend::append(const std::string& session_id, const Batch& batch,
                                         const AppendOptions& options) {
  TRY(settle_names());
  return for_session(session_id,
                     session(session_id)->append(batch, options, inherited_of(session_id)));
}

// The system waits by its own clock: whoever brought another waits by that.
std::unique_ptr<LogWatch> FileBackend::watch() {
  auto watch = &clock_ == &Clock::system() ? watch_files(*fs_, clock_) : nullptr;
  return watch ? std::move(watch) : Backend::watch();
}

Result<void> FileBackend::settle(const std::string& session_id) {
  TRY(settle_names());
  return for_session(
      session_id,
      session(session_id)->exclusively(inherited_of(session_id), [](log::LogWriter& writer) {
        return writer.commit(/*sync=*/true);
      }));
}

Result<VerifyReport> FileBackend::verify_once(const std::string& session_id) {
  auto inherited = ancestry(session_id);
  if (!inherited.ok() && inherited.error().code() != Code::kCorrupt) {
    return std::move(inherited).error();
  }
  const Ancestry* ancestors = inherited.ok() ? inherited->get() : nullptr;
  TRY_ASSIGN(VerifyReport report, log::verify_log(*fs_, paths_of(session_id), ancestors));
  if (!inherited.ok()) {
    report.problems.push_back(
        {.kind = "missing_parent_session", .detail = inherited.error().message()});
  }
  TRY_ASSIGN(const SessionHeader stored, header(session_id));
  if (stored.version > kSchemaVersion) {
    report.problems.push_back(
        {.kind = "newer_version", .detail = "written by a newer version; it can only be read"});
  }
  return report;
}

Result<VerifyReport> FileBackend::verify(const std::string& session_id) {
  TRY_ASSIGN(VerifyReport report, for_session(session_id, verify_once(session_id)));
  if (report.problems.empty()) return report;
  // It may have been a batch in the making: look again with writers kept out.
  TRY(session(session_id)->undisturbed([&]() -> Result<void> {
    TRY_ASSIGN(report, verify_once(session_id));
    return {};
  }));
  return report;
}

Result<std::vector<DumpLine>> FileBackend::dump(const std::string& session_id) {
  return for_session(session_id, log::dump_log(*fs_, paths_of(session_id)));
}

Result<RepairReport> FileBackend::repair(const std::string& session_id) {
  TRY_ASSIGN(const VerifyReport before, verify(session_id));
  TRY(settle_names());
  RepairReport report;
  report.session_id = session_id;
  const bool bad_index = std::any_of(before.problems.begin(), before.problems.end(),
                                     [](const Problem& p) { return p.kind == "bad_index"; });
  TRY(session(session_id)
          ->exclusively(inherited_of(session_id), [&](log::LogWriter& writer) -> Result<void> {
            // First: what the index knew may be torn by what the log itself says.
            if (bad_index) TRY(writer.rebuild_index());
            report.quarantined = writer.take_quarantined();
            for (const std::string& path : report.quarantined) {
              report.actions.push_back("moved the torn tail to " + path);
            }
            if (bad_index) report.actions.push_back("made the offset index anew");
            return {};
          }));
  TRY_ASSIGN(VerifyReport after, verify(session_id));
  report.remaining = std::move(after.problems);
  return report;
}

Result<void> FileBackend::close() {
  decltype(sessions_) open;
  std::optional<Error> failure;
  {
    MutexLock lock(mutex_);
    open.swap(sessions_);
    by_id_.clear();
    snapshots_.clear();
    failure = std::exchange(late_failure_, std::nullopt);
  }
  for (const auto& [id, session] : open) {
    auto closed = session->close();
    if (!closed.ok() && !failure) failure = std::move(closed).error();
  }
  return failure ? Result<void>(*failure) : Result<void>();
}

}  // namespace quipu::file
