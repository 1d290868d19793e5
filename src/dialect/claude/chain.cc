#include "dialect/claude/chain.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dialect/claude/chain_lines.h"
#include "dialect/json_members.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;

class Chain {
 public:
  explicit Chain(std::span<const StoredRecord> records) : all_(records) {}

  std::vector<std::uint32_t> ending_at(std::uint32_t record) {
    hang(UINT32_MAX);
    std::uint32_t from = behind_kept(all_.of_record(record));
    if (from != leaf()) {
      seen_to_ = record;
      hang(record);
      from = behind_kept(all_.of_record(record));
    }
    walk(from);
    repair();
    std::vector<std::uint32_t> records;
    for (const std::uint32_t line : path_) records.push_back(line_at(line).record);
    return records;
  }

 private:
  ChainLine& line_at(std::uint32_t line) { return all_.lines[line]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(all_.lines.size()); }
  bool counts(std::uint32_t line) { return line_at(line).record <= seen_to_; }

  // ---- compaction

  void hang(std::uint32_t seen_to) {
    all_.link();
    kept_.clear();
    for (std::uint32_t i = 0; i < count(); ++i) {
      const ChainLine& line = line_at(i);
      if (line.record > seen_to || line.compaction.empty()) continue;
      const std::string_view messages = object_in(line.compaction, "preservedMessages");
      const std::string_view segment = object_in(line.compaction, "preservedSegment");
      if (!messages.empty()) {
        splice_messages(messages);
      } else if (!segment.empty()) {
        splice_segment(segment);
      }
    }
  }

  void splice_messages(std::string_view kept) {
    const std::uint32_t anchor = all_.find(token_in(kept, "anchorUuid"));
    std::vector<std::uint32_t> chosen;
    const auto uuids = json::find_member(kept, "uuids");
    json::ElementWalk walk(uuids ? uuids->value : std::string_view());
    while (const auto uuid = walk.next()) {
      chosen.push_back(uuid->kind == Kind::kString ? all_.find(uuid->value) : kNoLine);
      if (chosen.back() == kNoLine) return;
    }
    if (anchor == kNoLine || chosen.empty()) return;
    move_behind(anchor, chosen.back(), chosen);
    std::uint32_t parent = anchor;
    for (const std::uint32_t line : chosen) line_at(line).parent = std::exchange(parent, line);
  }

  void splice_segment(std::string_view segment) {
    const std::uint32_t anchor = all_.find(token_in(segment, "anchorUuid"));
    const std::uint32_t head = all_.find(token_in(segment, "headUuid"));
    const std::uint32_t tail = all_.find(token_in(segment, "tailUuid"));
    if (anchor == kNoLine || head == kNoLine || tail == kNoLine) return;
    move_behind(anchor, tail, {head});
    line_at(head).parent = anchor;
  }

  // What hung on the anchor comes behind what was kept.
  void move_behind(std::uint32_t anchor, std::uint32_t last,
                   const std::vector<std::uint32_t>& kept) {
    for (std::uint32_t i = 0; i < count(); ++i) {
      const bool is_kept = std::find(kept.begin(), kept.end(), i) != kept.end();
      if (line_at(i).parent == anchor && !is_kept) line_at(i).parent = last;
    }
    kept_.emplace_back(anchor, last);
  }

