// pi's own rules for what a model sees of a path.
#include <algorithm>
#include <unordered_map>

#include "dialect/json_members.h"
#include "dialect/pi/harness.h"
#include "dialect/pi/messages.h"
#include "dialect/pi/pi.h"

namespace quipu::dialect::pi {
namespace {

class Selector {
 public:
  Selector(std::span<const StoredRecord> records, std::uint32_t at) : records_(records) {
    for (; at < records.size(); at = records[at].parent) path_.push_back(at);
    std::reverse(path_.begin(), path_.end());
  }

  std::vector<Pick> run() {
    const std::size_t none = path_.size();
    std::size_t compaction = none;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (at(i).kind == "compaction" && !at(i).redacted) compaction = i;
    }
    std::vector<std::size_t> selected;
    if (compaction != none) {
      selected.push_back(compaction);
      for (std::size_t i = first_kept(compaction); i < compaction; ++i) {
        if (!is_system(i)) selected.push_back(i);
      }
    }
    for (std::size_t i = compaction == none ? 0 : compaction + 1; i < none; ++i) {
      selected.push_back(i);
    }
    find_edits(selected);
    for (const std::size_t i : selected) {
      if (is_emitted(i, compaction)) emit(i);
    }
    return std::move(picks_);
  }

 private:
  const StoredRecord& at(std::size_t i) const { return records_[path_[i]]; }

  bool is_system(std::size_t i) const {
    return at(i).kind == "message" &&
           text_in(object_in(at(i).payload, "message"), "role") == "system";
  }

  // Nothing is kept when it names an entry that is not on the path, or itself.
  std::size_t first_kept(std::size_t compaction) const {
    const std::string_view payload = at(compaction).payload;
    if (const auto index = number_in(payload, "firstKeptEntryIndex")) {
      return first_kept_by_index(*index, compaction);
    }
    const std::string id = text_in(payload, "firstKeptEntryId");
    for (std::size_t i = 0; i < compaction; ++i) {
      if (!id.empty() && text_in(at(i).payload, "id") == id) return i;
    }
    return compaction;
  }

  // Version 1 counts the records of the file, the header being 0.
  std::size_t first_kept_by_index(std::uint64_t index, std::size_t compaction) const {
    std::uint64_t count = 0;
    for (std::uint32_t record = 0; record < records_.size(); ++record) {
      if (records_[record].kind.empty() || records_[record].kind == "raw") continue;
      if (count++ != index) continue;
      const auto found = std::find(path_.begin(), path_.end(), record);
      if (found == path_.end()) break;
      return std::min<std::size_t>(compaction, static_cast<std::size_t>(found - path_.begin()));
    }
    return compaction;
  }

  void find_edits(const std::vector<std::size_t>& selected) {
    for (const std::size_t i : selected) {
      if (at(i).kind == "context_edit") edits_[text_in(at(i).payload, "targetId")] = path_[i];
    }
  }

  bool is_emitted(std::size_t i, std::size_t compaction) const {
    const StoredRecord& record = at(i);
    if (record.redacted) return false;
    if (record.kind == "message") return is_sent(object_in(record.payload, "message"));
    if (record.kind == "compaction") return i == compaction;
    return record.kind == "custom_message" || record.kind == "branch_summary";
  }

  void emit(std::size_t i) {
    Pick pick{.record = path_[i]};
    const auto edit = edits_.find(text_in(at(i).payload, "id"));
    if (edit != edits_.end()) {
      if (object_in(records_[edit->second].payload, "replacement").empty()) return;
      pick.content_of = edit->second;
    }
    picks_.push_back(pick);
  }

  std::span<const StoredRecord> records_;
  std::vector<std::uint32_t> path_;
  std::unordered_map<std::string, std::uint32_t> edits_;
  std::vector<Pick> picks_;
};

}  // namespace

std::vector<Pick> Pi::conversation(std::span<const StoredRecord> records, std::uint32_t at) const {
  const bool is_harness = std::any_of(records.begin(), records.end(), [](const auto& record) {
    return record.kind == kTransaction;
  });
  if (is_harness) return harness_conversation(records, at);
  return Selector(records, at).run();
}

}  // namespace quipu::dialect::pi
