#include "exchange/spoken.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "base/try.h"
#include "exchange/left_behind.h"
#include "exchange/turns.h"
#include "quipu/conversation.h"

namespace quipu::exchange {
namespace {

// Each is a conversation that is read from its beginning.
constexpr std::size_t kBranchesMax = 256;
constexpr std::size_t kNowhere = SIZE_MAX;

// Documents have their JSON on several lines, which has no place in a line. Between tokens
// the ends of lines mean nothing, and in strings there are none.
void put_on_one_line(std::vector<Part>& parts) {
  for (Part& part : parts) {
    for (std::string* json : {&part.input, &part.details, &part.extra}) {
      std::erase_if(*json, [](char c) { return c == '\n' || c == '\r'; });
    }
    put_on_one_line(part.content);
  }
}

// Calls and results by ids that are each call's own, as agents expect it: some models begin to
// count anew with each answer.
class CallIds {
 public:
  /// False: the result of a call that has one already; some agents write it more than once.
  bool name(Part& part) {
    if (part.tool_use_id.empty()) return true;
    if (part.type == PartType::kToolUse) name_call(part);
    return part.type != PartType::kToolResult || name_result(part);
  }

 private:
  struct Calls {
    std::deque<std::string> open;  // those without a result
    std::string said;              // by the last
    int count = 0;
  };

  void name_call(Part& part) {
    Calls& calls = by_id_[part.tool_use_id];
    std::string said = part.name + " " + part.input + part.raw_input;
    if (calls.open.empty() || calls.said != said) {  // else the same, again
      std::string own = part.tool_use_id;
      while (!used_.insert(own).second) {
        own = part.tool_use_id + "_" + std::to_string(++calls.count + 1);
      }
      calls.open.push_back(std::move(own));
      calls.said = std::move(said);
    }
    part.tool_use_id = calls.open.back();
  }

  bool name_result(Part& part) {
    const auto calls = by_id_.find(part.tool_use_id);
    if (calls == by_id_.end()) return used_.insert(part.tool_use_id).second;
    if (calls->second.open.empty()) return false;
    part.tool_use_id = std::move(calls->second.open.front());
    calls->second.open.pop_front();
    return true;
  }

  std::unordered_map<std::string, Calls> by_id_;
  std::unordered_set<std::string> used_;
};

// The transcript as a tree that branches are added to. A place: see `Aside::follows`.
class Tree {
 public:
  explicit Tree(dialect::Transcript& transcript)
      : transcript_(transcript), end_(dialect::last_said(transcript)) {
    for (const dialect::TranscriptMessage& message : transcript.messages) note_calls(message);
  }

  /// False: the conversation is no branch that leaves the first one before its last message.
  /// Then nothing is added.
  bool add(std::vector<dialect::TranscriptMessage> conversation) {
    std::size_t at = kNowhere;
    std::size_t shared = 0;
    for (; shared < conversation.size(); ++shared) {
      const std::size_t next = after(at, conversation[shared]);
      if (next == kNowhere) break;
      at = next;
    }
    const bool is_of_end = at >= end_ && at < transcript_.messages.size();
    if (at == kNowhere || is_of_end) return false;
    if (cuts_call(conversation, shared) || repeats_call(conversation, shared)) return false;
    for (; shared < conversation.size(); ++shared) {
      dialect::TranscriptMessage& message = conversation[shared];
      note_calls(message);
      const std::size_t place = transcript_.messages.size() + transcript_.asides.size();
      transcript_.asides.push_back({.follows = at, .message = std::move(message)});
      asides_.emplace(at, place);
      at = place;
    }
    return true;
  }

 private:
  std::size_t after(std::size_t at, const dialect::TranscriptMessage& message) const {
    const std::size_t next = at == kNowhere ? 0 : at + 1;
    if (next < transcript_.messages.size() && is_same(transcript_.messages[next], message)) {
      return next;
    }
    const auto [begin, end] = asides_.equal_range(at);
    const auto found = std::find_if(begin, end, [&](const auto& aside) {
      const std::size_t place = aside.second - transcript_.messages.size();
      return is_same(transcript_.asides[place].message, message);
    });
    return found == end ? kNowhere : found->second;
  }

  // Whether a call stands before the place where they part, and a result of it behind that.
  bool cuts_call(const std::vector<dialect::TranscriptMessage>& conversation,
                 std::size_t shared) const {
    std::unordered_set<std::string_view> open;
    const auto closes = [&](const dialect::TranscriptMessage& message) {
      return std::ranges::any_of(message.message.parts, [&](const Part& part) {
        return part.type == PartType::kToolResult && open.contains(part.tool_use_id);
      });
    };
    for (std::size_t i = 0; i < shared; ++i) {
      for (const Part& part : conversation[i].message.parts) {
        if (part.type == PartType::kToolUse) open.insert(part.tool_use_id);
        if (part.type == PartType::kToolResult) open.erase(part.tool_use_id);
      }
    }
    if (open.empty()) return false;
    return std::ranges::any_of(transcript_.messages, closes) ||
           std::ranges::any_of(transcript_.asides,
                               [&](const dialect::Aside& aside) { return closes(aside.message); });
  }

  // Whether what comes behind that place has a call or result of an id that is there already,
  // or of none: then its place tells which is which.
  bool repeats_call(const std::vector<dialect::TranscriptMessage>& conversation,
                    std::size_t shared) const {
    for (std::size_t i = shared; i < conversation.size(); ++i) {
      for (const Part& part : conversation[i].message.parts) {
        if (is_of_call(part) && (part.tool_use_id.empty() || calls_.contains(part.tool_use_id))) {
          return true;
        }
      }
    }
    return false;
  }

