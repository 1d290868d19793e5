// Invariants:
// 1. `buffer` holds what was acknowledged to the caller and is not known to be
//    stored, in order, complete with ids, timestamps and parents.
// 2. The first `tried` entries were given to the store together. They are given
//    again together and alone: they are stored all or not at all, and a batch
//    that mixed them with new ones could be half there.
// 3. Every entry in the buffer has passed the door by itself, and no two have the
//    same id, so no batch is refused for what its entries look like.
#include <algorithm>

#include "backend/backend.h"
#include "base/json_write.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "quipu/writer.h"
#include "store/fact_walk.h"
#include "store/guarded.h"

namespace quipu {
namespace {

// What an entry takes in a log beside payload and meta; an estimate.
constexpr std::size_t kEnvelopeBytes = 192;

std::size_t size_of(const NewEntry& entry) {
  return entry.payload.size() + entry.meta.size() + kEnvelopeBytes;
}

}  // namespace

struct SessionWriter::State {
  SessionStore* sessions = nullptr;
  std::shared_ptr<Backend> backend;
  std::string session_id;
  WriterOptions options;
  std::string last;
  std::string last_stored;
  std::vector<NewEntry> buffer;  // 1
  std::size_t buffer_bytes = 0;
  std::size_t tried = 0;  // 2
  std::chrono::nanoseconds oldest{0};
  std::chrono::nanoseconds next_try{0};  // after a failure appends do not try at once again
  std::optional<Error> refusal;          // no entry is taken any more
  bool closed = false;

  Clock& clock() const { return backend->filler().clock; }

  bool batch_is_due() const {
    if (clock().monotonic() < next_try) return false;
    return buffer.size() >= options.batch_entries || buffer_bytes >= options.batch_bytes ||
           clock().monotonic() - oldest >= options.batch_age;
  }

  Result<std::string> take(NewEntry entry);
  Result<bool> waits(const NewEntry& entry) const;
  Result<void> write_batch();
  Result<void> flush();
  std::size_t next_batch() const;
};

std::size_t SessionWriter::State::next_batch() const {
  if (tried > 0) return tried;
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const NewEntry& entry : buffer) {
    bytes += size_of(entry);
    if (count > 0 && (bytes > kBatchBytesMax || count == kBatchEntriesMax)) break;
    ++count;
  }
  return count;
}

Result<void> SessionWriter::State::write_batch() {
  tried = next_batch();
  AppendOptions append;
  append.durability = options.durability;
  if (!options.fence.empty()) append.fence = options.fence;
  auto stored =
      sessions->append_session_entries(session_id, std::span(buffer).first(tried), append);
  if (!stored.ok()) {
    if (!stored.error().retryable()) refusal = stored.error();
    next_try = clock().monotonic() + options.batch_age;
    return std::move(stored).error();
  }
  for (std::size_t i = 0; i < tried; ++i) {
    buffer_bytes -= size_of(buffer[i]);
    if (!is_fact_type(buffer[i].type)) last_stored = buffer[i].id;
  }
  buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(tried));
  tried = 0;
  oldest = clock().monotonic();
  return {};
}

Result<void> SessionWriter::State::flush() {
  while (!buffer.empty()) TRY(write_batch());
  refusal.reset();
  return {};
}

// Whether the entry is in the buffer: the store takes no batch that has an id twice.
Result<bool> SessionWriter::State::waits(const NewEntry& entry) const {
  const auto same = std::find_if(buffer.begin(), buffer.end(),
                                 [&](const NewEntry& other) { return other.id == entry.id; });
  if (same == buffer.end()) return false;
  if (same->type == entry.type && same->payload == entry.payload && same->meta == entry.meta) {
    return true;
  }
  return Error(Code::kIdConflict, "another entry of the id " + entry.id + " waits to be stored");
}

Result<std::string> SessionWriter::State::take(NewEntry entry) {
  if (closed) return Error(Code::kInvalidArgument, "the writer is closed");
  if (refusal) return *refusal;
  if (!entry.id.empty()) {
    TRY_ASSIGN(const bool repeated, waits(entry));
    if (repeated) return entry.id;
  }
  const Filler filler = backend->filler();
  const std::int64_t now = filler.clock.unix_ms();
  if (entry.id.empty()) entry.id = uuid_v7(now, filler.random);
  if (entry.timestamp.empty()) entry.timestamp = format_timestamp(now);
  if (entry.run_id.empty()) entry.run_id = options.fence;
  const bool is_node = !is_fact_type(entry.type);
  // In a session without nodes it hangs on the head, so that it does not become
  // a second root when somebody else was faster.
  if (is_node && entry.parent.is_head() && !last.empty()) entry.parent = Parent::of(last);
  TRY(admit_entries({&entry, 1}, filler));  // 3

  if (!buffer.empty() && buffer_bytes + size_of(entry) > options.buffer_bytes) TRY(flush());
  if (buffer.empty()) oldest = clock().monotonic();
  buffer_bytes += size_of(entry);
  std::string id = entry.id;
  if (is_node) last = id;
  buffer.push_back(std::move(entry));
  if (batch_is_due()) {
    ignore(flush(), "the entry was taken; flush() reports what keeps it from being stored");
  }
  return id;
}

