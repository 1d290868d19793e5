#include "backend/memory/memory_backend.h"

#include <deque>
#include <map>
#include <unordered_map>

#include "backend/memory/memory_attachments.h"
#include "backend/plan.h"
#include "base/mutex.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::memory {
namespace {

struct StoredLine {
  std::string id;
  std::string json;
  Placement place;
};

// One log. Lines are only ever added, so a view is a count.
struct MemoryLog {
  Mutex mutex;
  std::deque<StoredLine> lines GUARDED_BY(mutex);
  std::unordered_map<std::string, Ordinal> by_id GUARDED_BY(mutex);
  FoldState fold GUARDED_BY(mutex);
  std::uint64_t bytes GUARDED_BY(mutex) = 0;
  std::shared_ptr<const Ancestry> inherited;
  SessionHeader header;
  std::uint64_t number = 0;  // of the logs of the store, in the order they were made
  std::int64_t modified_ms GUARDED_BY(mutex) = 0;
};

class MemoryView : public LogView {
 public:
  explicit MemoryView(std::shared_ptr<MemoryLog> log) : log_(std::move(log)) {
    MutexLock lock(log_->mutex);
    fold_ = log_->fold;
    bytes_ = log_->bytes;
  }

  const FoldState& fold() const override { return fold_; }
  std::uint32_t damaged() const override { return 0; }
  std::uint64_t settled_bytes() const override { return bytes_; }
  Result<StoredEntry> entry(Ordinal own) const override {
    TRY_ASSIGN(const StoredLine* line, at(own));
    return StoredEntry{.place = line->place, .text = line->json};
  }
  Result<std::vector<Placement>> places() const override {
    MutexLock lock(log_->mutex);
    std::vector<Placement> places;
    places.reserve(fold_.count);
    for (Ordinal own = 0; own < fold_.count; ++own) places.push_back(log_->lines[own].place);
    return places;
  }
  Result<std::string> id(Ordinal own) const override {
    TRY_ASSIGN(const StoredLine* line, at(own));
    return line->id;
  }
  Result<std::optional<Ordinal>> find(std::string_view id) const override {
    MutexLock lock(log_->mutex);
    const auto found = log_->by_id.find(std::string(id));
    if (found == log_->by_id.end() || found->second >= fold_.count) {
      return std::optional<Ordinal>();
    }
    return std::optional(found->second);
  }

 private:
  // Lines never move in a deque, nor change: the pointer outlives the lock.
  Result<const StoredLine*> at(Ordinal own) const {
    MutexLock lock(log_->mutex);
    if (own >= fold_.count) return Error(Code::kInternal, "no such entry");
    return &log_->lines[own];
  }

  std::shared_ptr<MemoryLog> log_;
  FoldState fold_;
  std::uint64_t bytes_ = 0;
};

// Entries become visible one by one while the log's mutex is held throughout:
// to everybody else they appear at once.
class MemoryTarget : public AppendTarget {
 public:
  explicit MemoryTarget(MemoryLog& log) REQUIRES(log.mutex) : log_(log) {}

  const FoldState& fold() const override QUIPU_TSA(no_thread_safety_analysis) { return log_.fold; }
  Result<std::optional<FoundEntry>> find(std::string_view id) override
      QUIPU_TSA(no_thread_safety_analysis) {
    if (const auto found = log_.by_id.find(std::string(id)); found != log_.by_id.end()) {
      const Placement& place = log_.lines[found->second].place;
      return std::optional(FoundEntry{.ordinal = log_.fold.base + found->second,
                                      .is_node = !is_fact(place.type),
                                      .depth = place.depth});
    }
    if (!log_.inherited) return std::optional<FoundEntry>();
    return log_.inherited->find(id);
  }
  Result<std::string_view> text(Ordinal visible) override QUIPU_TSA(no_thread_safety_analysis) {
    if (visible >= log_.fold.base)
      return std::string_view(log_.lines[visible - log_.fold.base].json);
    TRY_ASSIGN(const StoredEntry entry, log_.inherited->entry(visible));
    return entry.text;
  }
  Result<std::string_view> id(Ordinal visible) override QUIPU_TSA(no_thread_safety_analysis) {
    if (visible >= log_.fold.base) return std::string_view(log_.lines[visible - log_.fold.base].id);
    TRY_ASSIGN(inherited_id_, log_.inherited->id(visible));
    return std::string_view(inherited_id_);
  }
  void stage(const Draft& draft, std::string_view parent, const FoldInput& input) override
      QUIPU_TSA(no_thread_safety_analysis) {
    std::string json;
    draft.append_body(json, parent);
    json += '}';
    add(std::string(draft.id.view()), std::move(json), input);
  }
  void add(std::string id, std::string json, const FoldInput& input)
      QUIPU_TSA(no_thread_safety_analysis) {
    const Ordinal own = log_.fold.count;
    const Placement place = quipu::fold(
        log_.fold, input,
        [this](std::string_view wanted) -> std::optional<FoundEntry> {
          auto found = find(wanted);
          return found.ok() ? *found : std::nullopt;
        },
        false);
    log_.by_id.emplace(id, own);
    log_.bytes += json.size() + 1;  // with a line feed
    log_.lines.push_back({.id = std::move(id), .json = std::move(json), .place = place});
  }

 private:
  MemoryLog& log_;
  std::string inherited_id_;
};

class MemoryBackend : public Backend {
 public:
  MemoryBackend(Clock& clock, Random& random)
      : clock_(clock),
        random_(random),
        store_id_(uuid_v7(clock.unix_ms(), random)),
        attachments_(clock) {}

  const std::string& store_id() const override { return store_id_; }
  Filler filler() override { return {.clock = clock_, .random = random_}; }

