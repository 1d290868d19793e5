#include "view/catalogue.h"

#include <algorithm>
#include <charconv>

#include "base/try.h"
#include "view/session_fold.h"

namespace quipu::view {
namespace {

bool by_id(const RowPointer& a, const RowPointer& b) { return a->session_id < b->session_id; }

/// A place in the order of lists: last active first, then by id.
struct Place {
  std::int64_t last_active_ms = 0;
  std::string_view session_id;
};

Place place_of(const RowPointer& row) { return {row->summary.last_active_ms, row->session_id}; }

bool comes_before(const Place& a, const Place& b) {
  return a.last_active_ms != b.last_active_ms ? a.last_active_ms > b.last_active_ms
                                              : a.session_id < b.session_id;
}

// "<ms>.<id>" of the last session shown. It names a place and no session: that
// one may be gone when the next page is asked for.
std::string cursor_text(const RowPointer& row) {
  return std::to_string(row->summary.last_active_ms) + '.' + row->session_id;
}

Result<Place> read_cursor(std::string_view text) {
  Place place;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, place.last_active_ms);
  const bool good = error == std::errc() && at != end && *at == '.';
  if (good) place.session_id = text.substr(static_cast<std::size_t>(at - text.data()) + 1);
  if (!good || !is_session_id(place.session_id)) {
    return Error(Code::kInvalidArgument, "not a cursor of a list of sessions")
        .with_hint("pass `next` of the page before as it came, or nothing for the first page");
  }
  return place;
}

// A log that cannot be read, listed all the same. Never fresh: what is missing
// may come back without the log changing (the parent of a fork).
RowPointer row_of_problem(const SurveyedLog& log, const Error& error) {
  SessionRow row;
  row.session_id = log.session_id;
  row.cursor.modified_ms = log.modified_ms;
  row.summary.log_bytes = log.bytes;
  row.finish();
  row.summary.problem = error.message();
  return std::make_shared<const SessionRow>(std::move(row));
}

bool is_up_to_date(const SessionRow& row, const SurveyedLog& log) {
  return row.summary.problem.empty() && is_fresh(row.cursor, log);
}

}  // namespace

void Catalogue::load() {
  if (loaded_) return;
  loaded_ = true;
  if (!file_) return;
  rows_ = file_->load();
  std::sort(rows_.begin(), rows_.end(), by_id);
}

// Null for a session that is gone.
Result<RowPointer> Catalogue::fold(const SurveyedLog& log, const SessionRow* known) {
  auto folded = fold_session(*backend_, log, known);
  if (folded.ok()) return std::make_shared<const SessionRow>(std::move(folded).value());
  if (folded.error().code() == Code::kNotFound) return RowPointer();
  if (folded.error().code() == Code::kNoMemory) return std::move(folded).error();
  return row_of_problem(log, folded.error());
}

Result<void> Catalogue::refresh() {
  MutexLock lock(mutex_);
  load();
  TRY_ASSIGN(const std::vector<SurveyedLog> logs, backend_->survey());
  std::vector<RowPointer> rows;
  std::vector<RowPointer> changed;
  std::vector<std::string> gone;
  rows.reserve(logs.size());
  auto known = rows_.begin();
  for (const SurveyedLog& log : logs) {  // both by id
    for (; known != rows_.end() && (*known)->session_id < log.session_id; ++known) {
      gone.push_back((*known)->session_id);
    }
    const bool has_row = known != rows_.end() && (*known)->session_id == log.session_id;
    const RowPointer row = has_row ? *known++ : nullptr;
    if (row && is_up_to_date(*row, log)) {
      rows.push_back(row);
      continue;
    }
    TRY_ASSIGN(const RowPointer folded, fold(log, row.get()));
    if (!folded) {
      if (row) gone.push_back(row->session_id);
      continue;
    }
    rows.push_back(folded);
    if (!row || *row != *folded) changed.push_back(folded);
  }
  for (; known != rows_.end(); ++known) gone.push_back((*known)->session_id);

  rows_ = std::move(rows);
  if (!changed.empty() || !gone.empty() || newest_.size() != rows_.size()) sort();
  if (file_ && (!changed.empty() || !gone.empty() || file_->is_behind())) {
    file_->save(changed, gone, rows_);
  }
  return {};
}

void Catalogue::sort() {
  newest_ = rows_;
  std::sort(newest_.begin(), newest_.end(), [](const RowPointer& a, const RowPointer& b) {
    return comes_before(place_of(a), place_of(b));
  });
}

Result<Page<SessionSummary>> Catalogue::query(const SessionFilter& filter,
                                              const PageRequest& page) {
  Place after;
  if (!page.after.empty()) {
    TRY_ASSIGN(after, read_cursor(page.after));
  }
  MutexLock lock(mutex_);
  Page<SessionSummary> answer;
  RowPointer last;
  for (const RowPointer& row : newest_) {
    if (!filter.matches(row->summary)) continue;
    ++answer.total;
    if (!page.after.empty() && !comes_before(after, place_of(row))) continue;
    if (answer.items.size() < page.limit) {
      answer.items.push_back(row->summary);
      last = row;
    } else if (last && answer.next.empty()) {
      answer.next = cursor_text(last);
    }
  }
  return answer;
}

Result<Page<SessionSummary>> Catalogue::list(const SessionFilter& filter, const PageRequest& page) {
  TRY(refresh());
  return query(filter, page);
}

Result<SessionSummary> describe(Backend& backend, const std::string& session_id) {
  SurveyedLog log;
  log.session_id = session_id;
  TRY_ASSIGN(SessionRow row, fold_session(backend, log, nullptr));
  return std::move(row.summary);
}

}  // namespace quipu::view
