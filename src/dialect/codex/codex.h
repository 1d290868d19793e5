// Codex: one file of JSON lines a thread, a *rollout*. No ids, no branches: every line
// hangs on the one before it. Each message stands there twice, as the item that the model
// saw (`response_item`) and as the event that the screen shows (`event_msg`): the items
// are what is lifted.
//
//   TypeScript, early 2025       one document {session, items}, written anew
//   2025 until September         bare items after a bare header
//   since                        {timestamp, type, payload}
//   `history_mode: paginated`    with ordinals; forks and reverts are files of their own
//                                that refer to a part of another (`history_base`)
//   `.jsonl.zst`                 the same, put away
//
// Names that a user gave to threads are lines of `session_index.jsonl`, which all share and
// where the last line of a thread counts: that line is a fact `thread_name`.
//
// A thread that was reverted has several files, `rollout-TIME-THREAD_SEGMENT.jsonl`. Each is a
// session; those after the first go by the segment's id, which is what a
// `history_base` names.
#pragma once

#include "dialect/codex/line.h"
#include "dialect/dialect.h"

namespace quipu::dialect::codex {

class Codex final : public Dialect {
 public:
  std::string_view name() const override { return "codex"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  /// None for a compressed file that lies beside itself as it was.
  Result<std::vector<Source>> sources(const std::string& path, fs::HostFiles& files) const override;
  Result<std::unique_ptr<Reader>> open(const Source& source, fs::HostFiles& files,
                                       const ReadPosition& from) const override;
  bool leads(std::string_view kind) const override;
  void lift(std::string_view kind, std::string_view payload, Lifted& into) const override;
  void note(std::string_view kind, std::string_view payload, Note& into) const override;
  std::vector<Pick> conversation(std::span<const StoredRecord> records,
                                 std::uint32_t at) const override;
  Result<Written> write(const Transcript& transcript) const override;
  bool goes_on_from(std::string_view record) const override;
  std::string_view index_name() const override { return kIndexName; }
  Result<Joined> join(std::string_view index, std::string_view part) const override;
};

}  // namespace quipu::dialect::codex
