#include "exchange/left_behind.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <vector>

#include "base/json_scan.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/lift.h"
#include "quipu/branch.h"

namespace quipu::exchange {
namespace {

using dialect::Dialect;

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string counted(std::size_t count, const std::string& thing) {
  return counted(count, thing, thing + "s");
}

void lose(ExportReport& report, std::string what, std::string why) {
  report.lost.push_back({.entry_id = {}, .what = std::move(what), .why = std::move(why)});
}

// What a session has and its files have not. Much of it may be so, and is counted then.
class LeftBehind {
 public:
  /// `spoken`: what was written anew. `given`: whose records were given back as they are; null:
  /// nobody's.
  LeftBehind(const Lineage& lineage, const Spoken& spoken, const Dialect* given)
      : lineage_(lineage), said_(spoken.entries), calls_(spoken.calls), given_(given) {
    for (const std::string& id : said_) versions_.insert(source_id(id));
  }

  /// Looks at all entries. What was lost of one that was written goes to the report.
  Result<void> look(Ordinal head, ExportReport& report) {
    TRY(mark_path(head));
    // Newest first: what takes the place of something comes after it.
    EntryText entry;
    for (Ordinal at = lineage_.size(); at-- > 0;) {
      redacted_ += lineage_.is_redacted(at) ? 1 : 0;
      if (lineage_.is_redacted(at)) continue;
      TRY(read_entry(lineage_, at, entry));
      look(entry, on_path_[at], report);
    }
    return {};
  }

  /// Ids of messages that were not written, newest first.
  std::vector<std::string> take_branches() { return std::move(branches_); }

  Result<void> sum_up(Store& store, ExportReport& report) {
    TRY_ASSIGN(const SessionBranch branch, SessionBranch::open(store, report.session_id));
    TRY_ASSIGN(const std::vector<Label> labels, branch.labels());
    if (!branches_.empty()) {
      lose(report, "branch",
           counted(branches_.size(), "message") + " on other branches that are not written");
    }
    if (covered_ > 0) {
      lose(report, "history",
           counted(covered_, "message") +
               " on the way to the head: compacted, reset, taken back, failed or repeated");
    }
    if (redacted_ > 0) {
      lose(report, "redacted", counted(redacted_, "entry", "entries") + " hidden by redactions");
    }
    if (shown_ > 0) lose(report, "status", counted(shown_, "message") + " for a screen only");
    if (const std::size_t all = labels_ + labels.size(); all > 0) {
      lose(report, "label", counted(all, "label") + " of entries: there is no place for names");
    }
    return {};
  }

 private:
  Result<void> mark_path(Ordinal head) {
    on_path_.resize(lineage_.size());
    for (Ordinal at = head; at != kNone;) {
      on_path_[at] = true;
      TRY_ASSIGN(const StoredEntry entry, lineage_.entry(at));
      at = entry.place.parent;
    }
    return {};
  }

  void look(const EntryText& entry, bool is_on_path, ExportReport& report) {
    const dialect::RecordType type = dialect::record_type(entry.envelope.type.view());
    if (given_ != nullptr && type.dialect == given_) return;
    if (type.kind == "label") count_label(entry.envelope.payload);
    const dialect::CarriedMeta meta = dialect::read_meta(entry.envelope.meta);
    if (!meta.supersedes.empty()) replaced_.insert(meta.supersedes);
    if (said_.contains(entry.id) && meta.carried == "attachment") {
      report.lost.push_back(
          {.entry_id = entry.id,
           .what = "text",
           .why = "too large: all of it is in an attachment, what is short was written"});
      return;
    }
    if (said_.contains(entry.id)) return count_characters(entry, meta, report);
    if (is_fact(entry.envelope.type_code) || replaced_.contains(entry.id)) return;
    if (!versions_.insert(source_id(entry.id)).second) return;
    count_message(type, entry, is_on_path);
  }

  // Some agents write a message again when they know more of it: `id`, `id~2` … are one.
  static std::string source_id(const std::string& id) { return id.substr(0, id.rfind('~')); }

  void count_message(const dialect::RecordType& type, const EntryText& entry, bool is_on_path) {
    const Envelope& envelope = entry.envelope;
    std::deque<std::string> owned;
    dialect::Lifted lifted;
    if (type.dialect != nullptr) {
      type.dialect->lift(type.kind, dialect::understood(envelope.payload, owned), lifted);
    }
    const auto& parts = lifted.all_parts();
    const bool is_shown = !parts.empty() && std::ranges::all_of(parts, [](const PartView& part) {
      return part.type == PartType::kStatus;
    });
    // The parts of a message may lie beside it.
    const bool speaks = type.dialect == nullptr ? dialect::carries_message(envelope.type.view())
                                                : !parts.empty() || type.kind == "message";
    if (!speaks || is_repeated(parts, is_on_path)) return;
    if (!is_shown && !is_on_path) return branches_.push_back(entry.id);
    ++(is_shown ? shown_ : covered_);
  }

