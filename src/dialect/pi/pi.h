// pi: one JSONL file a session, a tree of entries.
//
//   version | what is different
//   --------+-------------------------------------------------------------------
//   0, 1    | no ids: entries follow each other; `firstKeptEntryIndex` counts records
//   2, 3    | `id` and `parentId`; the last entry of the file is the leaf, whatever it is
//   3, strict harness | `leaf` moves the leaf
//   4, harness | transactions: see harness.h
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::pi {

class Pi final : public Dialect {
 public:
  std::string_view name() const override { return "pi"; }
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

}  // namespace quipu::dialect::pi
