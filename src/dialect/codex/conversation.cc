#include "dialect/codex/conversation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/json_scan.h"
#include "dialect/codex/lift.h"
#include "dialect/codex/line.h"
#include "dialect/json_members.h"

namespace quipu::dialect::codex {
namespace {

constexpr std::uint64_t kKeptTokens = 20'000;

std::uint64_t approximate_tokens(std::size_t bytes) { return (bytes + 3) / 4; }

// A message of the history in the making.
struct Turned {
  Pick pick;
  bool begins_turn = false;
  bool is_surroundings = false;
  bool is_by_user = false;
  std::uint64_t tokens = 0;  // by the user
};

struct Segment {
  std::string turn;
  bool is_user_turn = false;
  std::vector<std::size_t> replacements;  // `compacted` lines, newest first
};

bool has_replacement(std::string_view payload) {
  const auto history = json::find_member(payload, "replacement_history");
  return history && history->kind == json::Kind::kArray;
}

class Replay {
 public:
  Replay(std::span<const StoredRecord> records, std::uint32_t at) : records_(records) {
    // Parents stand before their children, so the walk ends.
    bool is_document = false;
    while (at < records.size()) {
      path_.push_back(at);
      is_document |= records[at].place != kNoRecord;
      at = records[at].parent;
    }
    std::reverse(path_.begin(), path_.end());
    if (!is_document) return;
    // What is not in the document any more was replaced.
    std::erase_if(path_, [&](std::uint32_t place) {
      return records[place].place == kNoRecord && !records[place].kind.empty();
    });
    std::stable_sort(path_.begin(), path_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return records[a].place < records[b].place;
    });
  }

  std::vector<Pick> run() {
    find_base();
    for (std::size_t at = base_.value_or(0); at < path_.size(); ++at) take(at);
    std::vector<Pick> picks;
    for (const Turned& message : history_) picks.push_back(message.pick);
    return picks;
  }

 private:
  const StoredRecord& line(std::size_t at) const { return records_[path_[at]]; }

  // ---- from the end

  void find_base() {
    std::optional<Segment> segment;
    for (std::size_t at = path_.size(); at-- > 0 && !base_;) look_back(at, segment);
    if (segment && !base_) finish(*segment);
  }

  void look_back(std::size_t at, std::optional<Segment>& segment) {
    const StoredRecord& record = line(at);
    if (record.redacted) return;
    const auto current = [&]() -> Segment& {
      if (!segment) segment.emplace();
      return *segment;
    };
    const std::string_view payload = payload_of(record.payload);
    if (record.kind == kItem) {
      current().is_user_turn |= begins_turn(payload);
    } else if (record.kind == kAgents) {
      current().is_user_turn = true;
    } else if (record.kind == kCompacted) {
      if (has_replacement(payload)) current().replacements.push_back(at);
    } else if (record.kind == kTurnContext) {
      if (current().turn.empty()) segment->turn = text_in(payload, "turn_id");
    } else if (record.kind == kEvent) {
      look_back_at_event(payload, segment);
    }
  }

  void look_back_at_event(std::string_view event, std::optional<Segment>& segment) {
    const std::string type = text_in(event, "type");
    const std::string turn = text_in(event, "turn_id");
    if (type == "thread_rolled_back") {
      const std::uint64_t turns = number_in(event, "num_turns").value_or(0);
      to_skip_ += std::min(turns, std::uint64_t{UINT32_MAX});
    } else if (type == "user_message") {
      if (!segment) segment.emplace();
      segment->is_user_turn = true;
    } else if (type == "task_complete" || type == "turn_complete" || type == "turn_aborted") {
      if (!segment && (type != "turn_aborted" || !turn.empty())) segment.emplace();
      if (segment && segment->turn.empty()) segment->turn = turn;
    } else if (type == "task_started" || type == "turn_started") {
      const bool is_its =
          segment && (segment->turn.empty() || turn.empty() || segment->turn == turn);
      if (!is_its) return;
      finish(*segment);
      segment.reset();
    }
  }

