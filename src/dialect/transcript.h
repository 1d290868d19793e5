// Transcript: a conversation on its way into another agent's files, and what
// becomes of it there.
#pragma once

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
  /// Then only what follows is in `messages`, and is to be written.
  std::optional<Continued> after{};
  /// The ids that the new session and its records get come from here, so that the
  /// same transcript gives the same bytes.
  std::string seed;
};

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
