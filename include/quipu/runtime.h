// Runtime state: who is working on a session, what waits, what was cut off.
//
// All of it is facts in the session's own log, so it survives whoever wrote it
// and needs no store of its own:
//
//   run_start {generation, agentId?}         run_end {runId, status}
//   queue_add {queueId, message}             queue_remove {queueId}
//   permission_request {requestId, toolUseId?, tool, input?, …}
//   permission_resolve {requestId, decision, …}
//
// A *run* is the time in which one process works on a session. Its id is the
// fencing token: a run passes it with everything that it appends
// (AppendOptions::fence, WriterOptions::fence), and from the moment that another
// run begins, the append itself refuses the old one with `fenced`. There is no
// lease and no clock in it: a process that was stopped for an hour wakes up
// harmless.
//
//   Runtime runtime(store, session_id);
//   auto run = runtime.begin_run({.take_over = true});
//   auto writer = SessionWriter::open(store, session_id, {.fence = run->run_id});
//   while (auto next = runtime.dequeue_into({.writer = &*writer}); next && *next) …
//   runtime.end_run(*run);
//
// Everything here is durable on return. Ids of facts that may exist only once
// are made from what they are about (`<run>.end`, `<queue id>.removed`,
// `<request>.resolved`), so that two processes cannot both write them.
//
// Cost: reading state walks the facts of each type and the path back to the last
// thing a user said; never the whole log.
//
// Thread-safety: every call from every thread. The store must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

class SessionWriter;

struct Run {
  std::string session_id;
  /// The id of its `run_start`: what to pass as fence.
  std::string run_id;
  /// One more than that of the run before.
  std::uint64_t generation = 0;
};

struct RunOptions {
  std::string agent_id{};
  /// Begin also when another run has not ended: it is ended as "superseded" in
  /// the same batch, and whoever holds it can write no more.
  bool take_over = false;
};

struct QueuedMessage {
  std::string queue_id;
  /// A message payload, as it was given.
  std::string message;
  std::string timestamp;
};

struct DequeueOptions {
  /// Empty: the oldest.
  std::string queue_id{};
  /// What to append in place of the queued message: a message payload. Empty:
  /// the queued one.
  std::string message{};
  /// Flushed first; the message goes on from its last node, under its fence, and
  /// the writer goes on from the message. Without one: the session's head.
  SessionWriter* writer = nullptr;
  std::optional<std::string> fence{};
};

struct Dequeued {
  std::string queue_id;
  /// Of the `message` entry: `<queue id>.message`.
  std::string entry_id;
  std::string message;
  /// It was taken from the queue before (this call repeats one whose answer was lost).
  bool repeated = false;
};

struct PermissionRequest {
  std::string request_id{};  // empty: made up
  std::string tool_use_id{};
  std::string tool{};
  /// A JSON object; empty: none.
  std::string input{};
  std::optional<std::string> fence{};
};

struct PendingPermission {
  std::string request_id;
  std::string tool_use_id;
  std::string tool;
  std::string input;  // a JSON object; empty: none
  std::string run_id;
  std::string timestamp;
};

/// A call of a tool that has no result yet.
struct OpenToolCall {
  std::string tool_use_id;
  std::string tool;
  std::string input;     // JSON, or the text of `rawInput`
  std::string entry_id;  // of the message
};

/// A message that began to arrive and never ended.
struct InterruptedStream {
  std::string stream_id{};
  std::string entry_id{};  // its last entry
  std::string model{};
  std::string provider{};
  /// What arrived and was kept, as a JSON array of parts; "[]" unless deltas
  /// were persisted.
  std::string parts{};
};

/// The state of one session at one moment. A plain value: a view keeps it as one
/// row (`encode_runtime_state`).
struct RuntimeState {
  std::string session_id;
  /// A run began and did not end.
  bool processing = false;
  std::uint64_t generation = 0;  // of the newest run; 0: there was none
  std::string run_id;            // the newest run
  std::string agent_id;
  std::string since;   // when it began
  std::string status;  // how it ended; empty while it has not
  std::string head;
  std::string tail;
  std::vector<QueuedMessage> queued;       // oldest first
  std::vector<PendingPermission> pending;  // oldest first
  std::vector<OpenToolCall> open_tool_calls;
  std::optional<InterruptedStream> interrupted_stream;
};

/// As one JSON object, members as above in camelCase.
std::string encode_runtime_state(const RuntimeState& state);

