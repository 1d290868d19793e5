#include "events/feed.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/json_scan.h"
#include "base/try.h"

namespace quipu::events {
namespace {

// Looked at in one call, so that somebody who filters much can be stopped.
constexpr std::size_t kEntriesMax = 16'384;

constexpr std::string_view kCreated = "quipu.session_created";
constexpr std::string_view kChanged = "quipu.session_changed";
constexpr std::string_view kRedacted = "quipu.entry_redacted";
constexpr std::string_view kAppended = "quipu.entry_appended";

std::string_view event_type(EntryType type) {
  switch (type) {
    case EntryType::kSessionHeader:
      return kCreated;
    case EntryType::kSessionInfo:
      return kChanged;
    case EntryType::kRedaction:
      return kRedacted;
    default:
      return kAppended;
  }
}

// The name of a log of the store's own; empty: it is a session's.
std::string_view own_name(std::string_view log_id) {
  return log_id.starts_with(kSystemPrefix) ? log_id.substr(kSystemPrefix.size())
                                           : std::string_view();
}

// quipu.session_removed, quipu.memory_removed …
std::string type_about(std::string_view log_id, std::string_view what) {
  const std::string_view name = own_name(log_id);
  std::string type(kOwnTypes);
  type += name.empty() ? "session" : name;
  return type.append("_").append(what);
}

json::Writer& write_subject(std::string_view log_id, json::Writer& payload) {
  const std::string_view name = own_name(log_id);
  payload.begin_object();
  return name.empty() ? payload.member("session", log_id) : payload.member("log", name);
}

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  const bool is_text = member && member->kind == json::Kind::kString;
  return is_text ? json::decode_string(member->value) : std::string();
}

// The members before the payload: what is behind it may be long.
struct Label {
  Text id;
  Text type;
  Text timestamp;
};
Label read_label(std::string_view object) {
  Label label;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    if (member->kind == json::Kind::kString) {
      if (member->key == "id") label.id = Text::of_token(member->value);
      if (member->key == "type") label.type = Text::of_token(member->value);
      if (member->key == "timestamp") label.timestamp = Text::of_token(member->value);
    }
    if (!label.id.empty() && !label.type.empty() && !label.timestamp.empty()) break;
  }
  return label;
}

bool asks_for_own(const TailOptions& options) {
  const auto is_own = [](const std::string& type) { return type.starts_with(kOwnTypes); };
  return options.types.empty() || std::any_of(options.types.begin(), options.types.end(), is_own);
}

}  // namespace

Feed::Feed(EventLog& log, TailOptions options, Own own)
    : log_(log),
      backend_(log.backend()),
      options_(std::move(options)),
      wants_own_(own == Own::kGiven && asks_for_own(options_)) {}

std::string Feed::cursor_text() const { return events::cursor_text(backend_.store_id(), cursor_); }

void Feed::go_back(const Cursor& cursor) {
  if (cursor.place.segment != cursor_.place.segment) segment_.reset();
  cursor_ = cursor;
}

std::uint32_t Feed::damaged() const {
  return damaged_ + (segment_ ? segment_->own().damaged() : 0);
}

// --- places --------------------------------------------------------------------------------

Result<void> Feed::rewind() {
  TRY_ASSIGN(const auto numbers, log_.numbers());
  cursor_ = {};
  if (!numbers.empty()) cursor_.place.segment = numbers.front();
  segment_.reset();
  return {};
}

Result<void> Feed::forward() {
  TRY_ASSIGN(const auto numbers, log_.numbers());
  cursor_ = {};
  segment_.reset();
  if (numbers.empty()) return {};
  cursor_.place.segment = numbers.back();
  TRY(load());
  cursor_.place.ordinal = segment_->own().fold().count;
  TRY_ASSIGN(cursor_.check, check_at(cursor_.place));
  return {};
}

Result<void> Feed::seek(const Cursor& cursor) {
  cursor_ = cursor;
  segment_.reset();
  TRY_ASSIGN(const auto numbers, log_.numbers());
  // A reader of a log without events has been told where it would begin.
  if (numbers.empty() && cursor.place == Place{}) return {};
  if (numbers.empty() || cursor.place.segment > numbers.back()) {
    return gone("the store does not hold what this cursor stands after");
  }
  if (cursor.place.segment < numbers.front()) return gone("events after this cursor were pruned");
  TRY(load());
  const auto check = check_at(cursor.place);
  if (!check.ok() && check.error().code() != Code::kInternal) return check.error();
  if (!check.ok() || *check != cursor.check) {
    return gone("the store does not hold what this cursor stands after");
  }
  return {};
}

