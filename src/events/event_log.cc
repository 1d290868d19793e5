#include "events/event_log.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::events {
namespace {

constexpr std::string_view kName = "system/events.";
constexpr std::size_t kDigits = 8;
constexpr const char* kEndId = "quipu:end";
// More than anybody who appends could be overtaken by in the time that it takes.
constexpr int kTries = 100;
// Closed segments that stay open for looking up ids: the newest, whose events are the likeliest to
// be repeated. Each holds files, of which a process may have a thousand.
constexpr std::size_t kSegmentsKept = 16;

std::optional<std::uint64_t> segment_number(std::string_view log_id) {
  if (!log_id.starts_with(kName)) return std::nullopt;
  log_id.remove_prefix(kName.size());
  std::uint64_t number = 0;
  const char* end = log_id.data() + log_id.size();
  const auto read = std::from_chars(log_id.data(), end, number);
  const bool is_one = log_id.size() >= kDigits && read.ec == std::errc() && read.ptr == end;
  return is_one && number > 0 ? std::optional(number) : std::nullopt;
}

Error overtaken() {
  return {Code::kBusy, "others begin new segments of the log of events all the time"};
}

std::string stored_json(const NewEntry& entry, Filler filler) {
  const std::int64_t now = filler.clock.unix_ms();
  const std::string id = uuid_v7(now, filler.random);
  const std::string timestamp = format_timestamp(now);
  std::string json;
  append_entry_json(json, {.id = id,
                           .parent = std::nullopt,
                           .type = entry.type,
                           .timestamp = timestamp,
                           .run_id = {},
                           .payload = entry.payload,
                           .meta = {}});
  return json;
}

}  // namespace

bool is_read_only(Code code) {
  return code == Code::kStorageGone || code == Code::kNotAllowed || code == Code::kUnsupported;
}

bool is_of_one_session(Code code) {
  return code != Code::kStorageGone && code != Code::kBusy && code != Code::kNoMemory;
}

bool is_of_content(Code code) {
  return code == Code::kNotFound || code == Code::kCorrupt || code == Code::kUnsupported ||
         code == Code::kInvalidArgument;
}

bool is_bookkeeping(std::string_view type) {
  return type == "session_header" || type == "run_start" || type == kPositions;
}

std::string EventLog::log_id(std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return std::string(kName) + digits;
}

bool EventLog::is_segment(std::string_view log_id) { return segment_number(log_id).has_value(); }

