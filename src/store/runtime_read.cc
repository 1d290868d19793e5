#include "store/runtime_read.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "store/fact_walk.h"
#include "store/message_shape.h"

namespace quipu {
namespace {

using Ids = std::unordered_set<std::string>;

// What a fact is about: the member, or for facts without it their own id.
std::string subject_of(const Fact& fact, std::string_view key) {
  std::string id = text_member(fact.payload, key);
  return id.empty() ? std::string(fact.id) : id;
}

Result<Ids> subjects(const Lineage& lineage, EntryType type, std::string_view key) {
  Ids ids;
  FactWalk walk(lineage, type);
  for (;;) {
    TRY_ASSIGN(const auto fact, walk.next());
    if (!fact) return ids;
    ids.insert(text_member(fact->payload, key));
  }
}

std::string object_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kObject ? std::string(member->value) : "";
}

std::uint64_t number_member(std::string_view object, std::string_view key) {
  std::uint64_t number = 0;
  if (const auto member = json::find_member(object, key)) {
    std::from_chars(member->value.data(), member->value.data() + member->value.size(), number);
  }
  return number;
}

// The turn that the head stands in, read backwards.
class OpenTurn {
 public:
  /// False: the turn begins here.
  bool read(const EntryText& entry) {
    const std::string_view type = entry.envelope.type.view();
    if (type == "context_reset") return false;
    if (type == "message_delta_batch") {
      read_delta(entry);
      return true;
    }
    MessageShape shape = read_message_shape(type, entry.envelope.payload);
    passed_message_ = passed_message_ || shape.is_message;
    for (std::string& id : shape.answered) answered_.insert(std::move(id));
    // Backwards as well, so that the turn's first call comes first in the end.
    std::reverse(shape.calls.begin(), shape.calls.end());
    for (ToolCallShape& call : shape.calls) {
      // Some programs write a call in the message and again when it runs.
      if (answered_.contains(call.id) || !seen_.insert(call.id).second) continue;
      calls_.push_back({.tool_use_id = std::move(call.id),
                        .tool = std::move(call.tool),
                        .input = std::move(call.input),
                        .entry_id = entry.id});
    }
    return !shape.is_user_text;
  }

  void finish(RuntimeState& state) {
    std::reverse(calls_.begin(), calls_.end());
    state.open_tool_calls = std::move(calls_);
    if (!stream_) return;
    std::reverse(deltas_.begin(), deltas_.end());
    json::Writer out(stream_->parts);
    out.begin_array();
    for (const std::string& batch : deltas_) {
      json::ElementWalk walk(batch);
      while (const auto part = walk.next()) out.raw(part->value);
    }
    out.end_array();
    state.interrupted_stream = std::move(stream_);
  }

 private:
  void read_delta(const EntryText& entry) {
    const std::string_view payload = entry.envelope.payload;
    // The message itself came, or another took its place.
    if (passed_message_) return;
    const std::string id = text_member(payload, "streamId");
    if (!stream_) stream_.emplace(InterruptedStream{.stream_id = id, .entry_id = entry.id});
    if (stream_->stream_id != id) return;  // an older one: given up already
    if (std::string model = text_member(payload, "model"); !model.empty()) {
      stream_->model = std::move(model);
    }
    if (std::string provider = text_member(payload, "provider"); !provider.empty()) {
      stream_->provider = std::move(provider);
    }
    const auto deltas = json::find_member(payload, "deltas");
    if (deltas && deltas->kind == json::Kind::kArray) deltas_.emplace_back(deltas->value);
  }

  Ids answered_;
  Ids seen_;
  bool passed_message_ = false;
  std::vector<OpenToolCall> calls_;
  std::optional<InterruptedStream> stream_;
  std::vector<std::string> deltas_;
};

}  // namespace

Result<void> read_newest_run(const Lineage& lineage, RuntimeState& state) {
  FactWalk starts(lineage, EntryType::kRunStart);
  TRY_ASSIGN(const auto start, starts.next());
  if (!start) return {};
  state.run_id = std::string(start->id);
  state.generation = number_member(start->payload, "generation");
  state.agent_id = text_member(start->payload, "agentId");
  state.since = std::string(start->timestamp);
  state.processing = true;
  FactWalk ends(lineage, EntryType::kRunEnd);
  for (;;) {
    TRY_ASSIGN(const auto end, ends.next());
    if (!end || end->ordinal < start->ordinal) return {};
    if (text_member(end->payload, "runId") != state.run_id) continue;
    state.processing = false;
    state.status = text_member(end->payload, "status");
    return {};
  }
}

Result<std::vector<QueuedMessage>> read_queue(const Lineage& lineage) {
  TRY_ASSIGN(const Ids removed, subjects(lineage, EntryType::kQueueRemove, "queueId"));
  std::vector<QueuedMessage> queued;
  FactWalk walk(lineage, EntryType::kQueueAdd);
  for (;;) {
    TRY_ASSIGN(const auto fact, walk.next());
    if (!fact) break;
    std::string id = subject_of(*fact, "queueId");
    if (removed.contains(id)) continue;
    // One that says nothing we know (or was redacted) must not jam the queue.
    std::string message = object_member(fact->payload, "message");
    if (message.empty()) message = fact->payload;
    queued.push_back({.queue_id = std::move(id),
                      .message = std::move(message),
                      .timestamp = std::string(fact->timestamp)});
  }
  std::reverse(queued.begin(), queued.end());
  return queued;
}

Result<std::vector<PendingPermission>> read_permissions(const Lineage& lineage) {
  TRY_ASSIGN(const Ids resolved, subjects(lineage, EntryType::kPermissionResolve, "requestId"));
  std::vector<PendingPermission> pending;
  FactWalk walk(lineage, EntryType::kPermissionRequest);
  for (;;) {
    TRY_ASSIGN(const auto fact, walk.next());
    if (!fact) break;
    std::string id = subject_of(*fact, "requestId");
    if (resolved.contains(id)) continue;
    pending.push_back({.request_id = std::move(id),
                       .tool_use_id = text_member(fact->payload, "toolUseId"),
                       .tool = text_member(fact->payload, "tool"),
                       .input = object_member(fact->payload, "input"),
                       .run_id = std::string(fact->run_id),
                       .timestamp = std::string(fact->timestamp)});
  }
  std::reverse(pending.begin(), pending.end());
  return pending;
}

Result<void> read_open_turn(const Lineage& lineage, RuntimeState& state) {
  OpenTurn turn;
  EntryText text;
  for (Ordinal node = lineage.head(); node != kNone;) {
    TRY_ASSIGN(const StoredEntry stored, lineage.entry(node));
    TRY(read_entry(lineage, node, text));
    if (!turn.read(text)) break;
    node = stored.place.parent;
  }
  turn.finish(state);
  return {};
}

Result<RuntimeState> read_runtime_state(const Lineage& lineage) {
  RuntimeState state;
  TRY(read_newest_run(lineage, state));
  TRY_ASSIGN(state.head, head_of(lineage));
  TRY_ASSIGN(state.tail, tail_of(lineage));
  TRY_ASSIGN(state.queued, read_queue(lineage));
  TRY_ASSIGN(state.pending, read_permissions(lineage));
  TRY(read_open_turn(lineage, state));
  return state;
}

}  // namespace quipu