  // Whoever goes on from an anchor goes on behind what was kept. That may be an anchor
  // of an earlier compaction.
  std::uint32_t behind_kept(std::uint32_t line) const {
    for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
      if (kept->first == line) line = kept->second;
    }
    return line;
  }

  // ---- the session's end

  std::uint32_t leaf() {
    std::vector<bool> has_child(count(), false);
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (line_at(i).is_main() && line_at(i).parent != kNoLine) has_child[line_at(i).parent] = true;
    }
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (line_at(i).is_main() && !has_child[i]) ends.push_back(i);
    }
    std::sort(ends.begin(), ends.end(), [&](std::uint32_t a, std::uint32_t b) {
      return line_at(a).record > line_at(b).record;
    });
    for (const std::uint32_t end : ends) {
      const std::uint32_t speaker = speaker_above(end);
      if (speaker != kNoLine) return speaker;
    }
    return kNoLine;
  }

  std::uint32_t speaker_above(std::uint32_t line) {
    for (std::uint32_t steps = 0; line != kNoLine && steps <= count(); ++steps) {
      if (line_at(line).speaks) return line;
      line = line_at(line).parent;
    }
    return kNoLine;
  }

  // ---- the path

  void walk(std::uint32_t line) {
    on_path_.assign(count(), false);
    while (line != kNoLine && !on_path_[line]) {
      on_path_[line] = true;
      path_.push_back(line);
      line = line_at(line).parent;
    }
    std::reverse(path_.begin(), path_.end());
  }

  // The lines of one answer, and what answers its calls.
  struct Answer {
    std::vector<std::uint32_t> lines;  // in the order of the file
    std::vector<std::uint32_t> missed_lines;
    std::vector<std::uint32_t> missed_results;
    std::size_t last_met = 0;  // in the path
  };
  using Answers = std::unordered_map<std::string_view, Answer>;

  void repair() {
    Answers answers;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      const ChainLine& line = line_at(path_[i]);
      if (line.type != LineType::kAssistant || line.message_id.empty()) continue;
      answers[line.message_id].last_met = i;
    }
    if (answers.empty()) return;
    find_missed_lines(answers);
    find_missed_results(answers);
    std::vector<std::vector<std::uint32_t>> behind(path_.size());
    for (auto& [id, answer] : answers) {
      by_time(answer.missed_lines);
      by_time(answer.missed_results);
      std::vector<std::uint32_t>& added = behind[answer.last_met];
      added = std::move(answer.missed_lines);
      added.insert(added.end(), answer.missed_results.begin(), answer.missed_results.end());
    }
    std::vector<std::uint32_t> whole;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      whole.push_back(path_[i]);
      whole.insert(whole.end(), behind[i].begin(), behind[i].end());
    }
    path_ = std::move(whole);
  }

  void find_missed_lines(Answers& answers) {
    for (std::uint32_t i = 0; i < count(); ++i) {
      const ChainLine& line = line_at(i);
      if (line.type != LineType::kAssistant || !counts(i)) continue;
      const auto answer = answers.find(line.message_id);
      if (answer == answers.end()) continue;
      answer->second.lines.push_back(i);
      if (!on_path_[i]) answer->second.missed_lines.push_back(i);
    }
  }

  // A result belongs to the answer that it hangs on, else to the one whose call it
  // answers. Those of the same time come in the order of the lines that they hang on or
  // answer, whichever is first; those that hang elsewhere come last.
  void find_missed_results(Answers& answers) {
    std::unordered_map<std::uint32_t, Answer*> by_line;
    std::unordered_map<std::string, std::uint32_t> line_of_call;
    for (auto& [id, answer] : answers) {
      for (const std::uint32_t line : answer.lines) {
        by_line[line] = &answer;
        for (std::string& call : calls_in(line_at(line).content, "tool_use", "id")) {
          line_of_call[std::move(call)] = line;
        }
      }
    }
    std::unordered_map<std::uint32_t, std::uint32_t> rank;
    for (std::uint32_t i = 0; i < count(); ++i) {
      const ChainLine& line = line_at(i);
      if (line.type != LineType::kUser || on_path_[i] || !counts(i)) continue;
      if (line.parent_uuid.empty()) continue;  // begins a conversation of its own
      const auto calls = calls_in(line.content, "tool_result", "tool_use_id");
      if (calls.empty()) continue;
      std::uint32_t called = kNoLine;
      for (std::size_t n = 0; called == kNoLine && n < calls.size(); ++n) {
        const auto call = line_of_call.find(calls[n]);
        if (call != line_of_call.end()) called = call->second;
      }
      const auto hung = by_line.find(line.parent);
      const auto answered = by_line.find(called);
      const auto owner = hung != by_line.end() ? hung : answered;
      if (owner == by_line.end()) continue;
      owner->second->missed_results.push_back(i);
      rank[i] = hung == by_line.end() ? kNoLine
                : answered != by_line.end() && answered->second == hung->second
                    ? std::min(line.parent, called)
                    : line.parent;
    }
    for (auto& [id, answer] : answers) {
      std::stable_sort(answer.missed_results.begin(), answer.missed_results.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
    }
  }

  void by_time(std::vector<std::uint32_t>& lines) {
    std::stable_sort(lines.begin(), lines.end(), [&](std::uint32_t a, std::uint32_t b) {
      return line_at(a).timestamp < line_at(b).timestamp;
    });
  }

  ChainLines all_;
  std::uint32_t seen_to_ = UINT32_MAX;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept_;  // anchor, last kept
  std::vector<std::uint32_t> path_;
  std::vector<bool> on_path_;
};

}  // namespace

std::vector<std::uint32_t> chain_of(std::span<const StoredRecord> records, std::uint32_t at) {
  while (at < records.size() && line_type(records[at].kind) == LineType::kOther) {
    at = records[at].parent;
  }
  if (at >= records.size()) return {};
  return Chain(records).ending_at(at);
}

}  // namespace quipu::dialect::claude