  Result<std::vector<std::string>> list() override {
    MutexLock lock(mutex_);
    std::vector<std::string> ids;
    for (const auto& [id, log] : logs_) {
      if (!id.starts_with(kSystemPrefix)) ids.push_back(id);
    }
    return ids;
  }

  Result<std::vector<SurveyedLog>> survey() override {
    MutexLock lock(mutex_);
    std::vector<SurveyedLog> logs;
    logs.reserve(logs_.size());
    for (const auto& [id, log] : logs_) {
      if (!id.starts_with(kSystemPrefix)) logs.push_back(surveyed(id, *log));
    }
    return logs;
  }

  Result<SurveyedLog> survey(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    return surveyed(session_id, *log);
  }

  Result<std::vector<std::string>> list_system() override {
    MutexLock lock(mutex_);
    std::vector<std::string> ids;
    for (const auto& [id, log] : logs_) {
      if (id.starts_with(kSystemPrefix)) ids.push_back(id);
    }
    return ids;
  }

  Result<void> drop_system(const std::string& log_id) override {
    MutexLock lock(mutex_);
    if (logs_.erase(log_id) == 0) return no_session(log_id);
    return {};
  }

  Result<void> create(const std::string& session_id,
                      std::span<const std::string> entries) override {
    auto log = std::make_shared<MemoryLog>();
    log->header = read_session_header(read_envelope(entries.front()).payload);
    if (!log->header.parent_session.empty()) {
      TRY_ASSIGN(auto parent, lineage(log->header.parent_session));
      TRY_ASSIGN(log->inherited, Ancestry::of_fork(log->header.parent_session, std::move(parent),
                                                   log->header.parent_entry));
    }
    {
      MutexLock lock(log->mutex);
      log->fold = fold_start(log->inherited ? log->inherited->count() : 0);
      log->modified_ms = clock_.unix_ms();
      MemoryTarget target(*log);
      for (const std::string& entry : entries) {
        const Envelope envelope = read_envelope(entry);
        const auto pointed = fact_target(envelope.type_code, envelope.payload);
        target.add(std::string(envelope.id.view()), entry,
                   {.type = envelope.type_code,
                    .parent_link = envelope.parent_link,
                    .parent = envelope.parent.view(),
                    .target = pointed ? pointed->view() : std::string_view()});
      }
    }
    MutexLock lock(mutex_);
    log->number = ++made_;
    if (!logs_.emplace(session_id, std::move(log)).second) {
      return Error(Code::kIdConflict, "session " + session_id + " exists already");
    }
    return {};
  }

  Result<SessionHeader> header(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    return log->header;
  }

  Result<std::shared_ptr<const LogView>> view(const std::string& session_id,
                                              std::shared_ptr<const Ancestry>) override {
    TRY_ASSIGN(auto log, find(session_id));
    return std::shared_ptr<const LogView>(std::make_shared<MemoryView>(std::move(log)));
  }

  Result<AppendResult> append(const std::string& session_id, const Batch& batch,
                              const AppendOptions& options) override {
    TRY_ASSIGN(const auto log, find(session_id));
    MutexLock lock(log->mutex);
    MemoryTarget target(*log);
    TRY_ASSIGN(const Planned planned, plan_append(target, batch, options));
    log->modified_ms = clock_.unix_ms();
    AppendResult result;
    result.session_id = session_id;
    result.entry_ids = batch.ids();
    result.last_appended_entry_id = result.entry_ids.back();
    result.appended_count = planned.appended;
    result.already_present = planned.already_present;
    return result;
  }

  Result<void> settle(const std::string&) override { return {}; }

  AttachmentStore& attachments() override { return attachments_; }

  Result<MigrationResult> migrate(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    MutexLock lock(log->mutex);
    MigrationResult result;
    result.session_id = session_id;
    result.from_version = log->header.version;
    result.to_version = kSchemaVersion;
    result.entries = log->lines.size();
    return result;
  }

  Result<VerifyReport> verify(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    MutexLock lock(log->mutex);
    VerifyReport report;
    report.session_id = session_id;
    report.entries = log->fold.count;
    return report;
  }

  Result<RepairReport> repair(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    RepairReport report;
    report.session_id = session_id;
    return report;
  }

  Result<std::vector<DumpLine>> dump(const std::string& session_id) override {
    TRY_ASSIGN(const auto log, find(session_id));
    MutexLock lock(log->mutex);
    std::vector<DumpLine> lines;
    for (const StoredLine& stored : log->lines) {
      DumpLine line;
      line.bytes = stored.json.size();
      line.state = "memory";
      line.text = stored.json;
      lines.push_back(std::move(line));
    }
    return lines;
  }

  Result<void> close() override { return {}; }

 private:
  Result<std::shared_ptr<MemoryLog>> find(const std::string& session_id) {
    MutexLock lock(mutex_);
    const auto found = logs_.find(session_id);
    if (found == logs_.end()) return no_session(session_id);
    return found->second;
  }

  static SurveyedLog surveyed(const std::string& session_id, MemoryLog& log) {
    MutexLock lock(log.mutex);
    return {.session_id = session_id,
            .device = 0,
            .inode = log.number,
            .bytes = log.bytes,
            .modified_ms = log.modified_ms};
  }

  Clock& clock_;
  Random& random_;
  std::string store_id_;
  MemoryAttachments attachments_;
  Mutex mutex_;
  std::uint64_t made_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<MemoryLog>> logs_ GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<Backend> make_backend(Clock& clock, Random& random) {
  return std::make_shared<MemoryBackend>(clock, random);
}

}  // namespace quipu::memory
