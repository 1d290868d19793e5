#include <cmath>
#include <unordered_map>

#include "backend/backend.h"
#include "base/json_write.h"
#include "base/time_text.h"
#include "base/try.h"
#include "model/message_view.h"
#include "quipu/usage.h"
#include "store/derived_id.h"
#include "store/guarded.h"
#include "store/header_entry.h"
#include "store/usage_sums.h"
#include "view/usage_fold.h"
#include "view/usage_view.h"

namespace quipu {
namespace {

constexpr std::string_view kRecordedOnce =
    "A request is recorded once: give another request another requestId.";

Error bad_record(std::size_t number, const std::string& what) {
  return {Code::kInvalidArgument, "record " + std::to_string(number + 1) + " " + what};
}

Result<void> check(const UsageRecord& record, std::size_t number) {
  if (record.request_id.empty()) return bad_record(number, "has no requestId");
  if (!record.timestamp.empty() && !parse_timestamp(record.timestamp)) {
    return bad_record(number, "has a time that is none: " + record.timestamp);
  }
  const double cost = record.usage.cost_usd.value_or(0);
  if (!std::isfinite(cost) || cost < 0) return bad_record(number, "has a cost that is none");
  return {};
}

// Called after the request, so that the store itself finds one that is there already.
NewEntry entry_of(const UsageRecord& record) {
  NewEntry entry;
  entry.id = derived_id(record.request_id, "");
  entry.type = "usage";
  entry.timestamp = record.timestamp;
  entry.payload.clear();
  json::Writer out(entry.payload);
  out.begin_object()
      .member("requestId", record.request_id)
      .text_member("model", record.model)
      .text_member("provider", record.provider)
      .text_member("agentId", record.agent_id)
      .text_member("projectId", record.project_id)
      .text_member("sessionId", record.session_id)
      .raw_member("usage", encode_usage(record.usage))
      .end_object();
  return entry;
}

// One for each request, however often it is there.
Result<std::vector<NewEntry>> entries_of(std::span<const UsageRecord> records) {
  std::vector<NewEntry> entries;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    TRY(check(records[i], i));
    NewEntry entry = entry_of(records[i]);
    const auto [place, is_new] = places.try_emplace(entry.id, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
      continue;
    }
    const NewEntry& first = entries[place->second];
    if (first.payload != entry.payload || first.timestamp != entry.timestamp) {
      return Error(Code::kIdConflict,
                   "request " + records[i].request_id + " is there twice, with other content")
          .with_hint(std::string(kRecordedOnce));
    }
  }
  return entries;
}

Result<AppendResult> append(Backend& backend, const Batch& batch) {
  // Those that are there already are passed over, the others are added.
  AppendOptions options;
  options.mode = AppendMode::kMerge;
  auto stored = backend.append(view::kUsageLog, batch, options);
  if (stored.ok() || stored.error().code() != Code::kNotFound) return stored;
  SessionHeader header;
  header.version = kSchemaVersion;
  header.session_id = view::kUsageLog;
  const std::string first = header_entry(header, backend.filler());
  auto made = backend.create(view::kUsageLog, {&first, 1});
  if (!made.ok() && made.error().code() != Code::kIdConflict) return std::move(made).error();
  return backend.append(view::kUsageLog, batch, options);
}

}  // namespace

Result<UsageAdded> UsageStore::add(std::span<const UsageRecord> records) {
  return guarded([&]() -> Result<UsageAdded> {
    TRY(store_.sessions().check_open());
    if (records.empty()) return UsageAdded();
    TRY_ASSIGN(const std::vector<NewEntry> entries, entries_of(records));
    Backend& backend = *store_.backend();
    TRY_ASSIGN(const Batch batch, admit_entries(entries, backend.filler()));
    auto stored = append(backend, batch);
    if (!stored.ok() && stored.error().code() == Code::kIdConflict) {
      return std::move(stored).error().with_hint(std::string(kRecordedOnce));
    }
    if (!stored.ok()) return std::move(stored).error();
    return UsageAdded{.added = stored->appended_count,
                      .present = records.size() - stored->appended_count};
  });
}

Result<UsageReport> UsageStore::aggregate(const UsageQuery& query) {
  return guarded([&]() -> Result<UsageReport> {
    TRY(store_.sessions().check_open());
    TRY_ASSIGN(const auto rows, store_.usage_view().fresh_rows());
    UsageReport report = sum_up(rows, query);
    for (const view::UsageRowPointer& row : rows) {
      if (row->problem.empty()) continue;
      report.unread.push_back({.session_id = row->session_id, .problem = row->problem});
    }
    return report;
  });
}

}  // namespace quipu