Error Feed::gone(std::string_view why) {
  const Cursor stays = cursor_;
  const auto rewound = rewind();
  const std::string oldest = cursor_text();
  go_back(stays);
  segment_.reset();
  if (!rewound.ok()) return rewound.error();
  return Error(Code::kNotFound, std::string(why))
      .with_hint("The oldest event that is kept comes after the cursor " + oldest + ".")
      .with_actual(oldest);
}

// Of the entry that was read last. `internal` when there is none.
Result<std::uint32_t> Feed::check_at(const Place& place) {
  if (place.ordinal == 0 && place.told == 0) return std::uint32_t{0};
  const Ordinal last = place.told > 0 ? place.ordinal : place.ordinal - 1;
  if (last >= segment_->own().fold().count) return Error(Code::kInternal, "no such entry");
  TRY_ASSIGN(const std::string id, segment_->own().id(last));
  return crc32c(id);
}

Result<void> Feed::load() {
  TRY_ASSIGN(segment_, log_.read(cursor_.place.segment));
  return {};
}

Result<bool> Feed::advance() {
  const std::uint64_t number = cursor_.place.segment;
  // First: what is closed when the next is there has nothing more to come.
  TRY_ASSIGN(const bool has_next, log_.exists(number + 1));
  if (auto loaded = load(); !loaded.ok()) {
    if (loaded.error().code() != Code::kNotFound) return std::move(loaded).error();
    TRY_ASSIGN(const auto numbers, log_.numbers());
    if (numbers.empty() && cursor_.place == Place{}) return false;
    return gone("the events that come next were pruned");
  }
  if (cursor_.place.ordinal < segment_->own().fold().count) return true;
  if (!has_next) return false;
  damaged_ += segment_->own().damaged();
  cursor_ = {};
  cursor_.place.segment = number + 1;
  segment_.reset();
  return true;
}

// --- events --------------------------------------------------------------------------------

bool Feed::wants_type(std::string_view type) const {
  return options_.types.empty() ||
         std::find(options_.types.begin(), options_.types.end(), type) != options_.types.end();
}

bool Feed::wants_session(std::string_view session) const {
  return options_.session.empty() || options_.session == session;
}

Result<std::vector<Event>> Feed::read() {
  std::vector<Event> events;
  at_end_ = false;
  for (std::size_t looked = 0; looked < kEntriesMax && events.size() < options_.batch; ++looked) {
    if (!segment_ || cursor_.place.ordinal >= segment_->own().fold().count) {
      TRY_ASSIGN(const bool more, advance());
      at_end_ = !more;
      if (at_end_) break;
      continue;
    }
    TRY(take(events));
  }
  return events;
}

// Past the entry at the place.
void Feed::pass(std::string_view id) {
  ++cursor_.place.ordinal;
  cursor_.place.told = 0;
  cursor_.check = crc32c(id);
}

void Feed::give(Event event, std::vector<Event>& events) {
  if (!wants_type(event.type) || (!wants_own_ && event.type.starts_with(kOwnTypes))) return;
  if (!options_.session.empty() && !wants_session(text_member(event.payload, "session"))) return;
  event.cursor = cursor_text();
  events.push_back(std::move(event));
}

Result<void> Feed::take(std::vector<Event>& events) {
  EntryText entry;
  TRY(read_entry(*segment_, cursor_.place.ordinal, entry));
  const std::string_view type = entry.envelope.type.view();
  if (type == kGrowth) return take_growth(entry, events);
  pass(entry.id);
  if (is_bookkeeping(type)) return {};
  Event event;
  event.id = entry.id;
  event.timestamp = entry.envelope.timestamp.view();
  event.source = text_member(entry.envelope.meta, "source");
  event.payload = entry.envelope.payload;
  event.type = type.starts_with(kTypePrefix) ? type.substr(kTypePrefix.size()) : type;
  if (type == kReplaced || type == kRemoved) {
    const std::string session = text_member(event.payload, "session");
    event.type = type_about(session, type == kReplaced ? "replaced" : "removed");
    event.payload.clear();
    json::Writer payload(event.payload);
    write_subject(session, payload).end_object();
  }
  give(std::move(event), events);
  return {};
}

