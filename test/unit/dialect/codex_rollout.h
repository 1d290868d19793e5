// A rollout in a test: lines in, what the dialect makes of them out.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "dialect/codex/codex.h"
#include "support/memory_host.h"

namespace quipu::dialect::codex {

inline const Codex kCodex;

struct ReadRecord {
  std::string kind;
  std::string bytes;
  std::string end;
  std::string timestamp;
  std::string problem;
  bool is_fact = false;
};

struct ReadRollout {
  Outline outline;
  std::vector<ReadRecord> records;
};

inline constexpr const char* kPath =
    "/c/sessions/2026/01/02/rollout-2026-01-02T03-04-05-11111111-1111-7111-8111-111111111111.jsonl";

/// Fails the test when it cannot be read.
ReadRollout read_rollout(const std::string& text, const std::string& path = kPath);

// Lines in the wrapped form.
std::string line(const std::string& type, const std::string& payload);
std::string meta(const std::string& id, const std::string& more = "");
std::string item(const std::string& payload);
std::string user(const std::string& text);
std::string assistant(const std::string& text);
std::string event(const std::string& type, const std::string& more = "");
/// A turn in which the user says `text` and the model answers, both sides written.
std::string turn(const std::string& id, const std::string& text, const std::string& answer);

/// Messages as "role: what they say", parts after one another.
std::string shown(const Lifted& lifted, const LiftedMessage& message);
std::vector<std::string> lifted(const std::string& kind, const std::string& record);
/// The conversation at the last record of a rollout.
std::vector<std::string> conversation(const std::string& text);

/// All notes of a rollout, one after the other, with memory.
std::vector<Note> notes(const std::string& text);

}  // namespace quipu::dialect::codex
