// SessionWriter: typed, batched appends to one session, and streamed messages.
//
//   auto writer = quipu::SessionWriter::open(store, session_id, {.fence = run.run_id});
//   auto asked = writer->append_user("Fix the build");
//   auto called = writer->append_tool("bash", R"({"command":"make"})", "call-1");
//   if (auto stored = writer->flush(); !stored) …  // now, and only now, it is on the disk
//
// What is appended is buffered and written as a batch when the batch has enough
// entries or bytes, when its oldest entry is old enough, or when `flush` says
// so. A batch is stored whole or not at all.
//
// Each new node hangs on the one that this writer appended before, by its id:
// whoever branches the session or moves its head meanwhile gets a branch, and
// this conversation stays one line.
//
// What an append promises: its answer is the id that the entry will have, not
// that it is stored. It fails only if the entry was not taken. Once a batch
// could not be stored, its entries stay in the buffer with their ids, and
// `flush` tries the same batch again, which is safe also when it was stored
// after all.
//
// Thread-safety: one thread at a time. The store must outlive the writer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"
#include "quipu/message.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct WriterOptions {
  /// The node to go on from. Empty: the session's head when the writer is opened.
  std::string parent{};
  /// The run on whose behalf everything is written (runtime.h): each batch is
  /// refused with `fenced` once another run has begun, and each entry names it.
  std::string fence{};
  Durability durability = Durability::kCommit;

  /// A batch is written when it has so many entries,
  std::size_t batch_entries = 64;
  /// … or so many bytes,
  std::size_t batch_bytes = std::size_t{256} << 10;
  /// … or when its first entry has waited so long. Nothing happens behind the
  /// caller's back: time is looked at by appends and by `poll`.
  std::chrono::milliseconds batch_age{50};
  /// While the store cannot be written, at most so many bytes wait (and one
  /// entry, however long): then appends fail with the store's error.
  std::size_t buffer_bytes = std::size_t{8} << 20;
};

/// What a streamed message begins with.
struct StreamOptions {
  std::string model{};
  std::string provider{};
  std::string request_id{};
  /// Also store what has arrived so far, now and then: a crash then loses the
  /// last words only, and the log grows by the message once more.
  bool persist_deltas = false;
  std::size_t delta_bytes = 4096;
  std::chrono::milliseconds delta_age{1000};
};

class SessionWriter;

/// A message that arrives in pieces. Its beginning is durable (a
/// `message_delta_batch` that says "streaming"), its pieces are in memory until
/// `finish` or `abort` appends the whole as one message. A stream that is only
/// destroyed, like one that is killed, leaves the beginning: see
/// `RuntimeState::interrupted_stream`.
///
/// Belongs to its writer, which must outlive it and not be moved meanwhile. The writer
/// can be used while a stream is open; the message comes after what was
/// appended before `finish`.
class MessageStream {
 public:
  const std::string& stream_id() const { return stream_id_; }

  /// Adds to the text or thinking that came last, or begins a new part. With
  /// `persist_deltas` it may write; a failure then is the caller's to know, but
  /// nothing that was added is lost.
  Result<void> add_text(std::string_view text);
  Result<void> add_thinking(std::string_view text, std::string_view signature = {});
  Result<void> add_tool_use(std::string id, std::string name, std::string input);
  Result<void> add_part(Part part);

  /// Appends the message, like any other append; durable after
  /// `SessionWriter::flush`. Its id is the answer. `invalid_argument` when the
  /// stream has ended.
  Result<std::string> finish(std::string_view stop_reason, std::optional<Usage> usage = {});
  /// The same for one that was broken off: stop reason "aborted", and `reason` in
  /// the member `abortReason`.
  Result<std::string> abort(std::string_view reason);

 private:
  friend class SessionWriter;
  MessageStream(SessionWriter& writer, std::string stream_id, StreamOptions options);
  Result<void> add(Part part);
  Result<void> persist();
  Result<std::string> end(std::string_view stop_reason, std::optional<Usage> usage,
                          std::string_view abort_reason);

  SessionWriter* writer_;
  std::string stream_id_;
  StreamOptions options_;
  Message message_;
  std::vector<Part> unsaved_;  // since the last delta batch; only with persist_deltas
  std::size_t unsaved_bytes_ = 0;
  std::chrono::nanoseconds saved_at_{0};
  std::uint64_t next_seq_ = 1;
  bool ended_ = false;
};

class SessionWriter {
 public:
  /// `not_found` without the session; `unknown_parent` when `parent` is no node
  /// of it.
  static Result<SessionWriter> open(Store& store, std::string_view session_id,
                                    const WriterOptions& options = {});
  SessionWriter(SessionWriter&&) noexcept;
  SessionWriter& operator=(SessionWriter&&) noexcept;
  /// Writes nothing: what was not flushed is gone.
  ~SessionWriter();

  // Each answers with the new entry's id. `invalid_argument` and `too_large` as
  // the store would say it, at once; when the buffer is full or the writer
  // cannot go on (fenced, say), the error of the last attempt to write. In all these
  // cases the entry was not taken.

  Result<std::string> append_user(std::string_view text);
  Result<std::string> append_user(std::vector<Part> parts);
  Result<std::string> append_assistant(std::string_view text);
  /// Its role is what it says.
  Result<std::string> append_message(const Message& message);
  Result<std::string> append_assistant(Message message);
  Result<std::string> append_system(std::string_view text);
  /// A call of a tool, as a message of its own. `input` is a JSON object; text
  /// that is none is kept as `rawInput`.
  Result<std::string> append_tool(std::string_view name, std::string_view input,
                                  std::string_view tool_use_id);
  /// `details` is a JSON value for a screen, never for a model; empty: none.
  Result<std::string> append_tool_result(std::string_view tool_use_id, std::string_view output,
                                         bool is_error = false, std::string_view details = {});
  /// Anything. A node without a parent of its own goes on from the last one; one with a parent
  /// becomes what the next goes on from. Facts stand beside.
  Result<std::string> append(NewEntry entry);

  /// Makes the beginning of a message durable (with all that waits), and gives
  /// what its pieces are added to.
  Result<MessageStream> begin_stream(const StreamOptions& options = {});

  /// Returns when everything appended so far is durable, or with the error that
  /// keeps the rest in the buffer: repeat it when that is over. After `fenced`,
  /// `id_conflict` and other errors that waiting does not mend the writer takes
  /// no more entries.
  Result<void> flush();
  /// Writes the batch if it is old enough. For the loop of a program that may
  /// be silent for long.
  Result<void> poll();
  /// Flushes; the writer takes nothing afterwards.
  Result<void> close();
  /// Gives up what is in the buffer: its ids, oldest first. The writer goes on
  /// from the last entry that it knows to be stored.
  std::vector<std::string> discard();

  /// The node that the next one hangs on; empty in a session without nodes.
  const std::string& last() const;
  /// Go on from this node, which somebody else appended.
  void continue_from(std::string entry_id);
  std::size_t buffered() const;
  const std::string& session_id() const;
  const std::string& fence() const;

 private:
  friend class MessageStream;
  struct State;
  explicit SessionWriter(std::unique_ptr<State> state);
  Result<std::string> append_text(Role role, std::string_view text);

  std::unique_ptr<State> state_;
};

}  // namespace quipu
