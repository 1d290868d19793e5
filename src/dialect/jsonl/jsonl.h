// jsonl: plain lines of agents without a format of their own, in two shapes.
//
//   {"id", "parentId"?, "type", "timestamp", "payload": {…}}     entries, as our own
//   {"id", "parentId"?, "type": "user", "timestamp", "content"}  flat lines: `user`, `assistant`,
//                                                  `tool`, `tool_result`, `system`, `metadata`
//
// The kind of a record is its type. Records without a parent follow the one before; a file
// without a session id of its own is told by its name and its first line.
//
// They have no place on a machine: files are recognised by what is in them, after every
// other dialect was asked.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::jsonl {

class Jsonl final : public Dialect {
 public:
  std::string_view name() const override { return "jsonl"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  Result<std::unique_ptr<Reader>> open(const Source& source, fs::HostFiles& files,
                                       const ReadPosition& from) const override;
  bool leads(std::string_view kind) const override;
  void lift(std::string_view kind, std::string_view payload, Lifted& into) const override;
  void note(std::string_view kind, std::string_view payload, Note& into) const override;
  std::vector<Pick> conversation(std::span<const StoredRecord> records,
                                 std::uint32_t at) const override;
  Result<Written> write(const Transcript& transcript) const override;
  bool writes_cost() const override { return true; }
  bool writes_branches() const override { return true; }
  bool goes_on_from(std::string_view record) const override;
};

}  // namespace quipu::dialect::jsonl
