// craft-agents: one JSONL file a session, which is written anew with every save.
//
//   <workspace>/sessions/<id>/session.jsonl   line 1: the header   | fact `header`
//                                             then messages        | node `message`
//   <workspace>/sessions/<id>/attachments/ …  five directories     | fact `file`
//
// A save writes session.jsonl.tmp, deletes session.jsonl and renames: after a crash between
// the two only the first is there, and is read in its place.
//
// A call and its result are one message. Messages of a sub-agent name the call that
// started it (`parentToolUseId`): they are kept, and are no part of the conversation.
//
// In the file `{{SESSION_PATH}}` stands for the session's own directory, `~` for the
// user's.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::craft {

class Craft final : public Dialect {
 public:
  std::string_view name() const override { return "craft"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  bool is_session_name(std::string_view path) const override;
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

}  // namespace quipu::dialect::craft
