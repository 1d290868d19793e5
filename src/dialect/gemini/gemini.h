// gemini-cli: a log of operations on a list of messages (JSONL), or the list itself
// (one JSON document, until 2026), or a checkpoint of `/chat save`.
//
//   operation                          | kind
//   -----------------------------------+--------------------------------------------
//   {"id": …} a message; the same id   | node `message`
//     again takes its place            |
//   {"$set": {"messages": […]}} a new  | node `messages`
//     list: resume, compression        |
//   {"$rewindTo": id}                  | node `rewind`
//   {"$set": …} anything else          | fact `set`
//   {"sessionId": …, "projectHash": …} | fact `header`, again with every resume
//   an element of a checkpoint         | node `content`
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::gemini {

class Gemini final : public Dialect {
 public:
  std::string_view name() const override { return "gemini"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  bool is_session_name(std::string_view path) const override;
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
};

}  // namespace quipu::dialect::gemini