  // Nothing but calls and results that stand elsewhere in the conversation too. On other
  // branches the same ids may say something else.
  bool is_repeated(const std::vector<PartView>& parts, bool is_on_path) const {
    const auto is_known = [&](const PartView& view) {
      if (view.tool_use_id.empty()) return false;
      if (is_on_path) {
        return calls_.contains(call_key(view.type, json::decode_string(view.tool_use_id)));
      }
      return calls_.contains(what_key(dialect::owned({}, {&view, 1}).parts.front()));
    };
    return !parts.empty() && std::ranges::all_of(parts, is_known);
  }

  // Another agent's. Of one entry the last holds, and an empty one takes it away.
  void count_label(std::string_view record) {
    const auto inner = json::find_member(record, "payload");
    std::string target;
    std::string name;
    json::MemberWalk walk(inner ? inner->value : record);
    while (const auto member = walk.next()) {
      if (member->kind != json::Kind::kString) continue;
      if (member->key.starts_with("target")) target = json::decode_string(member->value);
      if (member->key == "label") name = json::decode_string(member->value);
    }
    if (labelled_.insert(target).second && !name.empty()) ++labels_;
  }

  // What no strict reader takes is read as U+FFFD, and written so.
  static void count_characters(const EntryText& entry, const dialect::CarriedMeta& meta,
                               ExportReport& report) {
    const auto record = dialect::restore(entry.envelope.payload, meta.carried);
    if (!record || json::validate(*record).ok()) return;
    const std::size_t count = replacements(json::scrubbed(*record)) - replacements(*record);
    if (count == 0) return;
    report.lost.push_back({.entry_id = entry.id,
                           .what = "characters",
                           .why = counted(count, "character") +
                                  " became U+FFFD: half a surrogate pair, or no UTF-8"});
  }

  static std::size_t replacements(std::string_view text) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(kReplacement, at)) != std::string_view::npos; ++at) {
      ++count;
    }
    return count;
  }

  const Lineage& lineage_;
  const std::unordered_set<std::string>& said_;
  const std::unordered_set<std::string>& calls_;
  const Dialect* given_;
  std::vector<bool> on_path_;
  std::unordered_set<std::string> replaced_;
  std::unordered_set<std::string> versions_;  // of which one was written or counted
  std::unordered_set<std::string> labelled_;
  std::size_t labels_ = 0;
  std::vector<std::string> branches_;
  std::size_t covered_ = 0;
  std::size_t shown_ = 0;
  std::size_t redacted_ = 0;
};

std::string dollars(std::int64_t nano_usd) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<double>(nano_usd) / 1e9, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

}  // namespace

Result<std::vector<std::string>> said_elsewhere(const Lineage& lineage, const Spoken& spoken,
                                                Ordinal head) {
  LeftBehind left(lineage, spoken, nullptr);
  ExportReport unused;
  TRY(left.look(head, unused));
  return left.take_branches();
}

Result<void> report_left_behind(Store& store, const Lineage& lineage, const Spoken& spoken,
                                const Dialect* given, Ordinal head, ExportReport& report) {
  LeftBehind left(lineage, spoken, given);
  TRY(left.look(head, report));
  return left.sum_up(store, report);
}

void report_cost(const Dialect& dialect, const dialect::Transcript& transcript,
                 std::int64_t recorded, ExportReport& report) {
  std::int64_t said = 0;
  std::int64_t rounded = 0;  // each of them may be off by one
  const auto add = [&](const dialect::TranscriptMessage& from) {
    if (!from.message.usage || !from.message.usage->cost_usd) return;
    said += std::llround(*from.message.usage->cost_usd * 1e9);
    ++rounded;
  };
  for (const dialect::TranscriptMessage& from : transcript.messages) add(from);
  for (const dialect::Aside& aside : transcript.asides) add(aside.message);
  recorded = std::max(recorded, said);
  const std::int64_t lost = dialect.writes_cost() ? recorded - said : recorded;
  if (lost <= (dialect.writes_cost() ? rounded : 0)) return;
  lose(report, "cost",
       dollars(lost) + " of " + dollars(recorded) + " USD that were recorded are not written");
}

}  // namespace quipu::exchange
