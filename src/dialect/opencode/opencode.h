// opencode: rows of a SQLite database (since 2026), a JSON file for every message and
// every part of one (2025), or the JSON document of `opencode export`, which `opencode import`
// takes. Messages have parts, and parts are records of their own where the agent
// has them as such:
//
//   record                                | kind
//   --------------------------------------+------------------------------------
//   a message: row, file, or {info,parts} | node `message`
//   a part: row, file                     | fact `part`
//   the session: row, file, `info`        | fact `session`
//   a message of the event-sourced tables | node `session_message`
//   anything else                         | fact, called like its table or folder
//
// Rows and files are changed in place, so every source is whole: what is in it now is
// said by the recipe. A message that was changed is stored again; the head stays on the
// message, whichever version of it: `conversation` looks for the present one.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::opencode {

class Opencode final : public Dialect {
 public:
  std::string_view name() const override { return "opencode"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  bool is_session_name(std::string_view) const override { return false; }  // no lines
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
  std::vector<std::string> takes_in_by() const override { return {"opencode", "import"}; }
};

}  // namespace quipu::dialect::opencode
