// The writing side of runtime state. What must happen once is one batch whose
// ids are made from what it is about: of two processes that try, the second
// finds the first one's entries in its way.
#include "quipu/runtime.h"

#include <algorithm>
#include <array>

#include "backend/backend.h"
#include "base/json_write.h"
#include "base/try.h"
#include "base/uuid.h"
#include "quipu/writer.h"
#include "store/derived_id.h"
#include "store/fact_walk.h"
#include "store/guarded.h"
#include "store/runtime_read.h"

namespace quipu {
namespace {

// Others begin runs at the same moment: how often to try again.
constexpr int kTakeOverTries = 64;

NewEntry fact(std::string_view type, std::string id, std::string run_id = {}) {
  NewEntry entry;
  entry.type = type;
  entry.id = std::move(id);
  entry.run_id = std::move(run_id);
  entry.payload.clear();
  return entry;
}

NewEntry run_start_fact(std::string id, std::uint64_t generation, std::string_view agent_id) {
  NewEntry entry = fact("run_start", std::move(id));
  json::Writer out(entry.payload);
  out.begin_object().member("generation", generation).text_member("agentId", agent_id).end_object();
  return entry;
}

NewEntry run_end_fact(const std::string& run_id, std::string_view status) {
  NewEntry entry = fact("run_end", derived_id(run_id, ".end"), run_id);
  json::Writer out(entry.payload);
  out.begin_object().member("runId", run_id).member("status", status).end_object();
  return entry;
}

NewEntry queue_remove_fact(const std::string& queue_id) {
  NewEntry entry = fact("queue_remove", derived_id(queue_id, ".removed"));
  json::Writer(entry.payload).begin_object().member("queueId", queue_id).end_object();
  return entry;
}

Error not_queued(std::string_view queue_id) {
  return {Code::kNotFound, "no message " + std::string(queue_id) + " is in the queue"};
}

Error resolved_already(std::string_view request_id) {
  return Error(Code::kInvalidArgument,
               "permission " + std::string(request_id) + " is resolved already")
      .with_hint("the first decision holds; ask again with a new request");
}

}  // namespace

Runtime::Runtime(Store& store, std::string session_id)
    : sessions_(&store.sessions()), backend_(store.backend()), session_id_(std::move(session_id)) {}

Result<Run> Runtime::begin_run(const RunOptions& options) {
  return guarded([&]() -> Result<Run> {
    const Filler filler = backend_->filler();
    Run run{.session_id = session_id_,
            .run_id = uuid_v7(filler.clock.unix_ms(), filler.random),
            .generation = 0};
    for (int tries = 1;; ++tries) {
      TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
      RuntimeState newest;
      TRY(read_newest_run(*lineage, newest));
      // It may be ours: stored by an attempt that could not tell.
      if (newest.run_id == run.run_id) return run;
      if (newest.processing && !options.take_over) {
        return Error(Code::kFenced, "run " + newest.run_id + " holds the session")
            .with_actual(newest.run_id)
            .with_hint("wait for its end, or take over from it if its process is gone");
      }
      std::vector<NewEntry> batch;
      if (newest.processing) batch.push_back(run_end_fact(newest.run_id, "superseded"));
      run.generation = newest.generation + 1;
      batch.push_back(run_start_fact(run.run_id, run.generation, options.agent_id));
      AppendOptions append;
      append.fence = newest.run_id;
      auto stored = sessions_->append_session_entries(session_id_, batch, append);
      if (stored.ok()) return run;
      // A run that ended by itself meanwhile has its end stored: look again.
      const Code code = stored.error().code();
      const bool lost =
          code == Code::kFenced || code == Code::kPartialOverlap || code == Code::kIdConflict;
      if (!lost || !options.take_over || tries == kTakeOverTries) return std::move(stored).error();
    }
  });
}

Result<void> Runtime::end_run(const Run& run, std::string_view status) {
  return guarded([&]() -> Result<void> {
    AppendOptions append;
    append.fence = run.run_id;
    TRY(sessions_->append_session_entries(session_id_, std::array{run_end_fact(run.run_id, status)},
                                          append));
    return {};
  });
}

Result<std::string> Runtime::enqueue(std::string_view message, std::string_view queue_id) {
  return guarded([&]() -> Result<std::string> {
    TRY(json::validate_inner_object(message));
    const Filler filler = backend_->filler();
    const std::string id =
        queue_id.empty() ? uuid_v7(filler.clock.unix_ms(), filler.random) : std::string(queue_id);
    NewEntry entry = fact("queue_add", id);
    json::Writer out(entry.payload);
    out.begin_object().member("queueId", id).raw_member("message", message).end_object();
    TRY(sessions_->append_session_entries(session_id_, std::array{entry}));
    return id;
  });
}

Result<std::vector<QueuedMessage>> Runtime::queued() {
  return guarded([&]() -> Result<std::vector<QueuedMessage>> {
    TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
    return read_queue(*lineage);
  });
}

namespace {

// A message that an earlier call took from the queue, or nothing.
Result<std::optional<Dequeued>> find_dequeued(const Lineage& lineage, const std::string& queue_id) {
  TRY_ASSIGN(const auto found, lineage.find(derived_id(queue_id, ".message")));
  if (!found || !found->is_node) return std::optional<Dequeued>();
  EntryText text;
  TRY(read_entry(lineage, found->ordinal, text));
  return std::optional(Dequeued{.queue_id = queue_id,
                                .entry_id = text.id,
                                .message = std::string(text.envelope.payload),
                                .repeated = true});
}

Result<Dequeued> take_from_queue(SessionStore& sessions, const std::string& session_id,
                                 const QueuedMessage& queued, const DequeueOptions& options) {
  Dequeued taken{.queue_id = queued.queue_id,
                 .entry_id = derived_id(queued.queue_id, ".message"),
                 .message = options.message.empty() ? queued.message : options.message};
  AppendOptions append;
  append.fence = options.fence;
  NewEntry message;
  message.type = "message";
  message.id = taken.entry_id;
  message.payload = taken.message;
  if (options.writer != nullptr) {
    if (!options.writer->fence().empty()) append.fence = options.writer->fence();
    if (!options.writer->last().empty()) message.parent = Parent::of(options.writer->last());
  }
  if (append.fence) message.run_id = *append.fence;
  TRY_ASSIGN(const AppendResult stored,
             sessions.append_session_entries(
                 session_id, std::array{queue_remove_fact(queued.queue_id), message}, append));
  taken.repeated = stored.appended_count == 0;
  return taken;
}

}  // namespace

Result<std::optional<Dequeued>> Runtime::dequeue_into(const DequeueOptions& options) {
  return guarded([&]() -> Result<std::optional<Dequeued>> {
    if (options.writer != nullptr) TRY(options.writer->flush());
    for (int tries = 1;; ++tries) {
      TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
      TRY_ASSIGN(const std::vector<QueuedMessage> queue, read_queue(*lineage));
      const auto wanted =
          options.queue_id.empty()
              ? queue.begin()
              : std::find_if(queue.begin(), queue.end(), [&](const QueuedMessage& queued) {
                  return queued.queue_id == options.queue_id;
                });
      if (wanted == queue.end()) {
        if (options.queue_id.empty()) return std::optional<Dequeued>();
        TRY_ASSIGN(auto before, find_dequeued(*lineage, options.queue_id));
        if (!before) return not_queued(options.queue_id);
        return before;
      }
      auto taken = take_from_queue(*sessions_, session_id_, *wanted, options);
      if (!taken.ok()) {
        // Somebody else took it between our look and our batch: look again.
        const Code code = taken.error().code();
        const bool lost = code == Code::kPartialOverlap || code == Code::kIdConflict;
        if (!lost || tries == kTakeOverTries) return std::move(taken).error();
        continue;
      }
      // The same, with the very same message: theirs, unless it was asked for by name.
      if (taken->repeated && options.queue_id.empty()) continue;
      if (options.writer != nullptr && !taken->repeated) {
        options.writer->continue_from(taken->entry_id);
      }
      return std::optional(std::move(taken).value());
    }
  });
}

Result<void> Runtime::remove_queued(std::string_view queue_id) {
  return guarded([&]() -> Result<void> {
    TRY_ASSIGN(const std::vector<QueuedMessage> queue, queued());
    const auto is_wanted = [&](const QueuedMessage& one) { return one.queue_id == queue_id; };
    if (std::none_of(queue.begin(), queue.end(), is_wanted)) return not_queued(queue_id);
    TRY_ASSIGN(const AppendResult stored,
               sessions_->append_session_entries(
                   session_id_, std::array{queue_remove_fact(std::string(queue_id))}));
    if (stored.appended_count == 0) return not_queued(queue_id);
    return {};
  });
}

namespace {

// Whether there is a request of this id, answered or not, for this tool.
Result<bool> is_asked(const Lineage& lineage, const std::string& id, const std::string& tool) {
  TRY_ASSIGN(const auto found, lineage.find(id));
  if (!found) return false;
  EntryText text;
  TRY(read_entry(lineage, found->ordinal, text));
  return text.envelope.type.view() == "permission_request" &&
         text_member(text.envelope.payload, "tool") == tool;
}

}  // namespace

Result<std::string> Runtime::request_permission(const PermissionRequest& request) {
  return guarded([&]() -> Result<std::string> {
    if (!request.input.empty()) TRY(json::validate_inner_object(request.input));
    const Filler filler = backend_->filler();
    const std::string id = request.request_id.empty()
                               ? uuid_v7(filler.clock.unix_ms(), filler.random)
                               : request.request_id;
    NewEntry entry = fact("permission_request", id, request.fence.value_or(""));
    json::Writer out(entry.payload);
    out.begin_object()
        .member("requestId", id)
        .text_member("toolUseId", request.tool_use_id)
        .member("tool", request.tool);
    if (!request.input.empty()) out.raw_member("input", request.input);
    out.end_object();
    AppendOptions append;
    append.fence = request.fence;
    auto stored = sessions_->append_session_entries(session_id_, std::array{entry}, append);
    if (stored.ok()) return id;
    // A later run asks what an earlier one asked: it names another run, and is the
    // same question. Somebody may have answered it this very moment.
    if (stored.error().code() == Code::kIdConflict) {
      TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
      TRY_ASSIGN(const bool asked, is_asked(*lineage, id, request.tool));
      if (asked) return id;
    }
    return std::move(stored).error();
  });
}

Result<void> Runtime::resolve_permission(std::string_view request_id, std::string_view decision,
                                         std::string_view details) {
  return guarded([&]() -> Result<void> {
    if (!details.empty()) TRY(json::validate_inner_object(details));
    TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
    TRY_ASSIGN(const auto pending, read_permissions(*lineage));
    const auto is_wanted = [&](const PendingPermission& one) {
      return one.request_id == request_id;
    };
    if (std::none_of(pending.begin(), pending.end(), is_wanted)) {
      TRY_ASSIGN(const auto request, lineage->find(request_id));
      if (request) return resolved_already(request_id);
      return Error(Code::kNotFound, "there is no permission request " + std::string(request_id));
    }
    NewEntry entry = fact("permission_resolve", derived_id(request_id, ".resolved"));
    json::Writer out(entry.payload);
    out.begin_object().member("requestId", request_id).member("decision", decision);
    json::MemberWalk walk(details);
    while (const auto member = walk.next()) {
      const bool ours =
          json::key_equals(member->key, "requestId") || json::key_equals(member->key, "decision");
      if (!ours) out.raw_member(member->key, member->value);
    }
    out.end_object();
    auto stored = sessions_->append_session_entries(session_id_, std::array{entry});
    if (!stored.ok() && stored.error().code() != Code::kIdConflict) {
      return std::move(stored).error();
    }
    if (!stored.ok() || stored->appended_count == 0) return resolved_already(request_id);
    return {};
  });
}

Result<std::vector<PendingPermission>> Runtime::pending_permissions() {
  return guarded([&]() -> Result<std::vector<PendingPermission>> {
    TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
    return read_permissions(*lineage);
  });
}

Result<std::optional<std::string>> Runtime::decision(std::string_view request_id) {
  return guarded([&]() -> Result<std::optional<std::string>> {
    TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
    FactWalk walk(*lineage, EntryType::kPermissionResolve);
    for (;;) {
      TRY_ASSIGN(const auto fact, walk.next());
      if (!fact) return std::optional<std::string>();
      if (text_member(fact->payload, "requestId") != request_id) continue;
      return std::optional(text_member(fact->payload, "decision"));
    }
  });
}

Result<RuntimeState> Runtime::state() {
  return guarded([&]() -> Result<RuntimeState> {
    TRY_ASSIGN(const auto lineage, sessions_->lineage(session_id_));
    TRY_ASSIGN(RuntimeState state, read_runtime_state(*lineage));
    state.session_id = session_id_;
    return state;
  });
}

namespace {

std::vector<CutOff> cut_off_in(const RuntimeState& state) {
  std::vector<CutOff> all;
  if (state.processing) {
    all.push_back({.kind = "run",
                   .id = state.run_id,
                   .entry_id = state.run_id,
                   .next = "take_over",
                   .detail = "began " + state.since});
  }
  if (const auto& stream = state.interrupted_stream) {
    all.push_back({.kind = "stream",
                   .id = stream->stream_id,
                   .entry_id = stream->entry_id,
                   .next = "ask_again",
                   .detail = stream->model});
  }
  for (const OpenToolCall& call : state.open_tool_calls) {
    all.push_back({.kind = "tool_call",
                   .id = call.tool_use_id,
                   .entry_id = call.entry_id,
                   .next = "run_or_close",
                   .detail = call.tool});
  }
  for (const PendingPermission& request : state.pending) {
    all.push_back({.kind = "permission",
                   .id = request.request_id,
                   .entry_id = request.request_id,
                   .next = "resolve",
                   .detail = request.tool});
  }
  for (const QueuedMessage& message : state.queued) {
    all.push_back({.kind = "queued_message",
                   .id = message.queue_id,
                   .entry_id = message.queue_id,
                   .next = "dequeue",
                   .detail = "since " + message.timestamp});
  }
  return all;
}

}  // namespace

Result<Recovery> Runtime::recover(const RecoverOptions& options) {
  return guarded([&]() -> Result<Recovery> {
    Recovery recovery;
    TRY_ASSIGN(recovery.state, state());
    recovery.cut_off = cut_off_in(recovery.state);
    if (!options.apply || !recovery.state.processing) return recovery;
    const Filler filler = backend_->filler();
    const std::string own_run = uuid_v7(filler.clock.unix_ms(), filler.random);
    const std::array batch{run_end_fact(recovery.state.run_id, "interrupted"),
                           run_start_fact(own_run, recovery.state.generation + 1, "recover"),
                           run_end_fact(own_run, "recovered")};
    AppendOptions append;
    append.fence = recovery.state.run_id;
    TRY(sessions_->append_session_entries(session_id_, batch, append));
    TRY_ASSIGN(recovery.state, state());
    recovery.applied = true;
    return recovery;
  });
}

Result<RecoverAll> recover_all(Store& store, const RecoverOptions& options) {
  return guarded([&]() -> Result<RecoverAll> {
    TRY_ASSIGN(const std::vector<std::string> ids, store.sessions().session_ids());
    RecoverAll all;
    for (const std::string& id : ids) {
      auto recovery = Runtime(store, id).recover(options);
      if (!recovery.ok()) {
        all.failed.push_back({.session_id = id, .error = std::move(recovery).error()});
      } else if (!recovery->cut_off.empty()) {
        all.sessions.push_back(std::move(recovery).value());
      }
    }
    return all;
  });
}

Result<SwitchedSession> switch_session(Store& store, const Run& from_run,
                                       std::string_view to_session,
                                       const SwitchSessionOptions& options) {
  return guarded([&]() -> Result<SwitchedSession> {
    TRY(store.sessions().lineage(to_session));  // there at all?
    if (options.writer != nullptr) TRY(options.writer->close());
    TRY(Runtime(store, from_run.session_id).end_run(from_run, options.status));
    Runtime next(store, std::string(to_session));
    SwitchedSession switched;
    TRY_ASSIGN(switched.run, next.begin_run(options.run));
    TRY_ASSIGN(switched.state, next.state());
    return switched;
  });
}

}  // namespace quipu