SessionWriter::SessionWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionWriter::SessionWriter(SessionWriter&&) noexcept = default;
SessionWriter& SessionWriter::operator=(SessionWriter&&) noexcept = default;
SessionWriter::~SessionWriter() = default;

Result<SessionWriter> SessionWriter::open(Store& store, std::string_view session_id,
                                          const WriterOptions& options) {
  return guarded([&]() -> Result<SessionWriter> {
    auto state = std::make_unique<State>();
    state->sessions = &store.sessions();
    state->backend = store.backend();
    state->session_id = session_id;
    state->options = options;
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
    if (options.parent.empty()) {
      TRY_ASSIGN(state->last, head_of(*lineage));
    } else {
      TRY_ASSIGN(const auto parent, lineage->find(options.parent));
      if (!parent || !parent->is_node) {
        return Error(Code::kUnknownParent,
                     options.parent + " is no node of session " + state->session_id);
      }
      state->last = options.parent;
    }
    state->last_stored = state->last;
    return SessionWriter(std::move(state));
  });
}

Result<std::string> SessionWriter::append(NewEntry entry) {
  return guarded([&] { return state_->take(std::move(entry)); });
}

Result<std::string> SessionWriter::append_message(const Message& message) {
  return guarded([&]() -> Result<std::string> {
    NewEntry entry;
    entry.type = "message";
    entry.payload = encode_message(message);
    return state_->take(std::move(entry));
  });
}

Result<std::string> SessionWriter::append_text(Role role, std::string_view text) {
  Message message;
  message.role = role;
  message.parts.push_back({.type = PartType::kText, .text = std::string(text)});
  return append_message(message);
}

Result<std::string> SessionWriter::append_user(std::string_view text) {
  return append_text(Role::kUser, text);
}

Result<std::string> SessionWriter::append_user(std::vector<Part> parts) {
  Message message;
  message.role = Role::kUser;
  message.parts = std::move(parts);
  return append_message(message);
}

Result<std::string> SessionWriter::append_assistant(std::string_view text) {
  return append_text(Role::kAssistant, text);
}

Result<std::string> SessionWriter::append_assistant(Message message) {
  message.role = Role::kAssistant;
  return append_message(message);
}

Result<std::string> SessionWriter::append_system(std::string_view text) {
  return append_text(Role::kSystem, text);
}

Result<std::string> SessionWriter::append_tool(std::string_view name, std::string_view input,
                                               std::string_view tool_use_id) {
  Part call{.type = PartType::kToolUse,
            .tool_use_id = std::string(tool_use_id),
            .name = std::string(name)};
  // What could not be stored as it stands is kept as the text that it is.
  const bool is_object = json::validate_inner_object(input).ok();
  (is_object ? call.input : call.raw_input) = std::string(input);
  Message message;
  message.role = Role::kAssistant;
  message.parts.push_back(std::move(call));
  return append_message(message);
}

Result<std::string> SessionWriter::append_tool_result(std::string_view tool_use_id,
                                                      std::string_view output, bool is_error,
                                                      std::string_view details) {
  Message message;
  message.role = Role::kTool;
  message.parts.push_back({.type = PartType::kToolResult,
                           .tool_use_id = std::string(tool_use_id),
                           .content = {Part{.type = PartType::kText, .text = std::string(output)}},
                           .is_error = is_error,
                           .details = std::string(details)});
  return append_message(message);
}

Result<void> SessionWriter::flush() {
  return guarded([&] { return state_->flush(); });
}

Result<void> SessionWriter::poll() {
  if (state_->buffer.empty() || !state_->batch_is_due()) return {};
  return flush();
}

Result<void> SessionWriter::close() {
  TRY(flush());
  state_->closed = true;
  return {};
}

std::vector<std::string> SessionWriter::discard() {
  std::vector<std::string> ids;
  for (const NewEntry& entry : state_->buffer) ids.push_back(entry.id);
  state_->buffer.clear();
  state_->buffer_bytes = 0;
  state_->tried = 0;
  state_->refusal.reset();
  state_->last = state_->last_stored;
  return ids;
}

const std::string& SessionWriter::last() const { return state_->last; }
std::size_t SessionWriter::buffered() const { return state_->buffer.size(); }
const std::string& SessionWriter::session_id() const { return state_->session_id; }
const std::string& SessionWriter::fence() const { return state_->options.fence; }

