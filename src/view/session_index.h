// SessionIndex: the words of all sessions in a text index, made fresh by whoever asks.
//
// Invariants
//   1. What is indexed is what the logs say: a cursor (LogCursor) for each says how far, and it is
//      committed together with the documents. A process that is killed loses a commit and no more.
//   2. A document is in the index if and only if its entry is within the cursor and was not
//      redacted then. A redaction that is read takes its document out in the same commit that
//      moves the cursor past it. Where there are documents of logs that are gone or were replaced
//      (SearchState::lost_blocks), which may say the same, the index is made anew.
//   3. Numbers of blocks are never used again, so a key means the same entry for ever, or none.
//   4. Several processes may index at once: a commit is one of the state that it was made for
//      (search_state.h), or fails and is made again.
//
// Like the catalogue it is pulled: appends know nothing of it.
//
// Thread-safety: every call from every thread. One at a time indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/mutex.h"
#include "quipu/search.h"
#include "search/index_database.h"
#include "view/said.h"
#include "view/search_state.h"

namespace quipu::view {

class IndexBatch;

/// An entry that was found.
struct Found {
  std::string session_id{};
  Ordinal own = 0;
  std::int64_t key = 0;
  double score = 0;
  /// It has none of the words that found the others, and stands beside one of them.
  bool is_neighbour = false;
};

/// Where to look.
struct Narrowing {
  /// One of each group, as documents have them: see `role_tag`.
  std::vector<std::vector<std::string>> tags{};
  /// Null: all.
  const std::set<std::string>* sessions = nullptr;
  /// At or after, and before. Entries without a time are in no time.
  std::optional<std::int64_t> from_ms{};
  std::optional<std::int64_t> to_ms{};
  /// Asked last, for what the rest lets through; `in_time` false: the times are for it to
  /// look at.
  std::function<bool(const std::string& session_id, Ordinal own, bool in_time)> admits{};
  std::size_t limit = 1000;
};

/// How documents are marked.
std::string role_tag(std::string_view role);
std::string tool_tag(std::string_view tool);
std::string block_tag(std::int64_t number);
/// Of what it says, whereever that stands.
std::vector<std::string> tags_of(const Said& said);

class SessionIndex {
 public:
  SessionIndex(std::shared_ptr<Backend> backend, std::shared_ptr<search::IndexDatabase> database);

  /// Indexes what the logs have got since. Logs that cannot be read are problems of the
  /// report.
  Result<IndexReport> refresh(const IndexProgress& progress = {}) EXCLUDES(refreshing_, mutex_);
  /// From nothing.
  Result<IndexReport> rebuild(const IndexProgress& progress = {}) EXCLUDES(refreshing_, mutex_);

  /// Whether there is anything to be brought up to date.
  Result<bool> is_made() { return database_->has(search_tables()); }

  /// In the index as it is; best first. A damaged one is made anew.
  Result<std::vector<Found>> match(const search::Query& query, const Narrowing& narrowing)
      EXCLUDES(refreshing_, mutex_);

 private:
  using StatePointer = std::shared_ptr<const SearchState>;
  enum class Outcome : unsigned char {
    kDone,
    kOvertaken,     // by others: what is to be done has changed
    kToBeMadeAnew,  // most of it is of logs that are gone, or something that must not stay
  };
  struct Work;
  struct Pass;
  /// Of the index itself, while one thing is done.
  struct Failures {
    int missing = 0;
    int damaged = 0;
  };

  /// What the tables say now; read anew when somebody has changed them.
  Result<StatePointer> current_state(sql::Engine& engine) EXCLUDES(mutex_);
  void keep(StatePointer state) EXCLUDES(mutex_);
  Result<std::vector<Found>> match_once(const search::Query& query, const Narrowing& narrowing)
      EXCLUDES(mutex_);
  Result<IndexReport> index(const IndexProgress& progress) REQUIRES(refreshing_);
  /// `in_store`: an error is one of the store and not of the index.
  Result<Outcome> index_once(const IndexProgress& progress, IndexReport& report, bool& in_store)
      REQUIRES(refreshing_);
  /// Does what there is to be done about an error of the index. False: nothing.
  Result<bool> mend(const Error& error, Failures& failures) REQUIRES(refreshing_);
  Result<void> fill(IndexBatch& batch, const SearchState& state, Pass& pass) REQUIRES(refreshing_);
  /// The next state; `id_conflict` when others were faster.
  Result<StatePointer> commit(sql::Engine& engine, IndexBatch& batch) EXCLUDES(mutex_);
  /// Makes the tables if need be.
  Result<void> prepare();
  Result<void> cut_off_log(sql::Engine& engine, const SearchState& state) EXCLUDES(mutex_);

  const std::shared_ptr<Backend> backend_;
  const std::shared_ptr<search::IndexDatabase> database_;
  const std::unique_ptr<search::TextIndex> texts_;
  Mutex refreshing_;  // before `mutex_`
  Mutex mutex_;
  StatePointer state_ GUARDED_BY(mutex_);
};

}  // namespace quipu::view
