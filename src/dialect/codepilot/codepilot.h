// CodePilot: a database of chats. A row of `messages` is a whole turn: what was said, the
// calls, and what came of them; where there is `message_parts`, a turn's parts are rows of
// their own, and count.
//
//   record                            | kind
//   ----------------------------------+-----------------------------------
//   a turn                            | node `messages`
//   the session                       | fact `chat_sessions`
//   anything else that belongs to it  | fact, called like its table
//
// The model's side of a session is in a transcript of the Claude SDK, which
// `sdk_session_id` names.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::codepilot {

class Codepilot final : public Dialect {
 public:
  std::string_view name() const override { return "codepilot"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  Result<std::vector<Source>> sources(const std::string& path, fs::HostFiles& files) const override;
  Result<std::unique_ptr<Reader>> open(const Source& source, fs::HostFiles& files,
                                       const ReadPosition& from) const override;
  bool leads(std::string_view kind) const override;
  void lift(std::string_view kind, std::string_view payload, Lifted& into) const override;
  void note(std::string_view kind, std::string_view payload, Note& into) const override;
  std::vector<Pick> conversation(std::span<const StoredRecord> records,
                                 std::uint32_t at) const override;
  Result<Written> write(const Transcript& transcript) const override;
  bool writes_cost() const override { return true; }
};

/// "2026-03-01 09:30:00", as CodePilot writes times, in RFC 3339; empty when it is no time.
std::string timestamp_of(std::string_view time);

}  // namespace quipu::dialect::codepilot