/// Something that was going on.
struct CutOff {
  /// "run", "stream", "tool_call", "permission", "queued_message".
  std::string kind;
  /// Of the run, stream, call, request, queued message.
  std::string id;
  /// The entry that says so.
  std::string entry_id;
  /// What can be done about it: "take_over" (a run), "ask_again" (a stream: the model),
  /// "run_or_close" (a tool call), "resolve" (a permission), "dequeue" (a message).
  std::string next;
  std::string detail;  // for people: a tool's name, say
};

struct Recovery {
  RuntimeState state;
  std::vector<CutOff> cut_off;
  /// The run was ended as "interrupted": see RecoverOptions::apply.
  bool applied = false;
};

struct RecoverOptions {
  /// End a run that did not end: `run_end {status:"interrupted"}`, and a run of
  /// the recovery's own that begins and ends in the same batch, so that the old holder,
  /// should it be alive after all, is fenced off.
  bool apply = false;
};

/// What `recover_all` could not look at.
struct RecoverFailure {
  std::string session_id;
  Error error;
};

struct RecoverAll {
  std::vector<Recovery> sessions;  // those in which something was cut off
  std::vector<RecoverFailure> failed;
};

class Runtime {
 public:
  Runtime(Store& store, std::string session_id);

  /// `fenced` (`actual()` is the run) when another run has not ended, or when
  /// another one began at this moment; with `take_over` it goes on trying.
  Result<Run> begin_run(const RunOptions& options = {});
  /// `status`: "completed", "failed", "cancelled" … Ending a run again with the same status
  /// is success. `fenced` when another run has begun.
  Result<void> end_run(const Run& run, std::string_view status = "completed");

  /// Queues a message payload (`invalid_argument` when it is no JSON object). Its queue
  /// id, made up unless given, is the answer; the same id with the same message
  /// is queued once. Needs no run: this is how others speak to a working agent.
  Result<std::string> enqueue(std::string_view message, std::string_view queue_id = {});
  Result<std::vector<QueuedMessage>> queued();
  /// Takes a message from the queue and appends it to the conversation in ONE
  /// batch: a crash neither loses nor doubles it. Nothing when the queue is
  /// empty; `not_found` for a queue id that is not there, or was removed without
  /// being appended.
  Result<std::optional<Dequeued>> dequeue_into(const DequeueOptions& options = {});
  /// Takes a message out of the queue for nothing. `not_found` when it is not in
  /// it.
  Result<void> remove_queued(std::string_view queue_id);

  /// Asks, and answers with the request's id. A request of this id for the same tool
  /// that was made already is success, also when it is resolved by now: after a crash
  /// one may simply ask again, and look for the decision then.
  Result<std::string> request_permission(const PermissionRequest& request);
  /// `decision`: "allow", "deny" … `details`: a JSON object whose members go into
  /// the fact, or empty. `not_found` without the request; `invalid_argument` when it
  /// is resolved already. Needs no run: a person answers, from anywhere.
  Result<void> resolve_permission(std::string_view request_id, std::string_view decision,
                                  std::string_view details = {});
  Result<std::vector<PendingPermission>> pending_permissions();
  /// What was decided about a request; nothing while it is pending or was never made.
  Result<std::optional<std::string>> decision(std::string_view request_id);

  Result<RuntimeState> state();
  Result<Recovery> recover(const RecoverOptions& options = {});

 private:
  SessionStore* sessions_;
  std::shared_ptr<Backend> backend_;
  std::string session_id_;
};

/// `recover` for every session. A session that cannot be read is named in
/// `failed` and does not stop the others.
Result<RecoverAll> recover_all(Store& store, const RecoverOptions& options = {});

struct SwitchSessionOptions {
  /// Of the session that is left: flushed first.
  SessionWriter* writer = nullptr;
  /// How the old run ends.
  std::string status = "switched";
  RunOptions run{};
};

struct SwitchedSession {
  Run run;
  RuntimeState state;
};

/// Ends a run properly, then begins one in another session and reads its state.
/// What is queued in the old session stays in its log. `not_found` when there
/// is no such session: then nothing has changed. When the new run cannot begin (`fenced`), the
/// old one has ended.
Result<SwitchedSession> switch_session(Store& store, const Run& from_run,
                                       std::string_view to_session,
                                       const SwitchSessionOptions& options = {});

}  // namespace quipu
