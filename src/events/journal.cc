#include "events/journal.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::events {
namespace {

// Sessions that are told of at once: whoever tails a store for the first time gets the
// first events soon.
constexpr std::size_t kSessionsMax = 1024;
constexpr int kTellingTries = 100;

bool looks_same(const SurveyedLog& one, const SurveyedLog& other) {
  return one.device == other.device && one.inode == other.inode && one.bytes == other.bytes &&
         one.modified_ms == other.modified_ms;
}

}  // namespace

void Journal::note(const LogChanges& changes) {
  all_ = all_ || changes.all;
  for (const std::string& log : changes.logs) {
    if (!EventLog::is_segment(log)) noted_.insert(log);
  }
}

bool Journal::is_told(const SurveyedLog& log) const {
  const Position* told = positions_.find(log.session_id);
  // The time as well: after a power cut the end of a log may be replaced by as many bytes.
  if (told != nullptr && told->inode == log.inode && told->bytes == log.bytes &&
      told->modified_ms == log.modified_ms) {
    return true;
  }
  const auto seen = seen_.find(log.session_id);
  return seen != seen_.end() && looks_same(seen->second, log);
}

// Sessions that were told of and are not there any more are noted, too.
Result<void> Journal::survey_all() {
  TRY_ASSIGN(const std::vector<SurveyedLog> logs, backend_.survey());
  auto known = positions_.all().begin();
  const auto end = positions_.all().end();
  const auto pass_over = [&](const std::string* until) {
    for (; known != end && (until == nullptr || known->first < *until); ++known) {
      if (known->second.entries > 0) noted_.insert(known->first);
    }
  };
  for (const SurveyedLog& log : logs) {
    pass_over(&log.session_id);
    if (known != end && known->first == log.session_id) ++known;
    if (!is_told(log)) noted_.insert(log.session_id);
  }
  pass_over(nullptr);
  TRY_ASSIGN(const auto system, backend_.list_system());
  for (const std::string& log : system) {
    if (!EventLog::is_segment(log)) noted_.insert(log);
  }
  all_ = false;
  return {};
}

Result<void> Journal::fold() {
  for (;;) {
    if (segment_ == 0) {
      TRY_ASSIGN(const auto numbers, log_.numbers());
      positions_ = {};
      folded_ = 0;
      if (numbers.empty()) return {};
      segment_ = numbers.back();
    }
    TRY_ASSIGN(const bool has_next, log_.exists(segment_ + 1));
    auto segment = log_.read(segment_);
    const bool is_pruned = !segment.ok() && segment.error().code() == Code::kNotFound;
    if (is_pruned || has_next) {
      segment_ = 0;  // the next begins with all that this one told
      continue;
    }
    if (!segment.ok()) return std::move(segment).error();
    const LogView& own = (*segment)->own();
    for (; folded_ < own.fold().count; ++folded_) {
      TRY_ASSIGN(const StoredEntry stored, own.entry(folded_));
      const Envelope entry = read_envelope(stored.text);
      positions_.take(entry.type.view(), entry.payload);
    }
    return {};
  }
}

Result<void> Journal::compare(const std::string& session, News& news) {
  const Position* told = positions_.find(session);
  const bool is_known = told != nullptr && told->entries > 0;
  const std::uint64_t generation = told != nullptr ? told->generation : 0;
  auto log = backend_.survey(session);
  if (!log.ok() && log.error().code() == Code::kNotFound) {
    if (is_known) news.entries.push_back(removed_entry(session, generation + 1));
    return {};
  }
  if (!log.ok()) return std::move(log).error();
  if (is_told(*log)) return {};
  news.seen.insert_or_assign(session, *log);
  TRY_ASSIGN(const auto lineage, backend_.lineage(session));
  const LogView& own = lineage->own();
  Growth growth;
  growth.session = session;
  growth.base = lineage->base();
  growth.then.generation = generation;
  growth.then.entries = own.fold().count;
  growth.then.inode = log->inode;
  growth.then.bytes = own.settled_bytes();
  growth.then.modified_ms = log->modified_ms;
  bool goes_on = true;
  if (is_known) {
    goes_on = own.fold().count >= told->entries;
    if (goes_on) {
      TRY_ASSIGN(const std::string tail, own.id(told->entries - 1));
      goes_on = tail == told->tail;
    }
    growth.first = goes_on ? told->entries : 0;
  }
  if (growth.count() > 0) {
    TRY_ASSIGN(growth.then.tail, own.id(growth.then.entries - 1));
  }
  // From here on nothing fails, so of one session all is said or nothing.
  if (!goes_on) news.entries.push_back(replaced_entry(session, ++growth.then.generation));
  if (growth.count() > 0) {
    news.entries.push_back(growth_entry(growth));
  } else if (is_known && log->bytes == growth.then.bytes) {
    growth.then.tail = told->tail;
    news.looked.emplace(session, growth.then);
  }
  return {};
}

Result<Journal::News> Journal::compare(const std::vector<std::string>& sessions) {
  News news;
  for (const std::string& session : sessions) {
    auto compared = compare(session, news);
    if (compared.ok()) continue;
    const Code code = compared.error().code();
    if (!is_of_one_session(code)) return std::move(compared).error();
    if (is_of_content(code)) continue;
    news.seen.erase(session);
    news.unreadable.insert(session);
  }
  if (!news.looked.empty()) news.entries.push_back(Positions::entry_of(news.looked));
  return news;
}

Result<bool> Journal::tell(News news) {
  if (!news.entries.empty()) {
    // Where it is full, the next segment is begun, which says the same.
    TRY_ASSIGN(const std::uint64_t newest, log_.newest());
    if (newest != segment_) {
      segment_ = 0;
      return false;
    }
    auto told = log_.append(segment_, news.entries);
    if (!told.ok() && told.error().code() == Code::kIdConflict) return false;
    if (!told.ok()) return std::move(told).error();
    if (!*told) return false;
    problem_.reset();
    if (const auto segment = log_.read(segment_); segment.ok()) {
      TRY_ASSIGN(const auto last, (*segment)->own().find((*told)->last_appended_entry_id));
      if (last) durable_ = {.segment = segment_, .entries = *last + 1};
    }
  }
  for (auto& [session, log] : news.seen) seen_.insert_or_assign(session, std::move(log));
  unreadable_.merge(news.unreadable);
  return true;
}

Result<bool> Journal::catch_up() {
  TRY(fold());
  if (all_) TRY(survey_all());
  // After all others, so that they cannot keep these waiting.
  if (noted_.empty()) noted_.swap(unreadable_);
  if (noted_.empty()) {
    problem_.reset();
    return true;
  }
  // While nothing can be added, one is enough to see whether that is still so.
  const std::size_t most = problem_ ? 1 : kSessionsMax;
  std::vector<std::string> sessions;
  for (auto it = noted_.begin(); it != noted_.end() && sessions.size() < most; ++it) {
    sessions.push_back(*it);
  }
  for (int i = 0; i < kTellingTries; ++i) {
    TRY_ASSIGN(News news, compare(sessions));
    auto told = tell(std::move(news));
    if (!told.ok() && is_read_only(told.error().code())) {
      problem_ = std::move(told).error();
      return true;
    }
    if (!told.ok()) return told;
    TRY(fold());
    if (!*told) continue;
    for (const std::string& session : sessions) noted_.erase(session);
    return noted_.empty();
  }
  return Error(Code::kBusy, "others write the journal of changes all the time");
}

}  // namespace quipu::events
