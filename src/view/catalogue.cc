#include "view/catalogue.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/share_out.h"
#include "base/try.h"
#include "view/kinship.h"
#include "view/session_fold.h"

namespace quipu::view {
namespace {

constexpr const char* kSteps[] = {
    ViewSchema::kCreate,
    // Rows of schema 1 took what was said about a session for activity in it.
    "DELETE FROM sessions",
    // Those of schema 2 knew nothing of imported records.
    "DELETE FROM sessions",
    // Those of schema 3 counted one prompt of a record that has several.
    "DELETE FROM sessions"};

// Folding fewer entries than this takes less time than writing a row.
constexpr Ordinal kWorthAWrite = 64;

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

// Null: no such row.
RowPointer decode_pointer(std::string session_id, const LogCursor& cursor,
                          std::string_view record) {
  auto row = decode_row(std::move(session_id), cursor, record);
  return row ? std::make_shared<const SessionRow>(*std::move(row)) : nullptr;
}

std::vector<ViewRecord> records_of(const std::vector<RowPointer>& rows) {
  std::vector<ViewRecord> records;
  records.reserve(rows.size());
  for (const RowPointer& row : rows) {
    if (!row->summary.problem.empty()) continue;  // nothing that was read
    records.push_back({row->session_id, row->cursor, encode_row(*row)});
  }
  return records;
}

// A log on its way into a list.
struct Refreshed {
  const SurveyedLog* log = nullptr;
  RowPointer before{};                         // null: none
  RowPointer newer{};                          // made since by `describe`
  std::optional<Result<RowPointer>> folded{};  // nothing: `before` is up to date
};

}  // namespace

const ViewSchema Catalogue::kFile{.file = "views.db", .steps = kSteps};

void Catalogue::load() {
  if (loaded_) return;
  loaded_ = true;
  if (!file_) return;
  std::vector<RowPointer> rows;
  file_->load([&](std::string id, const LogCursor& cursor, std::string_view record) {
    const auto row = decode_pointer(std::move(id), cursor, record);
    if (row) rows.push_back(row);
    return row != nullptr;
  });
  std::sort(rows.begin(), rows.end(), by_id);
  rows_ = std::move(rows);
}

// Null for a session that is gone.
Result<RowPointer> Catalogue::fold(const SurveyedLog& log, const SessionRow* known) {
  auto folded = fold_session(*backend_, log.session_id, known);
  if (folded.ok()) return std::make_shared<const SessionRow>(std::move(folded).value());
  if (folded.error().code() == Code::kNotFound) return RowPointer();
  if (folded.error().code() == Code::kNoMemory) return std::move(folded).error();
  return row_of_problem(log, folded.error());
}

// Logs are read without `mutex_`, so that whoever asks for one session does not
// wait for a list of all.
Result<void> Catalogue::refresh() {
  MutexLock listing(listing_);
  std::vector<RowPointer> before;
  std::map<std::string, RowPointer> described;
  {
    MutexLock lock(mutex_);
    load();
    before = rows_;
    described.swap(described_);
  }
  TRY_ASSIGN(const std::vector<SurveyedLog> logs, backend_->survey());
  std::vector<Refreshed> all;
  std::vector<std::size_t> stale;  // of them, to be folded
  std::vector<std::string> gone;
  all.reserve(logs.size());
  auto known = before.begin();
  for (const SurveyedLog& log : logs) {  // both by id
    for (; known != before.end() && (*known)->session_id < log.session_id; ++known) {
      gone.push_back((*known)->session_id);
    }
    const bool has_row = known != before.end() && (*known)->session_id == log.session_id;
    const auto newer = described.find(log.session_id);
    Refreshed one{.log = &log, .before = has_row ? *known++ : nullptr};
    if (newer != described.end()) one.newer = newer->second;
    const bool is_stale = !one.before || one.newer || !is_up_to_date(*one.before, log);
    if (is_stale) stale.push_back(all.size());
    all.push_back(std::move(one));
  }
  for (; known != before.end(); ++known) gone.push_back((*known)->session_id);
  // Where much is new, as after an import, each core folds a part of it.
  share_out(stale.size(), 0, [&](std::size_t i) {
    Refreshed& one = all[stale[i]];
    one.folded = fold(*one.log, one.newer ? one.newer.get() : one.before.get());
  });
  std::vector<RowPointer> rows;
  std::vector<RowPointer> changed;
  rows.reserve(all.size());
  for (Refreshed& one : all) {
    if (!one.folded) {
      rows.push_back(std::move(one.before));
      continue;
    }
    if (!one.folded->ok()) return std::move(*one.folded).error();
    const RowPointer& folded = one.folded->value();
    if (!folded) {
      if (one.before) gone.push_back(one.before->session_id);
      continue;
    }
    rows.push_back(folded);
    if (!one.before || *one.before != *folded) changed.push_back(folded);
  }

  MutexLock lock(mutex_);
  rows_ = rows;
  if (!changed.empty() || !gone.empty() || newest_.size() != rows_.size()) sort();
  if (file_ && (!changed.empty() || !gone.empty() || file_->is_behind())) {
    file_->save(records_of(changed), gone, [&] { return records_of(rows); });
  }
  return {};
}

void Catalogue::forget(const std::string& session_id) {
  MutexLock listing(listing_);
  MutexLock lock(mutex_);
  load();
  std::erase_if(rows_, [&](const RowPointer& row) { return row->session_id == session_id; });
  described_.erase(session_id);
  sort();
  const std::vector<RowPointer> left = rows_;
  if (file_) file_->save({}, {&session_id, 1}, [&] { return records_of(left); });
}

void Catalogue::sort() {
  parts_ = find_parts(rows_);
  newest_ = rows_;
  std::sort(newest_.begin(), newest_.end(), [](const RowPointer& a, const RowPointer& b) {
    return comes_before(place_of(a), place_of(b));
  });
}

SessionSummary Catalogue::shown(const SessionRow& row) const {
  SessionSummary summary = row.summary;
  std::string model = model_session_of(summary);
  const auto part = parts_.find(model);
  if (part == parts_.end() || part->second != summary.session_id) return summary;
  if (const RowPointer other = find_row(rows_, model)) summary.model_source = other->summary.source;
  summary.model_session = std::move(model);
  return summary;
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
    if (filter.whole_only && parts_.contains(row->session_id)) continue;
    ++answer.total;
    if (!page.after.empty() && !comes_before(after, place_of(row))) continue;
    if (answer.items.size() < page.limit) {
      answer.items.push_back(shown(*row));
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

// The newest row that anybody has made of the session; null when nobody has.
RowPointer Catalogue::known_row(const std::string& session_id) {
  MutexLock lock(mutex_);
  if (const auto row = described_.find(session_id); row != described_.end()) return row->second;
  if (loaded_) return find_row(rows_, session_id);
  RowPointer found;
  if (file_) {
    file_->find(session_id, [&](std::string id, const LogCursor& cursor, std::string_view record) {
      found = decode_pointer(std::move(id), cursor, record);
      return found != nullptr;
    });
  }
  return found;
}

// After the first list it is the next one that writes.
void Catalogue::keep(const RowPointer& row, const SessionRow* known) {
  MutexLock lock(mutex_);
  described_[row->session_id] = row;
  const Ordinal had = known != nullptr ? known->cursor.entries : 0;
  if (file_ && !loaded_ && row->cursor.entries >= had + kWorthAWrite) {
    file_->put({row->session_id, row->cursor, encode_row(*row)});
  }
}

Result<SessionSummary> Catalogue::describe(const std::string& session_id) {
  const RowPointer known = known_row(session_id);
  SessionSummary summary;
  bool is_known = false;
  if (known) {
    TRY_ASSIGN(const SurveyedLog log, backend_->survey(session_id));
    is_known = is_up_to_date(*known, log);
  }
  if (is_known) {
    summary = known->summary;
  } else {
    TRY_ASSIGN(SessionRow folded, fold_session(*backend_, session_id, known.get()));
    const auto row = std::make_shared<const SessionRow>(std::move(folded));
    keep(row, known.get());
    summary = row->summary;
  }
  const std::string model = model_session_of(summary);
  if (model.empty()) return summary;
  if (const auto other = describe(model); other.ok()) {
    summary.model_session = model;
    summary.model_source = other->source;
  }
  return summary;
}

}  // namespace quipu::view
