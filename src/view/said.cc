#include "view/said.h"

#include <algorithm>
#include <iterator>

#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/lift.h"
#include "model/session_header.h"
#include "model/session_info.h"
#include "quipu/limits.h"

namespace quipu::view {
namespace {

using json::Kind;

// Nobody writes words so long; programs write pictures like that.
constexpr std::size_t kEncodedBytesMin = 1024;

bool is_encoding(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=' || c == '_' || c == '-';
}

// `text` without stretches of base64.
void append_words(std::string& to, std::string_view text) {
  std::size_t kept = 0;  // up to here it is in `to`, or left out
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && is_encoding(text[at])) ++at;
    if (at - begin < kEncodedBytesMin) continue;
    to += text.substr(kept, begin - kept);
    kept = at;
  }
  to += text.substr(kept);
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

template <class T>
void add_once(std::vector<T>& to, T value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(std::move(value));
}

// A paragraph of its own, so that words of two parts are not one.
void add_text(Said& into, std::string_view text) {
  if (text.empty()) return;
  if (!into.text.empty()) into.text += '\n';
  append_words(into.text, text);
}

void add_token(Said& into, std::string_view token) {
  if (!token.empty()) add_text(into, json::decode_string(token));
}

// All strings of a value; keys are the program's words and nobody's.
void add_strings(Said& into, json::Cursor& at, std::size_t depth) {
  std::string_view key;
  switch (at.kind()) {
    case Kind::kString:
      return add_token(into, at.take());
    case Kind::kObject:
      if (depth == 0 || !at.enter()) break;
      while (at.next_member(key)) add_strings(into, at, depth - 1);
      return;
    case Kind::kArray:
      if (depth == 0 || !at.enter()) break;
      while (at.next_element()) add_strings(into, at, depth - 1);
      return;
    default:
      break;
  }
  at.take();
}

void add_part(Said& into, const PartView& part, std::size_t depth = kJsonDepthMax) {
  switch (part.type) {
    case PartType::kText:
    case PartType::kThinking:
    case PartType::kStatus:
      return add_token(into, part.text);
    case PartType::kToolUse: {
      add_token(into, part.name);
      add_token(into, part.raw_input);
      json::Cursor input(part.input);
      return add_strings(into, input, kJsonDepthMax);
    }
    case PartType::kToolResult: {
      std::vector<PartView> content;
      read_content(part.content, content);
      if (depth == 0) return;
      for (const PartView& inner : content) add_part(into, inner, depth - 1);
      return;
    }
    case PartType::kAttachment:
      add_token(into, part.name);
      return add_token(into, part.path);
    case PartType::kOther:
      const auto text = json::find_member(part.whole, "text");
      if (text && text->kind == Kind::kString) add_token(into, text->value);
  }
}

// Results come as messages of the user, too: they are the tools' words.
std::string_view role_of(const MessageView& message, std::span<const PartView> parts) {
  const bool is_answer =
      !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const PartView& part) {
        return part.type == PartType::kToolResult;
      });
  return is_answer ? name(Role::kTool) : name(message.role);
}

void add_titled(Said& into, std::string_view role, std::string_view text) {
  add_text(into, text);
  if (!text.empty()) add_once(into.roles, role);
}

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == Kind::kString ? json::decode_string(member->value)
                                                 : std::string();
}

// The messages of an entry, whoever wrote it.
class Messages {
 public:
  explicit Messages(const Envelope& envelope) {
    const std::string_view type = envelope.type.view();
    record_ = dialect::record_type(type);
    if (record_.dialect != nullptr) {
      payload_ = dialect::understood(envelope.payload, owned_);
      record_.dialect->lift(record_.kind, payload_, lifted_);
    } else if (dialect::carries_message(type)) {
      native_ = dialect::lift(type, envelope.payload, native_parts_);
    }
  }

  template <class Take>
  void each(Take&& take) const {
    if (native_) take(*native_, std::span<const PartView>(native_parts_));
    for (const auto& message : lifted_.messages()) take(message.view, lifted_.parts(message));
  }

  bool has(PartType type) const {
    bool found = false;
    each([&](const MessageView&, std::span<const PartView> parts) {
      for (const PartView& part : parts) found = found || part.type == type;
    });
    return found;
  }