  void note_calls(const dialect::TranscriptMessage& message) {
    for (const Part& part : message.message.parts) {
      if (is_of_call(part)) calls_.insert(part.tool_use_id);
    }
  }

  static bool is_of_call(const Part& part) {
    return part.type == PartType::kToolUse || part.type == PartType::kToolResult;
  }

  // An answer of several records may go on in another way.
  static bool is_same(const dialect::TranscriptMessage& a, const dialect::TranscriptMessage& b) {
    return a.entry_id == b.entry_id && a.message.role == b.message.role &&
           a.message.parts == b.message.parts;
  }

  dialect::Transcript& transcript_;
  const std::size_t end_;
  std::unordered_multimap<std::size_t, std::size_t> asides_;  // places, by what they follow
  std::unordered_set<std::string> calls_;                     // ids
};

void note_calls(const Message& message, Spoken& spoken) {
  for (const Part& part : message.parts) {
    if (part.tool_use_id.empty()) continue;
    spoken.calls.insert(call_key(part.type, part.tool_use_id));
    spoken.calls.insert(what_key(part));
  }
}

// By ordinal: whether it is one of these entries, or comes from one.
Result<std::vector<bool>> descendants(const Lineage& lineage,
                                      const std::unordered_set<std::string>& entries) {
  std::vector<bool> all(lineage.size());
  for (const std::string& id : entries) {
    TRY_ASSIGN(const auto found, lineage.find(id));
    if (found) all[found->ordinal] = true;
  }
  for (Ordinal at = 0; at < lineage.size(); ++at) {
    TRY_ASSIGN(const StoredEntry entry, lineage.entry(at));
    if (entry.place.parent < at && all[entry.place.parent]) all[at] = true;
  }
  return all;
}

}  // namespace

std::string call_key(PartType type, const std::string& id) {
  return std::string(name(type)) + " " + id;
}

std::string what_key(const Part& part) {
  std::size_t sum = std::hash<std::string>()(part.input + part.raw_input);
  for (const Part& inner : part.content) {
    sum = sum * 31 + std::hash<std::string>()(inner.text + inner.data);
  }
  return call_key(part.type, part.tool_use_id) + " " + std::to_string(sum);
}

void Spoken::merge(Spoken other) {
  entries.merge(other.entries);
  calls.merge(other.calls);
  requests.merge(other.requests);
}

std::string directory_of(const SessionSummary& summary) {
  return summary.working_directory.empty() ? summary.cwd : summary.working_directory;
}

Result<Spoken> transcript_of(Store& store, const SessionSummary& summary, const std::string& head,
                             const std::unordered_set<std::string>* only, const Spoken* counted) {
  const std::string& session_id = summary.session_id;
  TRY_ASSIGN(std::vector<Utterance> said, read_conversation(store, session_id, head));
  Spoken spoken;
  dialect::Transcript& transcript = spoken.transcript;
  transcript.session_id = session_id;
  transcript.cwd = directory_of(summary);
  transcript.title = summary.title;
  transcript.created = summary.created;
  transcript.model = summary.model;
  transcript.provider = summary.provider;
  transcript.seed = session_id + " " + (head.empty() ? summary.head : head);
  CallIds ids;
  Turns turns;
  std::string last = transcript.created;
  for (Utterance& utterance : said) {
    const bool is_told = only == nullptr || only->contains(utterance.entry_id);
    if (is_told) note_calls(utterance.message, spoken);
    std::vector<Part> parts;
    for (Part& part : utterance.message.parts) {
      if (ids.name(part)) parts.push_back(std::move(part));
    }
    utterance.message.parts = std::move(parts);
    if (!is_told) continue;
    spoken.entries.insert(utterance.entry_id);
    const std::string& request = utterance.message.request_id;
    if (counted != nullptr &&
        (counted->entries.contains(utterance.entry_id) || counted->requests.contains(request))) {
      utterance.message.usage.reset();
    }
    if (utterance.message.usage && !request.empty()) spoken.requests.insert(request);
    if (!parse_timestamp(utterance.timestamp)) utterance.timestamp = last;
    last = utterance.timestamp;
    put_on_one_line(utterance.message.parts);
    turns.add(std::move(utterance));
  }
  transcript.messages = turns.take();
  return spoken;
}

Result<void> add_branches(Store& store, const SessionSummary& summary, const Lineage& lineage,
                          Ordinal head, Spoken& spoken) {
  TRY_ASSIGN(const auto elsewhere, said_elsewhere(lineage, spoken, head));
  TRY_ASSIGN(const auto leaving, descendants(lineage, spoken.entries));
  Tree tree(spoken.transcript);
  std::unordered_set<std::string> heard;
  std::size_t branches = 0;
  // Newest first: of a branch its end.
  for (const std::string& tip : elsewhere) {
    TRY_ASSIGN(const auto found, lineage.find(tip));
    if (heard.contains(tip) || !found || !leaving[found->ordinal]) continue;
    if (++branches > kBranchesMax) break;
    TRY_ASSIGN(Spoken branch, transcript_of(store, summary, tip, nullptr, &spoken));
    heard.merge(std::unordered_set<std::string>(branch.entries));
    if (tree.add(std::move(branch.transcript.messages))) spoken.merge(std::move(branch));
  }
  return {};
}

}  // namespace quipu::exchange