void SessionWriter::continue_from(std::string entry_id) {
  if (state_->buffer.empty()) state_->last_stored = entry_id;
  state_->last = std::move(entry_id);
}

Result<MessageStream> SessionWriter::begin_stream(const StreamOptions& options) {
  return guarded([&]() -> Result<MessageStream> {
    const Filler filler = state_->backend->filler();
    const std::string stream_id = uuid_v7(filler.clock.unix_ms(), filler.random);
    NewEntry marker;
    marker.type = "message_delta_batch";
    marker.payload.clear();
    json::Writer out(marker.payload);
    out.begin_object()
        .member("streamId", stream_id)
        .member("seq", 0)
        .member("status", "streaming")
        .text_member("model", options.model)
        .text_member("provider", options.provider)
        .end_object();
    TRY(state_->take(std::move(marker)));
    TRY(state_->flush());
    MessageStream stream(*this, stream_id, options);
    stream.saved_at_ = state_->clock().monotonic();
    return stream;
  });
}

MessageStream::MessageStream(SessionWriter& writer, std::string stream_id, StreamOptions options)
    : writer_(&writer), stream_id_(std::move(stream_id)), options_(std::move(options)) {
  message_.role = Role::kAssistant;
  message_.model = options_.model;
  message_.provider = options_.provider;
  message_.request_id = options_.request_id;
}

namespace {

// Pieces of one text or one thought are one part; a signature ends a thought.
void add_to(std::vector<Part>& parts, const Part& part) {
  const bool is_text = part.type == PartType::kText || part.type == PartType::kThinking;
  const bool joins = is_text && !parts.empty() && parts.back().type == part.type &&
                     parts.back().signature.empty() && parts.back().extra.empty() &&
                     part.extra.empty() && !parts.back().redacted && !part.redacted;
  if (!joins) {
    parts.push_back(part);
    return;
  }
  parts.back().text += part.text;
  parts.back().signature = part.signature;
}

}  // namespace

Result<void> MessageStream::add(Part part) {
  return guarded([&]() -> Result<void> {
    if (ended_) return Error(Code::kInvalidArgument, "the stream has ended");
    add_to(message_.parts, part);
    if (!options_.persist_deltas) return {};
    unsaved_bytes_ += part.text.size() + part.input.size() + part.raw_input.size();
    add_to(unsaved_, part);
    const auto waited = writer_->state_->clock().monotonic() - saved_at_;
    if (unsaved_bytes_ < options_.delta_bytes && waited < options_.delta_age) return {};
    return persist();
  });
}

Result<void> MessageStream::persist() {
  NewEntry deltas;
  deltas.type = "message_delta_batch";
  deltas.payload.clear();
  json::Writer out(deltas.payload);
  out.begin_object()
      .member("streamId", stream_id_)
      .member("seq", next_seq_)
      .raw_member("deltas", encode_parts(unsaved_))
      .end_object();
  TRY(writer_->state_->take(std::move(deltas)));
  ++next_seq_;
  unsaved_.clear();
  unsaved_bytes_ = 0;
  saved_at_ = writer_->state_->clock().monotonic();
  return writer_->state_->flush();
}

Result<void> MessageStream::add_text(std::string_view text) {
  return add({.type = PartType::kText, .text = std::string(text)});
}

Result<void> MessageStream::add_thinking(std::string_view text, std::string_view signature) {
  return add({.type = PartType::kThinking,
              .text = std::string(text),
              .signature = std::string(signature)});
}

Result<void> MessageStream::add_tool_use(std::string id, std::string name, std::string input) {
  Part call{.type = PartType::kToolUse, .tool_use_id = std::move(id), .name = std::move(name)};
  const bool is_object = json::validate_inner_object(input).ok();
  (is_object ? call.input : call.raw_input) = std::move(input);
  return add(std::move(call));
}

Result<void> MessageStream::add_part(Part part) { return add(std::move(part)); }

Result<std::string> MessageStream::end(std::string_view stop_reason, std::optional<Usage> usage,
                                       std::string_view abort_reason) {
  return guarded([&]() -> Result<std::string> {
    if (ended_) return Error(Code::kInvalidArgument, "the stream has ended");
    Message message = message_;
    message.stop_reason = stop_reason;
    message.usage = usage;
    json::Writer out(message.extra);
    out.begin_object()
        .member("streamId", stream_id_)
        .text_member("abortReason", abort_reason)
        .end_object();
    TRY_ASSIGN(std::string id, writer_->append_message(message));
    ended_ = true;
    return id;
  });
}

Result<std::string> MessageStream::finish(std::string_view stop_reason,
                                          std::optional<Usage> usage) {
  return end(stop_reason, usage, {});
}

Result<std::string> MessageStream::abort(std::string_view reason) {
  return end("aborted", {}, reason);
}

}  // namespace quipu
