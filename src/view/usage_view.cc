#include "view/usage_view.h"

#include <algorithm>

#include "base/share_out.h"
#include "base/try.h"
#include "view/usage_fold.h"

namespace quipu::view {
namespace {

constexpr const char* kSteps[] = {ViewSchema::kCreate};

// Describing more sessions than this one by one costs more than making a list.
constexpr std::size_t kFewSessions = 256;

bool by_id(const UsageRowPointer& a, const UsageRowPointer& b) {
  return a->session_id < b->session_id;
}

UsageRowPointer row_of_problem(const std::string& session_id, const Error& error) {
  UsageRow row;
  row.session_id = session_id;
  row.problem = error.message();
  return std::make_shared<const UsageRow>(std::move(row));
}

std::vector<ViewRecord> records_of(const std::vector<UsageRowPointer>& rows) {
  std::vector<ViewRecord> records;
  records.reserve(rows.size());
  for (const UsageRowPointer& row : rows) {
    if (!row->problem.empty()) continue;  // nothing that was read
    records.push_back({row->session_id, row->cursor, encode_usage_row(*row)});
  }
  return records;
}

}  // namespace

const ViewSchema UsageView::kFile{.file = "usage.db", .steps = kSteps};

void UsageView::load() {
  if (loaded_) return;
  loaded_ = true;
  if (!file_) return;
  std::vector<UsageRowPointer> rows;
  file_->load([&](std::string id, const LogCursor& cursor, std::string_view record) {
    auto row = decode_usage_row(std::move(id), cursor, record);
    if (!row) return false;
    rows.push_back(std::make_shared<const UsageRow>(*std::move(row)));
    return true;
  });
  std::sort(rows.begin(), rows.end(), by_id);
  rows_ = std::move(rows);
}

// All logs, by id.
Result<std::vector<SurveyedLog>> UsageView::survey() {
  TRY_ASSIGN(auto logs, backend_->survey());
  auto own = backend_->survey(kUsageLog);
  if (!own.ok() && own.error().code() != Code::kNotFound) return std::move(own).error();
  if (!own.ok()) return logs;
  const auto place = std::lower_bound(
      logs.begin(), logs.end(), kUsageLog,
      [](const SurveyedLog& log, const std::string& id) { return log.session_id < id; });
  logs.insert(place, std::move(own).value());
  return logs;
}

// Null for a log that is gone.
Result<UsageRowPointer> UsageView::fold(const SurveyedLog& log, const UsageRow* known) {
  const auto folded = [&]() -> Result<UsageRow> {
    SessionSummary said;
    if (log.session_id != kUsageLog) {
      TRY_ASSIGN(said, catalogue_->describe(log.session_id));
    }
    return fold_usage(*backend_, log, said, known);
  };
  auto row = folded();
  if (row.ok()) return std::make_shared<const UsageRow>(std::move(row).value());
  if (row.error().code() == Code::kNotFound) return UsageRowPointer();
  if (row.error().code() == Code::kNoMemory) return std::move(row).error();
  return row_of_problem(log.session_id, row.error());
}

Result<std::vector<UsageRowPointer>> UsageView::fresh_rows() {
  MutexLock lock(mutex_);
  load();
  TRY_ASSIGN(const std::vector<SurveyedLog> logs, survey());
  std::vector<UsageRowPointer> rows(logs.size());  // null: to be folded
  std::vector<UsageRowPointer> before(logs.size());
  std::vector<std::size_t> stale;
  auto known = rows_.begin();
  for (std::size_t i = 0; i < logs.size(); ++i) {  // both by id
    while (known != rows_.end() && (*known)->session_id < logs[i].session_id) ++known;
    if (known != rows_.end() && (*known)->session_id == logs[i].session_id) before[i] = *known;
    const bool is_good = before[i] && before[i]->problem.empty();
    if (is_good && is_fresh(before[i]->cursor, logs[i])) {
      rows[i] = before[i];
    } else {
      stale.push_back(i);
    }
  }
  if (stale.size() > kFewSessions) TRY(catalogue_->refresh());
  std::vector<std::optional<Error>> failed(stale.size());
  share_out(stale.size(), 0, [&](std::size_t i) {
    auto row = fold(logs[stale[i]], before[stale[i]].get());
    if (row.ok()) {
      rows[stale[i]] = std::move(row).value();
    } else {
      failed[i] = std::move(row).error();
    }
  });
  for (const auto& error : failed) {
    if (error) return *error;
  }
  std::vector<UsageRowPointer> changed;
  for (const std::size_t i : stale) {
    if (rows[i] && (!before[i] || *before[i] != *rows[i])) changed.push_back(rows[i]);
  }
  std::erase(rows, nullptr);
  save(rows, changed);
  rows_ = rows;
  return rows;
}

void UsageView::save(const std::vector<UsageRowPointer>& now,
                     const std::vector<UsageRowPointer>& changed) {
  if (!file_) return;
  std::vector<std::string> gone;
  auto there = now.begin();
  for (const UsageRowPointer& row : rows_) {
    while (there != now.end() && (*there)->session_id < row->session_id) ++there;
    const bool is_there = there != now.end() && (*there)->session_id == row->session_id;
    if (!is_there) gone.push_back(row->session_id);
  }
  if (changed.empty() && gone.empty() && !file_->is_behind()) return;
  file_->save(records_of(changed), gone, [&] { return records_of(now); });
}

}  // namespace quipu::view
