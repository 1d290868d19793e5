// EmbeddingOutbox: texts that wait for their vectors, and vectors that were paid for once.
//
// Whoever has a text puts it in, in its own commit if it likes, and never waits for an endpoint.
// Someone calls `step` or `work` (an EmbeddingWorker does, or a command before it ends), which asks
// the endpoint. Vectors are found by the hash of the content, so the same text is never sent twice.
//
//   tables        | a row is
//   --------------+--------------------------------------------------------------------------
//   embed_queue   | a text that waits: (fingerprint, hash), text, tries, not_before, reason
//   embed_cache   | a vector: (fingerprint, hash), four bytes a component
//
// 1. A text leaves the queue in the commit that brings its vector in, or when it is removed. A
//    process that dies in between asks again.
// 2. A vector comes in only while its text is in the queue: what was removed stays removed,
// whatever
//    is under way.
// 3. Rows of other fingerprints are left alone: another process may be at work on them.
//
// What fails is tried again later. When the endpoint is at fault, all texts wait, for as long as it
// asks or for growing pauses; texts that may be at fault wait each by themselves and go
// with fewer others each time, so that one of them cannot hold up the rest. After kTriesMax tries,
// or when the endpoint says that it is too long, a text is given up: it stays, with the reason,
// until it is removed. Behind the first kTriesBlind of these a failure counts only when something
// else goes well at the same time: an endpoint that is bad for days loses nothing.
//
// Two processes may ask for the same text at the same time; the first answer counts.
//
// Thread-safety: every call from every thread; one at a time is in `step`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "quipu/result.h"
#include "recall/embedder.h"
#include "search/index_database.h"

namespace quipu::recall {

/// In one request, and requests at a time.
inline constexpr std::size_t kBatchTexts = 32;
inline constexpr std::size_t kBatchesInFlight = 4;
/// Of the texts in one request, unless there is a single one.
inline constexpr std::int64_t kBatchBytes = 1 << 20;
/// With the pauses between them they take more than five hours.
inline constexpr std::int64_t kTriesMax = 16;
inline constexpr std::int64_t kTriesBlind = 8;

/// Whoever refers to them in a commit of its own makes sure that they are there.
const search::IndexTables& embedding_tables();

struct WaitingText {
  /// Of the content, any short text. The same hash means the same text.
  std::string_view hash{};
  /// Without the model's prefix.
  std::string_view text{};
};

/// What a step or several of them did.
struct OutboxProgress {
  std::size_t embedded = 0;
  std::size_t given_up = 0;
  /// The last thing that went wrong at the endpoint; the texts still wait.
  std::optional<Error> trouble{};
  /// How long until there is something to do, 0: now. Nothing: no text waits.
  std::optional<std::chrono::milliseconds> next{};
};

struct OutboxStatus {
  std::int64_t waiting = 0;
  std::int64_t given_up = 0;
  /// Why one of those was given up, or why one that waits has failed so far; empty when all is
  /// well.
  std::string reason{};
};

class EmbeddingOutbox {
 public:
  /// `database` and `clock` must outlive it.
  EmbeddingOutbox(search::IndexDatabase& database, Embedder embedder, Clock& clock);

  const Embedder& embedder() const { return embedder_; }

  /// Puts in what has no vector and is not in already. Durable as the index is: see
  /// IndexDatabase.
  Result<void> add(std::span<const WaitingText> texts);
  /// The same as commands for a commit of the caller's, who calls `prepare` first. The texts are
  /// referred to until then.
  void add(std::span<const WaitingText> texts, search::Writes& into) const;
  /// Makes the tables if need be.
  Result<void> prepare();

  /// Which of them have vectors by now. Of this fingerprint.
  Result<std::unordered_map<std::string, std::vector<float>>> vectors(
      std::span<const std::string> hashes);

  /// The same on a connection that the caller has leased.
  Result<std::unordered_map<std::string, std::vector<float>>> vectors(
      sql::Engine& engine, std::span<const std::string> hashes) const;

  /// Texts and vectors of all fingerprints.
  Result<void> remove(std::span<const std::string> hashes);
  void remove(std::span<const std::string> hashes, search::Writes& into) const;

  /// Sends what is due, up to kBatchesInFlight batches, and takes in what comes back. Waits for
  /// answers, but never for something to be due. Errors are those of the database: `trouble` has
  /// the endpoint's.
  Result<OutboxProgress> step(std::stop_token stop = {}) EXCLUDES(mutex_);
  /// Steps, at least once, and waits between them (Clock::sleep), until no text waits or `budget`
  /// is used up: nothing is begun after that.
  Result<OutboxProgress> work(std::chrono::milliseconds budget, std::stop_token stop = {});

  Result<OutboxStatus> status();

 private:
  struct Item {
    std::string hash;
    std::string text;
    std::int64_t tries;
  };
  using Batch = std::vector<Item>;

  struct Round;
  using Embeddings = std::vector<std::vector<Embedding>>;  // of batches

  Result<sql::Pool::Lease> lease();
  Result<std::optional<std::chrono::milliseconds>> time_to_next(sql::Engine& engine)
      REQUIRES(mutex_);
  Result<std::vector<Batch>> due_batches(sql::Engine& engine) REQUIRES(mutex_);
  Result<void> read_texts(sql::Engine& engine, Batch& batch) const;
  void find_fault(const std::vector<Batch>& batches, Embeddings& embeddings,
                  const std::stop_token& stop) const;
  void take_vector(const Item& item, const std::vector<float>& vector, Round& round)
      REQUIRES(mutex_);
  void take_failure(const Item& item, const EmbeddingFailure& failure, Round& round)
      REQUIRES(mutex_);
  void pause_after(Round& round) REQUIRES(mutex_);

  search::IndexDatabase& database_;
  const Embedder embedder_;
  Clock& clock_;
  Mutex mutex_;
  /// On the monotonic clock.
  std::chrono::nanoseconds paused_until_ GUARDED_BY(mutex_){0};
  int pauses_ GUARDED_BY(mutex_) = 0;              // one after the other
  std::size_t dimensions_ GUARDED_BY(mutex_) = 0;  // of all vectors; 0: not known
};

}  // namespace quipu::recall
