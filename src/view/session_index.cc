#include "view/session_index.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/try.h"
#include "view/index_batch.h"

namespace quipu::view {
namespace {

// Others commit as fast as we do, and each of them may be faster once.
constexpr int kTries = 1000;
// A damaged file is made anew; one that is damaged again at once is somebody else's matter.
constexpr int kRebuilds = 2;
// So often may tables be gone that others are making anew.
constexpr int kMissingMax = 8;
// Of more blocks than this a filter is cheaper than naming them.
constexpr std::size_t kBlocksNamed = 64;
constexpr std::size_t kLostBlocksMin = 64;
constexpr std::uint64_t kMuchText = std::uint64_t{16} << 20;

}  // namespace

/// What is to be done.
struct SessionIndex::Work {
  std::vector<const SurveyedLog*> stale;  // oldest first
  std::vector<std::string> gone;
  std::uint64_t bytes = 0;  // of stale logs, not read yet
  /// When it is done, more of the index is of logs that are gone than of others.
  bool is_mostly_lost = false;

  Work(const std::vector<SurveyedLog>& logs, const SearchState& state);
};

/// A way through it.
struct SessionIndex::Pass {
  const Work& work;
  IndexReport& report;
  std::size_t next = 0;    // of the stale logs
  std::uint64_t done = 0;  // bytes
};

namespace {

std::uint64_t unread_bytes(const SurveyedLog& log, const IndexedLog* known) {
  const std::uint64_t read = known != nullptr ? known->cursor.settled_bytes : 0;
  return log.bytes - std::min(read, log.bytes);
}

}  // namespace

SessionIndex::Work::Work(const std::vector<SurveyedLog>& logs, const SearchState& state) {
  const auto all_blocks = static_cast<std::size_t>(state.next_number);
  std::size_t lost_blocks = state.lost_blocks();
  auto known = state.logs.begin();
  const auto lose = [&] {
    gone.push_back(known->first);
    lost_blocks += known->second.blocks.size();
    ++known;
  };
  for (const SurveyedLog& log : logs) {  // both by id
    while (known != state.logs.end() && known->first < log.session_id) lose();
    const bool is_known = known != state.logs.end() && known->first == log.session_id;
    const IndexedLog* indexed = is_known ? &known++->second : nullptr;
    if (indexed != nullptr && is_fresh(indexed->cursor, log)) continue;
    const bool is_other = indexed != nullptr && (indexed->cursor.device != log.device ||
                                                 indexed->cursor.inode != log.inode);
    if (is_other) lost_blocks += indexed->blocks.size();
    stale.push_back(&log);
    bytes += unread_bytes(log, indexed);
  }
  while (known != state.logs.end()) lose();
  is_mostly_lost = lost_blocks > std::max(kLostBlocksMin, all_blocks / 2);
  // Greater keys win among equals: those of what was written last.
  std::stable_sort(stale.begin(), stale.end(),
                   [](const auto* a, const auto* b) { return a->modified_ms < b->modified_ms; });
}

namespace {

// Tables that are damaged, or are not there.
bool is_of_tables(Code code) { return code == Code::kCorrupt || code == Code::kInvalidArgument; }

/// A log that is there and cannot be read is no reason to find nothing in the others.
bool is_problem_of_log(Code code) {
  return code == Code::kCorrupt || code == Code::kUnsupported || code == Code::kIoError ||
         code == Code::kNotAllowed || code == Code::kNotFound || code == Code::kTooLarge;
}

}  // namespace

std::string role_tag(std::string_view role) { return "role=" + std::string(role); }
std::string tool_tag(std::string_view tool) { return "tool=" + std::string(tool); }
std::string block_tag(std::int64_t number) { return "block=" + std::to_string(number); }

std::vector<std::string> tags_of(const Said& said) {
  std::vector<std::string> tags;
  for (const std::string_view role : said.roles) tags.push_back(role_tag(role));
  for (const std::string& tool : said.tools) tags.push_back(tool_tag(tool));
  return tags;
}

SessionIndex::SessionIndex(std::shared_ptr<Backend> backend,
                           std::shared_ptr<search::IndexDatabase> database)
    : backend_(std::move(backend)),
      database_(std::move(database)),
      texts_(database_->text_index(kSearchIndex)) {}

void SessionIndex::keep(StatePointer state) {
  MutexLock lock(mutex_);
  state_ = std::move(state);
}

Result<SessionIndex::StatePointer> SessionIndex::current_state(sql::Engine& engine) {
  TRY_ASSIGN(const auto generation, read_generation(engine));
  {
    MutexLock lock(mutex_);
    if (state_ && state_->generation == generation) return state_;
  }
  TRY_ASSIGN(SearchState read, read_state(engine));
  auto state = std::make_shared<const SearchState>(std::move(read));
  keep(state);
  return state;
}

// Of an index that was made anew the numbers must be others: somebody may still know the old.
Result<void> SessionIndex::prepare() {
  const auto first_rows = [&]() -> std::vector<sql::Command> {
    std::uint32_t start = 0;
    std::byte bytes[sizeof start];
    backend_->filler().random.fill(bytes);
    std::memcpy(&start, bytes, sizeof start);
    return {first_state(start)};
  };
  TRY(database_->prepare(search_tables(), first_rows));
  return {};
}

Result<SessionIndex::StatePointer> SessionIndex::commit(sql::Engine& engine, IndexBatch& batch) {
  const std::vector<sql::Command> commands = batch.commands(*texts_);
  // Lost with the machine, it is computed again.
  TRY(engine.commit(commands, sql::Sync::kLater));
  auto state = std::make_shared<const SearchState>(batch.after());
  keep(state);
  return state;
}

// What was taken out must not be read in the database's own log either. Somebody who reads it
// right now keeps it there: then the mark stays, and the next one who comes tries again, as after
// a process that was killed before it came here.
Result<void> SessionIndex::cut_off_log(sql::Engine& engine, const SearchState& state) {
  constexpr sql::Text kCutOff("PRAGMA wal_checkpoint(TRUNCATE)", "SELECT 0");
  {
    TRY_ASSIGN(const auto turn, engine.turn());
    TRY_ASSIGN(const auto is_busy, engine.number(kCutOff));
    if (is_busy.value_or(0) != 0 || !state.is_uncut) return {};
  }
  SearchState after = state;
  after.is_uncut = false;
  ++after.generation;
  const auto marked = engine.commit(StateChange().finish(state, after), sql::Sync::kLater);
  // Others were faster, and have the mark.
  if (!marked.ok() && marked.error().code() == Code::kIdConflict) return {};
  TRY(marked);
  keep(std::make_shared<const SearchState>(std::move(after)));
  return {};
}

// What is gone, and as much of what is new as a commit takes.
Result<void> SessionIndex::fill(IndexBatch& batch, const SearchState& state, Pass& pass) {
  const Work& work = pass.work;
  if (pass.next == 0) {
    for (const std::string& session : work.gone) batch.drop(session);
  }
  for (; pass.next < work.stale.size() && !batch.is_full(); ++pass.next) {
    const SurveyedLog& log = *work.stale[pass.next];
    const auto added = batch.add(*backend_, log);
    if (added.ok() && batch.after().logs.at(log.session_id).has_more()) return {};
    if (!added.ok()) {
      if (!is_problem_of_log(added.error().code())) return Error(added.error());
      pass.report.problems.emplace_back(log.session_id, added.error().message());
    }
    const auto before = state.logs.find(log.session_id);
    pass.done += unread_bytes(log, before != state.logs.end() ? &before->second : nullptr);
  }
  return {};
}

Result<SessionIndex::Outcome> SessionIndex::index_once(const IndexProgress& progress,
                                                       IndexReport& report, bool& in_store) {
  TRY(prepare());
  TRY_ASSIGN(const auto engine, database_->lease());
  TRY_ASSIGN(StatePointer state, current_state(*engine));
  in_store = true;
  TRY_ASSIGN(const std::vector<SurveyedLog> logs, backend_->survey());
  const Work work(logs, *state);
  if (work.is_mostly_lost) return Outcome::kToBeMadeAnew;
  Pass pass{.work = work, .report = report};
  do {
    IndexBatch batch(*state);
    in_store = true;
    TRY(fill(batch, *state, pass));
    in_store = false;
    if (batch.is_empty()) break;
    // What a redaction takes out may be in documents of lost blocks, too.
    if (batch.has_redactions() && batch.after().lost_blocks() > 0) return Outcome::kToBeMadeAnew;
    auto committed = commit(*engine, batch);
    if (!committed.ok() && committed.error().code() == Code::kIdConflict)
      return Outcome::kOvertaken;
    if (!committed.ok()) return std::move(committed).error();
    state = std::move(committed).value();
    report += batch.report();
    if (progress && !progress(pass.done, work.bytes)) break;
  } while (pass.next < work.stale.size());
  // After much was written the database's log is as large as the index itself.
  if (state->is_uncut || report.text_bytes > kMuchText) TRY(cut_off_log(*engine, *state));
  return Outcome::kDone;
}

Result<IndexReport> SessionIndex::index(const IndexProgress& progress) {
  IndexReport report;
  Failures failures;
  for (int i = 0; i < kTries; ++i) {
    report.problems.clear();
    bool in_store = false;
    const auto outcome = index_once(progress, report, in_store);
    if (outcome.ok()) {
      if (*outcome == Outcome::kDone) return report;
      if (*outcome == Outcome::kToBeMadeAnew) TRY(database_->drop(search_tables()));
      continue;
    }
    if (in_store) return Error(outcome.error());
    TRY_ASSIGN(const bool again, mend(outcome.error(), failures));
    if (!again) return Error(outcome.error());
  }
  return Error(Code::kBusy, "others index the sessions all the time");
}

// The file has more than the tables of the search, and vectors cost money: it is emptied last.
Result<bool> SessionIndex::mend(const Error& error, Failures& failures) {
  if (!is_of_tables(error.code())) return false;
  if (error.code() == Code::kInvalidArgument) {
    // Between another's drop and its `prepare`; ours makes them just as well.
    if (++failures.missing < kMissingMax) return true;
    if (database_->is_postgres()) return false;
    // They stay away, though the database says that they are there: names are damaged.
    if (failures.missing == kMissingMax && database_->drop(search_tables()).ok()) return true;
  }
  if (++failures.damaged > kRebuilds) return false;
  TRY(database_->discard(search_tables()));
  return true;
}

Result<IndexReport> SessionIndex::refresh(const IndexProgress& progress) {
  MutexLock refreshing(refreshing_);
  return index(progress);
}

Result<IndexReport> SessionIndex::rebuild(const IndexProgress& progress) {
  MutexLock refreshing(refreshing_);
  auto dropped = database_->drop(search_tables());
  if (!dropped.ok() && is_of_tables(dropped.error().code())) {
    dropped = database_->discard(search_tables());
  }
  TRY(dropped);
  return index(progress);
}

namespace {

/// Blocks by their numbers, and which of them may hold what is looked for.
class BlockMap {
 public:
  BlockMap(const SearchState& state, const Narrowing& narrowing) {
    for (const auto& [session, log] : state.logs) {
      if (narrowing.sessions != nullptr && !narrowing.sessions->contains(session)) continue;
      for (const SearchBlock& block : log.blocks) {
        const bool is_before = narrowing.from_ms && block.until_ms < *narrowing.from_ms;
        const bool is_after = narrowing.to_ms && block.since_ms >= *narrowing.to_ms;
        if (is_before || is_after) continue;
        const bool in_time = (!narrowing.from_ms || block.since_ms >= *narrowing.from_ms) &&
                             (!narrowing.to_ms || block.until_ms < *narrowing.to_ms);
        blocks_[block.number] = {&session, &block, in_time};
      }
    }
  }

