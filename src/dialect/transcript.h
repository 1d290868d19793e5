// Transcript: a conversation on its way into another agent's files, and what
// becomes of it there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "quipu/message.h"

namespace quipu::dialect {

struct TranscriptMessage {
  std::string entry_id;
  std::string timestamp;  // RFC 3339
  Message message;
};

/// A message on another branch.
struct Aside {
  /// The place of the one that it follows: in `Transcript::messages`, or behind them in
  /// `Transcript::asides`.
  std::size_t follows = 0;
  TranscriptMessage message;
};

/// What a transcript goes on from: the records of a session that the agent wrote itself.
struct Continued {
  std::string session;  // the agent's own id of it
  std::string record;   // the last of them
};

struct Transcript {
  std::string session_id;  // ours
  std::string cwd;         // absolute; may be empty
  std::string title;
  std::string created;  // RFC 3339
  std::string model;    // the last one
  std::string provider;
  /// Oldest first; calls stand before their results.
  std::vector<TranscriptMessage> messages;
  /// What else was said, in branches that leave them, for agents that have branches. None
  /// follows the end of the conversation (`last_said`): an agent that goes on with the newest
  /// would go on there. What one follows stands before it.
  std::vector<Aside> asides{};
  /// Then only what follows is in `messages`, and is to be written.
  std::optional<Continued> after{};
  /// The ids that the new session and its records get come from here, so that the
  /// same transcript gives the same bytes.
  std::string seed;
};

/// The place of the last of `messages` that is a line in every file, and so the end of the
/// conversation there: some agents have no place for instructions, reasoning of others,
/// attachments and empty texts. 0 when there is none.
std::size_t last_said(const Transcript& transcript);

/// All messages, each behind the one that it follows, and the end of the conversation last: an
/// agent that goes on with the newest goes on there. `write(message, before)` gives the id that
/// what follows it hangs on; `before` is that of what it follows itself, `first` of nothing.
template <class Write>
void each_with_asides(const Transcript& transcript, const std::string& first, Write write) {
  const std::size_t own = transcript.messages.size();
  std::vector<std::string> ids(own + transcript.asides.size());
  const auto put = [&](std::size_t place) {
    ids[place] = write(transcript.messages[place], place == 0 ? first : ids[place - 1]);
  };
  const std::size_t last = last_said(transcript);
  for (std::size_t place = 0; place < last; ++place) put(place);
  for (std::size_t i = 0; i < transcript.asides.size(); ++i) {
    const Aside& aside = transcript.asides[i];
    ids[own + i] = write(aside.message, ids[aside.follows]);
  }
  for (std::size_t place = last; place < own; ++place) put(place);
}

/// Something that the other format has no place for.
struct Loss {
  std::string entry_id;  // empty: the whole session
  std::string what;      // "thinking", "attachment" …
  std::string why;
};

struct WrittenFile {
  /// Relative to the directory that the agent keeps its sessions in.
  std::string path;
  std::string bytes;
};

struct Written {
  std::string session;  // the agent's own id of it
  std::vector<WrittenFile> files;
  std::vector<Loss> lost;
};

}  // namespace quipu::dialect