Result<std::vector<std::uint64_t>> EventLog::numbers() {
  TRY_ASSIGN(const auto logs, backend_->list_system());
  std::vector<std::uint64_t> numbers;
  for (const std::string& log : logs) {
    if (const auto number = segment_number(log)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<bool> EventLog::exists(std::uint64_t number) {
  auto found = backend_->survey(log_id(number));
  if (!found.ok() && found.error().code() != Code::kNotFound) return std::move(found).error();
  return found.ok();
}

// It inherits nothing, so there is no header to ask for that.
Result<std::shared_ptr<const Lineage>> EventLog::read(std::uint64_t number) {
  TRY_ASSIGN(auto view, backend_->view(log_id(number), nullptr));
  return Lineage::make(std::move(view), nullptr);
}

Result<EventLog::Newest> EventLog::look(std::uint64_t number) {
  TRY_ASSIGN(const auto segment, read(number));
  Newest found;
  found.number = number;
  for (Ordinal own = 0; own < segment->own().fold().count; ++own) {
    TRY_ASSIGN(const StoredEntry stored, segment->own().entry(own));
    const Envelope entry = read_envelope(stored.text);
    if (entry.type.view() != "session_header" && entry.type.view() != kPositions) break;
    found.head_bytes += stored.text.size() + 1;
    if (own == 0) found.begun_ms = parse_timestamp(entry.timestamp.view()).value_or(0);
  }
  return found;
}

Result<EventSegment> EventLog::describe(std::uint64_t number) {
  TRY_ASSIGN(const SurveyedLog log, backend_->survey(log_id(number)));
  TRY_ASSIGN(const Newest begun, look(number));
  EventSegment segment;
  segment.number = number;
  segment.bytes = log.bytes;
  segment.begun_ms = begun.begun_ms;
  return segment;
}

// A segment without events is not full, however old: or a store that is rarely used would
// consist of empty ones.
Result<bool> EventLog::is_full(const Newest& segment) {
  TRY_ASSIGN(const SurveyedLog log, backend_->survey(log_id(segment.number)));
  const std::uint64_t bytes = log.bytes - std::min(log.bytes, segment.head_bytes);
  if (bytes == 0) return false;
  const std::chrono::milliseconds age(backend_->filler().clock.unix_ms() - segment.begun_ms);
  return bytes >= options_.segment_bytes || age >= options_.segment_age;
}

Result<std::uint64_t> EventLog::newest() {
  MutexLock lock(mutex_);
  for (int i = 0; i < kTries; ++i) {
    if (!newest_) {
      TRY_ASSIGN(const auto all, numbers());
      if (all.empty()) {
        TRY(make(1, {}));
        continue;
      }
      auto found = look(all.back());
      if (!found.ok() && found.error().code() == Code::kNotFound) continue;
      if (!found.ok()) return std::move(found).error();
      newest_ = *found;
    }
    const std::uint64_t number = newest_->number;
    const auto full = is_full(*newest_);
    if (full.ok() && !*full) return number;
    if (!full.ok() && full.error().code() != Code::kNotFound) return full.error();
    newest_.reset();  // invariant 4
    auto rolled = full.ok() ? roll(number) : Result<void>();
    if (!rolled.ok() && rolled.error().code() != Code::kNotFound) return std::move(rolled).error();
  }
  return overtaken();
}

Result<std::optional<AppendResult>> EventLog::append(std::uint64_t number,
                                                     std::span<const NewEntry> entries) {
  TRY_ASSIGN(const Batch batch, admit_entries(entries, backend_->filler()));
  AppendOptions options;
  options.fence = "";
  options.mode = AppendMode::kMerge;
  auto stored = backend_->append(log_id(number), batch, options);
  if (stored.ok()) return std::optional(std::move(stored).value());
  const Code code = stored.error().code();
  if (code != Code::kFenced && code != Code::kNotFound) {
    return std::move(stored).error().with_entry_ids(batch.ids());
  }
  // Whoever closed it may have been killed before the next was made.
  if (code == Code::kFenced) {
    auto rolled = roll(number);
    if (!rolled.ok() && rolled.error().code() != Code::kNotFound) return std::move(rolled).error();
  }
  MutexLock lock(mutex_);
  if (newest_ && newest_->number <= number) newest_.reset();
  return std::optional<AppendResult>();
}

Result<void> EventLog::roll(std::uint64_t number) {
  NewEntry end;
  end.id = kEndId;
  end.type = "run_start";
  TRY_ASSIGN(const Batch batch, admit_entries({&end, 1}, backend_->filler()));
  AppendOptions options;
  options.fence = "";
  auto closed = backend_->append(log_id(number), batch, options);
  if (!closed.ok() && closed.error().code() != Code::kFenced) return std::move(closed).error();
  TRY_ASSIGN(const bool is_there, exists(number + 1));
  if (is_there) return {};
  TRY_ASSIGN(const Positions positions, positions_after(number));
  return make(number + 1, positions);
}

// Made whole, so that nobody sees a segment without its positions. Somebody else may
// make the same at this moment: from the same segment, so it is the same.
Result<void> EventLog::make(std::uint64_t number, const Positions& positions) {
  SessionHeader header;
  header.version = kSchemaVersion;
  header.session_id = log_id(number);
  NewEntry first;
  first.type = "session_header";
  first.payload = session_header_payload(header);
  std::vector<std::string> entries{stored_json(first, backend_->filler())};
  for (const NewEntry& entry : positions.checkpoint()) {
    entries.push_back(stored_json(entry, backend_->filler()));
  }
  auto made = backend_->create(header.session_id, entries);
  if (!made.ok() && made.error().code() != Code::kIdConflict) return std::move(made).error();
  return {};
}

Result<Positions> EventLog::positions_after(std::uint64_t number) {
  TRY_ASSIGN(const auto segment, read(number));
  Positions positions;
  for (Ordinal own = 0; own < segment->own().fold().count; ++own) {
    TRY_ASSIGN(const StoredEntry stored, segment->own().entry(own));
    const Envelope entry = read_envelope(stored.text);
    positions.take(entry.type.view(), entry.payload);
  }
  return positions;
}

Result<std::vector<bool>> EventLog::stored_before(std::uint64_t number,
                                                  std::span<const NewEntry> entries) {
  std::vector<bool> stored(entries.size(), false);
  const bool names_ids = std::any_of(entries.begin(), entries.end(),
                                     [](const NewEntry& entry) { return !entry.id.empty(); });
  if (!names_ids) return stored;
  TRY_ASSIGN(const Batch batch, admit_entries(entries, backend_->filler()));
  TRY_ASSIGN(const auto all, numbers());
  if (all.empty()) return stored;
  MutexLock lock(mutex_);
  const std::uint64_t first_kept = number - std::min<std::uint64_t>(number, kSegmentsKept);
  std::erase_if(closed_,
                [&](const auto& one) { return one.first < std::max(all.front(), first_kept); });
  for (const std::uint64_t older : all) {
    if (older >= number) break;
    std::shared_ptr<const Lineage> segment;
    if (const auto kept = closed_.find(older); kept != closed_.end()) segment = kept->second;
    if (!segment) {
      auto opened = read(older);
      if (!opened.ok() && opened.error().code() == Code::kNotFound) continue;  // pruned just now
      if (!opened.ok()) return std::move(opened).error();
      segment = std::move(opened).value();
      if (older >= first_kept) closed_.emplace(older, segment);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].id.empty() || stored[i]) continue;
      TRY_ASSIGN(const auto own, segment->own().find(entries[i].id));
      if (!own) continue;
      TRY_ASSIGN(const StoredEntry there, segment->own().entry(*own));
      if (!same_as_stored(batch.drafts[i], there.text)) {
        return Error(Code::kIdConflict, "event " + entries[i].id + " is stored with other content");
      }
      stored[i] = true;
    }
  }
  return stored;
}

Result<EventsAppended> EventLog::append_events(std::span<const NewEntry> entries,
                                               bool may_be_stored) {
  for (int i = 0; i < kTries; ++i) {
    TRY_ASSIGN(const std::uint64_t number, newest());
    std::vector<bool> stored(entries.size(), false);
    if (may_be_stored) {
      TRY_ASSIGN(stored, stored_before(number, entries));
    }
    EventsAppended done;
    std::vector<NewEntry> missing;
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (!stored[at]) missing.push_back(entries[at]);
    }
    done.already_present = entries.size() - missing.size();
    std::vector<std::string> ids;
    if (!missing.empty()) {
      TRY_ASSIGN(auto appended, append(number, missing));
      if (!appended) continue;
      done.appended = appended->appended_count;
      done.already_present += appended->already_present;
      ids = std::move(appended->entry_ids);
    }
    auto next = ids.begin();
    for (std::size_t at = 0; at < entries.size(); ++at) {
      done.ids.push_back(stored[at] ? entries[at].id : std::move(*next++));
    }
    return done;
  }
  return overtaken();
}

}  // namespace quipu::events
