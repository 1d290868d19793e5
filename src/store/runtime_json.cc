#include "base/json_write.h"
#include "quipu/runtime.h"

namespace quipu {
namespace {

// JSON as it stands; null for what is not there.
void raw_or_null(json::Writer& out, std::string_view key, std::string_view json) {
  out.raw_member(key, json.empty() ? "null" : json);
}

void text_or_null(json::Writer& out, std::string_view key, std::string_view text) {
  if (text.empty()) {
    out.raw_member(key, "null");
  } else {
    out.member(key, text);
  }
}

void write_queue(json::Writer& out, const RuntimeState& state) {
  out.key("queued").begin_array();
  for (const QueuedMessage& queued : state.queued) {
    out.begin_object().member("queueId", queued.queue_id).member("timestamp", queued.timestamp);
    raw_or_null(out, "message", queued.message);
    out.end_object();
  }
  out.end_array();
}

void write_pending(json::Writer& out, const RuntimeState& state) {
  out.key("pending").begin_array();
  for (const PendingPermission& request : state.pending) {
    out.begin_object()
        .member("requestId", request.request_id)
        .member("tool", request.tool)
        .text_member("toolUseId", request.tool_use_id)
        .text_member("runId", request.run_id)
        .member("timestamp", request.timestamp);
    raw_or_null(out, "input", request.input);
    out.end_object();
  }
  out.end_array();
}

void write_open_turn(json::Writer& out, const RuntimeState& state) {
  out.key("openToolCalls").begin_array();
  for (const OpenToolCall& call : state.open_tool_calls) {
    out.begin_object()
        .member("toolUseId", call.tool_use_id)
        .member("tool", call.tool)
        .member("input", call.input)
        .member("entryId", call.entry_id)
        .end_object();
  }
  out.end_array();
  out.key("interruptedStream");
  if (const auto& stream = state.interrupted_stream) {
    out.begin_object()
        .member("streamId", stream->stream_id)
        .member("entryId", stream->entry_id)
        .text_member("model", stream->model)
        .text_member("provider", stream->provider)
        .raw_member("parts", stream->parts)
        .end_object();
  } else {
    out.raw("null");
  }
}

}  // namespace

std::string encode_runtime_state(const RuntimeState& state) {
  std::string text;
  json::Writer out(text);
  out.begin_object()
      .member("sessionId", state.session_id)
      .member("processing", state.processing)
      .member("generation", state.generation);
  text_or_null(out, "runId", state.run_id);
  text_or_null(out, "agentId", state.agent_id);
  text_or_null(out, "since", state.since);
  text_or_null(out, "status", state.status);
  text_or_null(out, "head", state.head);
  text_or_null(out, "tail", state.tail);
  write_queue(out, state);
  write_pending(out, state);
  write_open_turn(out, state);
  out.end_object();
  return text;
}

}  // namespace quipu
