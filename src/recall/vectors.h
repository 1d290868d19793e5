// Vectors: the second list of a hybrid search. Where the vectors of the tables' texts come
// from, and which of them are nearest to a query.
//
// A key of the tables (a node, a chunk) has the vector that the caller gave, or the one that
// the endpoint made of its text (EmbeddingOutbox), or none yet. They are kept in memory from
// the first hybrid search on, and brought up to the tables before each: keys only grow, so
// what is new is behind the last one known; what is gone is noticed when it is found, or when
// there are twice as many as there were. Vectors of different sizes are kept apart, and a query
// is compared with those of its own. When they would take more memory than
// RecallOptions::vector_bytes_max, none are kept until the tables are made anew: each search reads
// them from the tables, some thousand at a time.
//
// What is to be sent to the endpoint is put into the outbox by whoever has one configured:
// a mark in the tables says up to which key that has been done. The commit fails when others have
// taken in entries of the log meanwhile, which may have forgotten one of the texts.
//
// Thread-safety: every call from every thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "quipu/recall.h"
#include "recall/embedding_outbox.h"
#include "recall/embedding_worker.h"
#include "recall/follow.h"
#include "recall/vector_set.h"

namespace quipu::recall {

/// A text as the vectors see it.
struct VectorRow {
  std::int64_t key = 0;
  /// Of the text that is embedded; empty: the caller gave the vector, or there is nothing to embed.
  std::string hash{};
  std::string vector{};  // bytes, as the caller gave it
};

struct TextRow {
  std::int64_t key = 0;
  std::string hash{};
  std::string text{};
};

/// From columns in the order of the members.
VectorRow vector_row(const sql::Rows& rows);

/// The tables that the texts are in.
class VectorSource {
 public:
  virtual ~VectorSource() = default;
  /// Behind this key, in order.
  virtual Result<std::vector<VectorRow>> vector_rows(sql::Engine& engine, std::int64_t after,
                                                     std::size_t limit) const = 0;
  /// The same, of those that have something to embed.
  virtual Result<std::vector<TextRow>> text_rows(sql::Engine& engine, std::int64_t after,
                                                 std::size_t limit) const = 0;
  /// Which of them are there.
  virtual Result<std::vector<std::int64_t>> existing(sql::Engine& engine,
                                                     std::span<const std::int64_t> keys) const = 0;
  /// Up to which key the texts were put into the outbox, by fingerprint $1; and sets it to $2.
  virtual sql::Text read_mark() const = 0;
  virtual sql::Text set_mark() const = 0;
  /// Those of Follower.
  virtual sql::Text read_cursor() const = 0;
  virtual sql::Text move_cursor() const = 0;
};

/// The hash under which a text's vector is known. `user` keeps those of different tables
/// apart, so that each can forget its own.
std::string embedding_hash(std::string_view user, std::string_view text);

/// A query as a vector; empty, and why, when there is none.
struct QueryVector {
  std::vector<float> vector{};
  std::string note{};
};

class Vectors {
 public:
  /// `database`, `source` and `clock` must outlive it.
  Vectors(search::IndexDatabase& database, const VectorSource& source, const RecallOptions& options,
          Clock& clock);
  ~Vectors();

  /// The caller's, or the endpoint's, which is asked here: not while a connection is held.
  /// `invalid_argument` for a vector that is none.
  Result<QueryVector> query(std::string_view text, const Ranking& ranking) const;

  struct Nearest {
    std::vector<search::Match> matches{};
    std::string note{};  // what is missing
  };
  /// `cursor` says which log the tables follow.
  Result<Nearest> nearest(sql::Engine& engine, const FollowCursor& cursor,
                          std::span<const float> query, std::size_t count, const KeyFilter& filter)
      EXCLUDES(mutex_);

  /// Puts into the outbox what is not in it yet, and wakes who sends it. Nothing without an
  /// endpoint.
  Result<void> enqueue(sql::Engine& engine);
  /// See MemoryStore::embed. Not while a connection is held.
  Result<EmbeddingStatus> embed(std::chrono::milliseconds budget);

 private:
  Result<void> catch_up(sql::Engine& engine, const FollowCursor& cursor) REQUIRES(mutex_);
  Result<void> take_made(sql::Engine& engine) REQUIRES(mutex_);
  Result<void> drop_dead(sql::Engine& engine) REQUIRES(mutex_);
  Result<void> sweep(sql::Engine& engine) REQUIRES(mutex_);
  void start_anew() REQUIRES(mutex_);
  std::size_t bytes() const REQUIRES(mutex_);
  Result<Nearest> nearest_stored(sql::Engine& engine, std::span<const float> query,
                                 std::size_t count, const KeyFilter& filter) const;
  Result<std::vector<search::Match>> nearest_of(VectorSet& set, sql::Engine& engine,
                                                std::span<const float> query, std::size_t count,
                                                const KeyFilter& filter) REQUIRES(mutex_);
  std::size_t size() const REQUIRES(mutex_);
  void put(std::int64_t key, std::span<const float> vector) REQUIRES(mutex_);

  const VectorSource& source_;
  const std::size_t bytes_max_;
  Clock& clock_;
  std::optional<Error> trouble_;  // with the endpoint's description
  std::unique_ptr<EmbeddingOutbox> outbox_;
  std::unique_ptr<EmbeddingWorker> worker_;

  Mutex mutex_;
  std::map<std::size_t, VectorSet> sets_ GUARDED_BY(mutex_);  // by the size of the vectors
  bool are_too_many_ GUARDED_BY(mutex_) = false;              // to be kept
  std::size_t kept_ GUARDED_BY(mutex_) = 0;                   // when all were known to be there
  FollowCursor at_ GUARDED_BY(mutex_);                        // of the tables, when last caught up
  std::int64_t last_key_ GUARDED_BY(mutex_) = -1;
  std::unordered_map<std::string, std::vector<std::int64_t>> awaited_
      GUARDED_BY(mutex_);                                             // by hash
  std::optional<std::chrono::nanoseconds> asked_ GUARDED_BY(mutex_);  // for those, last
};

}  // namespace quipu::recall