  struct Place {
    const std::string* session = nullptr;
    const SearchBlock* block = nullptr;
    bool in_time = false;
  };
  const Place* find(std::int64_t key) const {
    const auto place = blocks_.find(key / kBlockEntries);
    return key < 0 || place == blocks_.end() ? nullptr : &place->second;
  }
  std::size_t size() const { return blocks_.size(); }
  std::vector<std::string> tags() const {
    std::vector<std::string> tags;
    for (const auto& [number, place] : blocks_) tags.push_back(block_tag(number));
    return tags;
  }

 private:
  std::unordered_map<std::int64_t, Place> blocks_;
};

Ordinal own_of(std::int64_t key, const SearchBlock& block) {
  return block.first + static_cast<Ordinal>(key % kBlockEntries);
}

}  // namespace

Result<std::vector<Found>> SessionIndex::match(const search::Query& query,
                                               const Narrowing& narrowing) {
  Failures failures;
  for (;;) {
    auto found = match_once(query, narrowing);
    if (found.ok() || !is_of_tables(found.error().code())) return found;
    MutexLock refreshing(refreshing_);
    TRY_ASSIGN(const bool again, mend(found.error(), failures));
    if (!again) return found;
    TRY(index({}));
  }
}

Result<std::vector<Found>> SessionIndex::match_once(const search::Query& query,
                                                    const Narrowing& narrowing) {
  TRY_ASSIGN(const auto engine, database_->lease());
  for (int i = 0; i < kTries; ++i) {
    TRY_ASSIGN(const StatePointer state, current_state(*engine));
    const BlockMap blocks(*state, narrowing);
    std::vector<Found> found;
    if (blocks.size() == 0) return found;
    search::MatchOptions options;
    options.any_tags = narrowing.tags;
    options.limit = narrowing.limit;
    if (blocks.size() <= kBlocksNamed && blocks.size() < state->blocks()) {
      options.any_tags.push_back(blocks.tags());
    }
    options.filter = [&](std::int64_t key) {
      const BlockMap::Place* place = blocks.find(key);
      if (place == nullptr) return false;
      return !narrowing.admits ||
             narrowing.admits(*place->session, own_of(key, *place->block), place->in_time);
    };
    TRY_ASSIGN(const auto matches, texts_->match(*engine, query, options));
    // Others may have committed since, but keys mean the same until the index is made anew.
    TRY_ASSIGN(const auto generation, read_generation(*engine));
    if (!is_same_making(generation, state->generation)) continue;
    for (const search::Match& match : matches) {
      const BlockMap::Place* place = blocks.find(match.key);
      if (place == nullptr) continue;
      found.push_back({.session_id = *place->session,
                       .own = own_of(match.key, *place->block),
                       .key = match.key,
                       .score = match.score});
    }
    return found;
  }
  return Error(Code::kBusy, "others make the index of the sessions anew all the time");
}

}  // namespace quipu::view
