// Claude Code and the Claude Agent SDK: one JSONL file a session, a tree of lines.
//
//   projects/<slug>/<session>.jsonl            main transcript, named by its session
//   projects/<slug>/<session>/…                what belongs to it: tool-results,
//                                              custom-title.json, archived.json …
//   projects/<slug>/<session>/subagents/…/agent-<id>.jsonl, agent-<id>.meta.json
//   projects/<slug>/agent-<id>.jsonl           sub-agents of 2.0.x
//
// A line with a uuid is a node, every other line a fact. An answer is spread over
// several lines, one for each content block, with the same `message.id`.
//
// A sub-agent's file is a session of its own, `<session>.<agent id>`. Sub-agents that
// older versions wrote into the main file (`isSidechain`) stay there, as branches that
// nothing goes on from.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::claude {

class Claude final : public Dialect {
 public:
  std::string_view name() const override { return "claude"; }
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
  bool writes_branches() const override { return true; }
  bool goes_on_from(std::string_view record) const override;
};

}  // namespace quipu::dialect::claude