  /// What a fact of another agent calls the session. Nodes may name it by what they say
  /// themselves, or by what another says.
  std::string title() const {
    if (record_.dialect == nullptr || !record_.is_fact) return {};
    dialect::Note note;
    record_.dialect->note(record_.kind, payload_, note);
    return note.title.value_or("");
  }

 private:
  dialect::RecordType record_;
  std::deque<std::string> owned_;
  std::string_view payload_;
  dialect::Lifted lifted_;
  std::optional<MessageView> native_;
  std::vector<PartView> native_parts_;
};

Envelope envelope_of(const StoredEntry& stored) {
  Envelope envelope = read_envelope(stored.text);
  if (stored.adopted) adopt(envelope, stored.text);
  return envelope;
}

}  // namespace

Result<std::optional<std::int64_t>> time_of(const LogView& log, Ordinal own) {
  TRY_ASSIGN(const StoredEntry stored, log.entry(own));
  return parse_timestamp(envelope_of(stored).timestamp.view());
}

void SaidReader::note_calls(Ordinal own, std::span<const PartView> parts) {
  while (!calls_.empty() && calls_.front().own + kCallsKept < own) calls_.pop_front();
  for (const PartView& part : parts) {
    if (part.type != PartType::kToolUse || part.tool_use_id.empty()) continue;
    calls_.push_back({.own = own,
                      .id = std::string(part.tool_use_id),
                      .tool = lower(json::decode_string(part.name))});
  }
}

// The same calls are known however one came here.
Result<void> SaidReader::look_back(Ordinal own) {
  const Ordinal from = own - std::min(own, kCallsKept);
  std::deque<Call> later;
  if (from < first_) later.swap(calls_);
  for (Ordinal at = from; at < first_; ++at) {
    TRY_ASSIGN(const StoredEntry stored, lineage_->own().entry(at));
    const Envelope envelope = envelope_of(stored);
    Messages(envelope).each(
        [&](const MessageView&, std::span<const PartView> parts) { note_calls(at, parts); });
  }
  first_ = std::min(first_, from);
  std::move(later.begin(), later.end(), std::back_inserter(calls_));
  while (!calls_.empty() && calls_.front().own < from) calls_.pop_front();
  return {};
}

void SaidReader::add_message(Said& into, const MessageView& message,
                             std::span<const PartView> parts) const {
  const std::size_t before = into.text.size();
  for (const PartView& part : parts) add_part(into, part);
  if (into.text.size() == before) return;
  add_once(into.roles, role_of(message, parts));
  for (const PartView& part : parts) {
    if (part.type == PartType::kToolUse) {
      add_once(into.tools, lower(json::decode_string(part.name)));
    }
    if (part.type != PartType::kToolResult) continue;
    const auto call = std::find_if(calls_.rbegin(), calls_.rend(),
                                   [&](const Call& one) { return one.id == part.tool_use_id; });
    if (call != calls_.rend()) add_once(into.tools, call->tool);
  }
}

Result<void> SaidReader::read(Ordinal own, Said& into) {
  if (own != next_) {
    calls_.clear();
    first_ = own;
  }
  next_ = own + 1;
  TRY_ASSIGN(const StoredEntry stored, lineage_->own().entry(own));
  const Envelope envelope = envelope_of(stored);
  into.text.clear();
  into.roles.clear();
  into.tools.clear();
  into.type = envelope.type.view();
  into.timestamp = envelope.timestamp.view();
  into.time_ms = parse_timestamp(into.timestamp);
  switch (stored.place.type) {
    case EntryType::kSessionHeader:
      add_titled(into, "title", read_session_header(envelope.payload).title);
      return {};
    case EntryType::kSessionInfo:
      add_titled(into, "title", read_session_info(envelope.payload).title.value_or(""));
      return {};
    case EntryType::kLabel:
      add_titled(into, "label", text_member(envelope.payload, "label"));
      return {};
    case EntryType::kCompactionSummary:
    case EntryType::kBranchSummary:
      add_titled(into, "summary", text_member(envelope.payload, "summary"));
      return {};
    default:
      break;
  }
  const Messages messages(envelope);
  if (messages.has(PartType::kToolResult)) TRY(look_back(own));
  messages.each([&](const MessageView& message, std::span<const PartView> parts) {
    note_calls(own, parts);
    add_message(into, message, parts);
  });
  if (is_fact(stored.place.type)) add_titled(into, "title", messages.title());
  return {};
}

}  // namespace quipu::view
