#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "events/event_log.h"
#include "store/event_entry.h"
#include "store/guarded.h"

namespace quipu {
namespace {

Error invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

NewEntry pruned_entry(std::uint64_t first_kept) {
  NewEntry entry;
  entry.id = std::string(events::kOwnIds) + "pruned:" + std::to_string(first_kept);
  entry.type = events::kPruned;
  entry.payload.clear();
  json::Writer(entry.payload).begin_object().member("before", first_kept).end_object();
  return entry;
}

}  // namespace

Result<NewEvent> read_event(std::string_view json) {
  return guarded([&]() -> Result<NewEvent> {
    std::vector<json::Member> members;
    TRY(json::scan_object(json, members));
    if (const auto twice = json::find_duplicate_key(members)) {
      return invalid("member \"" + *twice + "\" occurs twice");
    }
    NewEvent event;
    const std::pair<std::string_view, std::string*> texts[] = {{"id", &event.id},
                                                               {"type", &event.type},
                                                               {"timestamp", &event.timestamp},
                                                               {"source", &event.source}};
    for (const json::Member& member : members) {
      const std::string key = json::decode_string(member.key);
      const auto* text = std::find_if(std::begin(texts), std::end(texts),
                                      [&](const auto& one) { return one.first == key; });
      if (key == "payload" && member.kind == json::Kind::kObject) {
        event.payload = member.value;
      } else if (text != std::end(texts) && member.kind == json::Kind::kString) {
        *text->second = json::decode_string(member.value);
      } else {
        return invalid("an event has no such member \"" + key + "\"")
            .with_hint("type, id, timestamp and source are strings, payload is an object");
      }
    }
    return event;
  });
}

Result<NewEntry> event_entry(const NewEvent& event) {
  if (event.type.empty()) return invalid("an event must have a type");
  if (event.type.size() > kEventTypeBytesMax) {
    return invalid("the type of an event may have at most 256 bytes");
  }
  if (event.type.starts_with(events::kOwnTypes)) {
    return invalid("types that begin with \"quipu.\" are the store's own: " + event.type);
  }
  if (event.id.starts_with(events::kOwnIds)) {
    return invalid("ids that begin with \"quipu:\" are the store's own: " + event.id);
  }
  NewEntry entry;
  entry.id = event.id;
  entry.type = std::string(events::kTypePrefix) + event.type;
  entry.timestamp = event.timestamp;
  entry.payload = event.payload;
  if (!event.source.empty()) {
    json::Writer(entry.meta).begin_object().member("source", event.source).end_object();
  }
  return entry;
}

EventStore::EventStore(const Store& store, const EventOptions& options)
    : log_(std::make_shared<events::EventLog>(store.backend(), options)) {}

Result<EventsAppended> EventStore::append(std::span<const NewEvent> events) {
  return guarded([&]() -> Result<EventsAppended> {
    if (events.empty()) return EventsAppended{};
    std::vector<NewEntry> entries;
    entries.reserve(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      auto entry = event_entry(events[i]);
      if (!entry.ok()) return std::move(entry).error().in("entry " + std::to_string(i + 1));
      entries.push_back(std::move(entry).value());
    }
    return log_->append_events(entries, /*may_be_stored=*/true);
  });
}

Result<std::vector<EventSegment>> EventStore::segments() {
  return guarded([&]() -> Result<std::vector<EventSegment>> {
    TRY_ASSIGN(const auto numbers, log_->numbers());
    std::vector<EventSegment> segments;
    for (const std::uint64_t number : numbers) {
      auto segment = log_->describe(number);
      if (!segment.ok() && segment.error().code() == Code::kNotFound) continue;  // pruned just now
      if (!segment.ok()) return std::move(segment).error();
      if (!segments.empty()) {
        segments.back().closed = true;
        segments.back().closed_ms = segment->begun_ms;
      }
      segments.push_back(*segment);
    }
    return segments;
  });
}

Result<PruneReport> EventStore::prune(const PruneOptions& options) {
  return guarded([&]() -> Result<PruneReport> {
    TRY_ASSIGN(const auto all, segments());
    std::uint64_t bytes = 0;
    for (const EventSegment& segment : all) bytes += segment.bytes;
    PruneReport report;
    for (const EventSegment& segment : all) {
      const bool is_old = segment.closed_ms < options.closed_before_ms;
      const bool is_too_much = options.bytes_max && bytes > *options.bytes_max;
      // Oldest first, without gaps.
      if (report.kept.empty() && segment.closed && (is_old || is_too_much)) {
        bytes -= segment.bytes;
        report.removed.push_back(segment);
      } else {
        report.kept.push_back(segment);
      }
    }
    if (options.dry_run || report.removed.empty()) return report;
    const NewEntry said = pruned_entry(report.kept.front().number);
    TRY(log_->append_events({&said, 1}, /*may_be_stored=*/false));
    for (const EventSegment& segment : report.removed) {
      auto dropped = log_->drop(segment.number);
      // Somebody else prunes, too.
      if (!dropped.ok() && dropped.error().code() != Code::kNotFound) {
        return std::move(dropped).error();
      }
    }
    return report;
  });
}

}  // namespace quipu