Result<void> Feed::take_growth(const EntryText& entry, std::vector<Event>& events) {
  const auto growth = read_growth(entry.envelope.payload);
  if (!growth || !wants_own_ || !wants_session(growth->session)) {
    pass(entry.id);
    return {};
  }
  TRY(open_session(*growth));
  const std::string_view noted_at = entry.envelope.timestamp.view();
  while (cursor_.place.told < growth->count() && events.size() < options_.batch) {
    const Ordinal own = growth->first + cursor_.place.told;
    TRY_ASSIGN(Event event, entry_event(*growth, own, noted_at));
    if (++cursor_.place.told == growth->count()) {
      pass(entry.id);
      give(std::move(event), events);
      return {};
    }
    cursor_.check = crc32c(entry.id);
    give(std::move(event), events);
  }
  if (cursor_.place.told >= growth->count()) pass(entry.id);
  return {};
}

// One session that cannot be read does not keep anybody from what comes after it.
Result<void> Feed::open_session(const Growth& growth) {
  auto found = find_session(growth);
  if (found.ok() || !is_of_one_session(found.error().code())) return found;
  // What is given without its entries is never given with them: so it must fail again, while
  // the store does not.
  found = find_session(growth);
  if (found.ok()) return {};
  session_.reset();
  TRY(log_.exists(cursor_.place.segment));
  return is_of_one_session(found.error().code()) ? Result<void>() : found;
}

// The log may be another one by now: its entries are those that were told of only if the
// last of them is.
Result<void> Feed::find_session(const Growth& growth) {
  const Ordinal last = growth.then.entries - 1;
  const bool is_open =
      session_ && session_id_ == growth.session && session_->own().fold().count > last;
  if (!is_open) {
    session_id_ = growth.session;
    session_.reset();
    // Whoever told of it may have looked at a newer copy of the store than the one that is read.
    ignore(backend_.survey(growth.session), "reading it says the same");
    TRY_ASSIGN(session_, backend_.lineage(growth.session));
  }
  if (session_->own().fold().count <= last) {
    session_.reset();
    return {};
  }
  TRY_ASSIGN(const std::string tail, session_->own().id(last));
  if (tail != growth.then.tail) session_.reset();
  return {};
}

Result<Event> Feed::entry_event(const Growth& growth, Ordinal own, std::string_view noted_at) {
  Event event;
  event.id = std::string(kOwnIds) + "entry:" + growth.session + ":" +
             std::to_string(growth.then.generation) + ":" + std::to_string(own);
  event.type = own == 0 ? kCreated : kAppended;
  event.timestamp = noted_at;
  json::Writer payload(event.payload);
  write_subject(growth.session, payload).member("ordinal", growth.base + own);
  auto described = session_ ? describe(own, event, payload) : Result<void>();
  if (!described.ok() && !is_of_content(described.error().code())) {
    return std::move(described).error();
  }
  payload.end_object();
  if (!own_name(growth.session).empty()) event.type = type_about(growth.session, "changed");
  return event;
}

Result<void> Feed::describe(Ordinal own, Event& event, json::Writer& payload) const {
  TRY_ASSIGN(const StoredEntry stored, session_->own().entry(own));
  Label label = read_label(stored.text);
  if (stored.adopted) {
    EntryText whole;
    TRY(read_entry(*session_, session_->base() + own, whole));
    label = {.id = Text::of(whole.id),
             .type = Text::of(std::string(whole.envelope.type.view())),
             .timestamp = Text::of(std::string(whole.envelope.timestamp.view()))};
  }
  event.type = event_type(stored.place.type);
  if (!label.timestamp.empty()) event.timestamp = label.timestamp.view();
  payload.member("entry", label.id.view()).member("type", label.type.view());
  if (stored.place.type == EntryType::kRedaction) {
    const auto target = fact_target(EntryType::kRedaction, read_envelope(stored.text).payload);
    if (target) payload.member("target", target->view());
  }
  return {};
}

}  // namespace quipu::events
