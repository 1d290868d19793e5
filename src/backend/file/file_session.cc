#include "backend/file/file_session.h"

#include <utility>

#include "base/try.h"
#include "log/snapshot.h"
#include "quipu/limits.h"

namespace quipu::file {
namespace {

class WriterTarget : public AppendTarget {
 public:
  WriterTarget(log::LogWriter& writer, const Ancestry* inherited)
      : writer_(writer), inherited_(inherited) {}

  const FoldState& fold() const override { return writer_.state().fold; }
  Result<std::optional<FoundEntry>> find(std::string_view id) override { return writer_.find(id); }
  Result<std::string_view> text(Ordinal visible) override {
    if (visible >= fold().base) return writer_.line(visible);
    TRY_ASSIGN(const StoredEntry entry, inherited_->entry(visible));
    if (entry.damaged) return damaged_repeat(inherited_->session(visible));
    return entry.text;
  }
  Result<std::string_view> id(Ordinal visible) override {
    if (visible >= fold().base) return writer_.id(visible);
    TRY_ASSIGN(inherited_id_, inherited_->id(visible));
    return std::string_view(inherited_id_);
  }
  void stage(const Draft& draft, std::string_view parent, const FoldInput& input) override {
    writer_.stage(draft, parent, input);
  }

 private:
  log::LogWriter& writer_;
  const Ancestry* inherited_;
  std::string inherited_id_;
};

AppendResult answer(const std::string& session_id, const Batch& batch, const Planned& planned) {
  AppendResult result;
  result.session_id = session_id;
  result.entry_ids = batch.ids();
  result.last_appended_entry_id = result.entry_ids.back();
  result.appended_count = planned.appended;
  result.already_present = planned.already_present;
  return result;
}

}  // namespace

log::LogPaths paths_of(const std::string& session_id) {
  if (session_id.starts_with(kSystemPrefix)) {
    return {.session_id = session_id,
            .log = session_id + ".jsonl",
            .index = session_id + ".idx",
            .directory = "system",
            .quarantine = "quarantine"};
  }
  return {.session_id = session_id,
          .log = "sessions/" + session_id + ".jsonl",
          .index = "sessions/" + session_id + ".idx",
          .directory = "sessions",
          .quarantine = "quarantine"};
}

Result<AppendResult> FileSession::append(const Batch& batch, const AppendOptions& options,
                                         const FindInherited& inherited) {
  Request request{.batch = batch, .options = options, .result = std::nullopt};
  bool leads = false;
  {
    MutexLock lock(mutex_);
    waiting_.push_back(&request);
    changed_.wait(mutex_, [&]() REQUIRES(mutex_) { return request.done || !busy_; });
    leads = !request.done;
    if (leads) busy_ = true;
  }
  if (leads) lead(inherited);
  return std::move(*request.result);
}

void FileSession::lead(const FindInherited& inherited) {
  {
    MutexLock lock(mutex_);
    group_.swap(waiting_);
  }
  run(group_, inherited);
  MutexLock lock(mutex_);
  for (Request* request : group_) request->done = true;
  group_.clear();
  busy_ = false;
  changed_.notify_all();
}

void FileSession::run(std::span<Request* const> group, const FindInherited& inherited) {
  auto done = [&]() -> Result<void> {
    TRY_ASSIGN(const auto lock, store_.locks.acquire(paths_.session_id));
    return run_locked(group, inherited);
  }();
  // Whoever has no answer yet shares the failure.
  for (Request* request : group) {
    if (!request->result) {
      request->result =
          done.ok() ? Error(Code::kInternal, "an append was left without an answer") : done.error();
    }
  }
}

Result<void> FileSession::run_locked(std::span<Request* const> group,
                                     const FindInherited& inherited) {
  TRY(open_writer(inherited));
  while (!group.empty()) {
    auto planned = plan_some(group);
    if (!planned.ok()) {  // the index is damaged
      writer_->drop_staged();
      TRY(writer_->rebuild_index());
      planned = plan_some(group);
      if (!planned.ok()) return std::move(planned).error();
    }
    const auto now = group.first(*planned);
    group = group.subspan(*planned);
    bool sync = false;
    for (const Request* request : now) {
      sync = sync || request->options.durability == Durability::kCommit;
    }
    const auto committed = writer_->commit(sync);
    const bool durable = writer_->state().durable == writer_->state().committed;
    for (Request* request : now) {
      if (!request->result->ok()) continue;
      if (!committed.ok()) {
        request->result = committed.error();
      } else {
        request->result->value().durable = durable;
      }
    }
  }
  return {};
}

// Plans as many batches as fit into one on disk, at least one. Answers that
// depend on nothing but the plan are given at once.
Result<std::size_t> FileSession::plan_some(std::span<Request* const> group) {
  WriterTarget target(*writer_, inherited_.get());
  std::size_t planned_requests = 0;
  for (Request* request : group) {
    const Batch& batch = request->batch;
    if (planned_requests > 0 && (writer_->staged_lines() + batch.drafts.size() > kBatchEntriesMax ||
                                 writer_->staged_bytes() + batch.bytes > kBatchBytesMax)) {
      break;
    }
    ++planned_requests;
    auto planned = plan_append(target, batch, request->options);
    if (planned.ok()) {
      request->result = answer(paths_.session_id, batch, *planned);
    } else if (planned.error().code() == Code::kCorrupt) {
      return std::move(planned).error();
    } else {
      request->result = std::move(planned).error();
    }
  }
  return planned_requests;
}

Result<void> FileSession::open_writer(const FindInherited& inherited) {
  if (writer_) {
    TRY_ASSIGN(const bool same_file, writer_->refresh());
    if (same_file) return {};
    writer_.reset();
  }
  TRY_ASSIGN(inherited_, inherited());
  TRY_ASSIGN(writer_,
             log::LogWriter::open({.fs = store_.fs, .clock = store_.clock, .key = store_.key},
                                  paths_, inherited_));
  return {};
}

void FileSession::take_turn() {
  MutexLock lock(mutex_);
  changed_.wait(mutex_, [this]() REQUIRES(mutex_) { return !busy_; });
  busy_ = true;
}

void FileSession::end_turn() {
  MutexLock lock(mutex_);
  busy_ = false;
  changed_.notify_all();
}

Result<void> FileSession::exclusively(const FindInherited& inherited,
                                      const std::function<Result<void>(log::LogWriter&)>& work) {
  take_turn();
  auto done = [&]() -> Result<void> {
    TRY_ASSIGN(const auto lock, store_.locks.acquire(paths_.session_id));
    TRY(open_writer(inherited));
    return work(*writer_);
  }();
  end_turn();
  return done;
}

Result<void> FileSession::undisturbed(const std::function<Result<void>()>& work) {
  take_turn();
  auto done = [&]() -> Result<void> {
    TRY_ASSIGN(const auto lock, store_.locks.acquire(paths_.session_id));
    return work();
  }();
  end_turn();
  return done;
}

Result<void> FileSession::close() {
  take_turn();
  auto done = [&]() -> Result<void> {
    if (!writer_) return {};
    TRY_ASSIGN(const auto lock, store_.locks.acquire(paths_.session_id));
    // Others may have written since: their state is the one to vouch for.
    const auto same_file = writer_->refresh();
    const bool is_gone = !same_file.ok() && same_file.error().code() == Code::kNotFound;
    if (!same_file.ok() && !is_gone) return same_file.error();
    if (same_file.ok() && *same_file) TRY(writer_->close());
    writer_.reset();
    return {};
  }();
  end_turn();
  return done;
}

}  // namespace quipu::file