  void finish(const Segment& segment) {
    if (to_skip_ > 0) {
      if (segment.is_user_turn) --to_skip_;
      undone_.insert(undone_.end(), segment.replacements.begin(), segment.replacements.end());
    } else if (!segment.replacements.empty()) {
      base_ = segment.replacements.front();
    }
  }

  // ---- from the base on

  void take(std::size_t at) {
    const StoredRecord& record = line(at);
    const std::uint32_t place = path_[at];
    if (record.kind.empty()) return history_.push_back({.pick = {.record = place}});
    if (record.redacted) return;
    const std::string_view payload = payload_of(record.payload);
    if (record.kind == kItem) {
      take_item(place, payload);
    } else if (record.kind == kAgents) {
      history_.push_back({.pick = {.record = place}, .begins_turn = true});
    } else if (record.kind == kCompacted) {
      const bool is_undone = std::find(undone_.begin(), undone_.end(), at) != undone_.end();
      if (has_replacement(payload)) {
        if (!is_undone) replace(place, payload);
      } else {
        compact(place);
      }
    } else if (record.kind == kEvent && text_in(payload, "type") == "thread_rolled_back") {
      roll_back(number_in(payload, "num_turns").value_or(0));
    }
  }

  Turned turned(std::string_view item, Pick pick) const {
    Turned message{.pick = pick};
    message.begins_turn = begins_turn(item);
    message.is_surroundings = !message.begins_turn && is_surroundings(item);
    message.is_by_user = message.begins_turn && text_in(item, "type") == "message";
    if (message.is_by_user) message.tokens = approximate_tokens(said(item).size());
    return message;
  }

  void take_item(std::uint32_t place, std::string_view item) {
    scratch_.clear();
    lift_item(item, scratch_);
    if (!scratch_.messages().empty()) history_.push_back(turned(item, {.record = place}));
  }

  void replace(std::uint32_t place, std::string_view payload) {
    history_.clear();
    scratch_.clear();
    json::ElementWalk walk(array_in(payload, "replacement_history"));
    while (const auto item = walk.next()) {
      if (item->kind != json::Kind::kObject) continue;
      std::size_t message = scratch_.messages().size();
      lift_item(item->value, scratch_);
      for (; message < scratch_.messages().size(); ++message) {
        history_.push_back(
            turned(item->value, {.record = place, .message = static_cast<std::uint32_t>(message)}));
      }
    }
  }

  // The oldest message that is kept is kept whole: Codex cuts a piece out of its middle.
  void compact(std::uint32_t place) {
    std::uint64_t left = kKeptTokens;
    std::vector<Turned> kept;
    for (std::size_t i = history_.size(); i-- > 0 && left > 0;) {
      if (!history_[i].is_by_user) continue;
      kept.push_back(history_[i]);
      left -= std::min(left, history_[i].tokens);
    }
    history_.assign(kept.rbegin(), kept.rend());
    history_.push_back({.pick = {.record = place, .message = 0}});
  }

  void roll_back(std::uint64_t turns) {
    std::size_t first = history_.size();
    std::size_t cut = history_.size();
    for (std::size_t i = history_.size(); i-- > 0;) {
      if (!history_[i].begins_turn) continue;
      first = i;
      if (turns == 0) continue;
      --turns;
      cut = i;
    }
    while (cut > first && cut < history_.size() && history_[cut - 1].is_surroundings) --cut;
    history_.erase(history_.begin() + static_cast<std::ptrdiff_t>(cut), history_.end());
  }

  std::span<const StoredRecord> records_;
  std::vector<std::uint32_t> path_;
  std::optional<std::size_t> base_;
  std::uint64_t to_skip_ = 0;        // turns that were rolled back, not yet met
  std::vector<std::size_t> undone_;  // `compacted` lines of turns that were rolled back
  std::vector<Turned> history_;
  Lifted scratch_;
};

}  // namespace

std::vector<Pick> conversation_at(std::span<const StoredRecord> records, std::uint32_t at) {
  return Replay(records, at).run();
}

}  // namespace quipu::dialect::codex
