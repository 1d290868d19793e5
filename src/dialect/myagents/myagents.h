// MyAgents: the business side of a conversation whose model's side is a transcript of
// Claude's.
//
//   ~/.myagents/sessions/<id>.jsonl       messages, one a line         | node `message`
//   ~/.myagents/sessions/<id>.json        the same as one document,    | node `message`; beside
//                                         before 0.1.4                 | the lines: fact `legacy`
//   ~/.myagents/sessions.json             an array with an object      | fact `session`
//                                         for each session             |
//   ~/.myagents/attachments/<id>/…        files of messages            | fact `file`
//
// Of sessions.json only the object of a session belongs to it: the record is an array with
// that one object, as its bytes stand in the file.
//
// The document becomes lines when the program opens it. Where that was interrupted both
// are there: the conversation is that of the lines, with what only the document has where
// it stood.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::myagents {

inline constexpr std::string_view kIndexName = "sessions.json";

class MyAgents final : public Dialect {
 public:
  std::string_view name() const override { return "myagents"; }
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
  Result<std::string> name_on(const Machine& machine, const std::string& name,
                              const std::string& cwd) const override;
  std::string_view index_name() const override { return kIndexName; }
  Result<Joined> join(std::string_view index, std::string_view part) const override;
};

}  // namespace quipu::dialect::myagents
