#include "recall/vectors.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/sha256.h"
#include "base/try.h"
#include "net/curl_client.h"
#include "recall/rows.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

constexpr std::size_t kRowsAtOnce = 2000;
constexpr std::size_t kHashesAtOnce = 10'000;
constexpr std::size_t kKeysAtOnce = 10'000;
// Fewer than that may be gone without anybody's looking for them.
constexpr std::size_t kSweepMin = 1000;
// Vectors that are being made are looked for so often at most.
constexpr auto kLookAgain = std::chrono::seconds(1);
// Others take entries in at the same moment.
constexpr int kConflictsMax = 1000;

EmbedderOptions embedder_options(const EmbeddingEndpoint& endpoint) {
  EmbedderOptions options;
  options.url = endpoint.url;
  options.model = endpoint.model;
  options.key = endpoint.key;
  options.dimensions = endpoint.dimensions;
  options.query_prefix = endpoint.query_prefix;
  options.document_prefix = endpoint.document_prefix;
  options.timeout = endpoint.timeout;
  return options;
}

bool is_better(const search::Match& a, const search::Match& b) {
  return a.score != b.score ? a.score > b.score : a.key > b.key;
}

// What an answer does not tell of the texts.
std::string note_of(std::size_t fitting, std::size_t others, std::size_t awaited) {
  if (fitting == 0) {
    return others > 0 ? "by words alone: the vectors have another size than the query's"
                      : "by words alone: there are no vectors yet";
  }
  if (awaited > 0) return std::to_string(awaited) + " texts wait for their vectors";
  if (others > 0) return std::to_string(others) + " vectors have another size than the query's";
  return {};
}

}  // namespace

VectorRow vector_row(const sql::Rows& rows) {
  return {.key = rows.integer(0),
          .hash = std::string(rows.text(1)),
          .vector = rows.is_null(2) ? std::string() : std::string(rows.text(2))};
}

std::string embedding_hash(std::string_view user, std::string_view text) {
  Sha256 hash;
  hash.update(user);
  hash.update("\n");
  hash.update(text);
  return hash.finish();
}

Vectors::Vectors(search::IndexDatabase& database, const VectorSource& source,
                 const RecallOptions& options, Clock& clock)
    : source_(source), bytes_max_(options.vector_bytes_max), clock_(clock) {
  if (options.endpoint.url.empty()) return;
  auto embedder = Embedder::make(embedder_options(options.endpoint), net::curl_client());
  if (!embedder.ok()) {
    trouble_ = std::move(embedder).error().in("the endpoint for embeddings");
    return;
  }
  outbox_ = std::make_unique<EmbeddingOutbox>(database, std::move(embedder).value(), clock);
  if (options.background) worker_ = std::make_unique<EmbeddingWorker>(*outbox_);
}

Vectors::~Vectors() = default;

Result<QueryVector> Vectors::query(std::string_view text, const Ranking& ranking) const {
  if (!ranking.embedding.empty()) {
    auto good = check_vector(ranking.embedding);
    if (!good.ok()) return std::move(good).error().in("the query");
    return QueryVector{.vector = ranking.embedding, .note = {}};
  }
  if (trouble_) return QueryVector{.vector = {}, .note = "by words alone: " + trouble_->message()};
  if (!outbox_) {
    return QueryVector{.vector = {},
                       .note =
                           "by words alone: the query has no vector, and no endpoint that "
                           "would make one is configured"};
  }
  auto made = outbox_->embedder().embed_query(text);
  if (made.ok()) return QueryVector{.vector = std::move(made).value(), .note = {}};
  // A search must not fail because another machine does.
  return QueryVector{.vector = {}, .note = "by words alone: " + made.error().message()};
}

void Vectors::put(std::int64_t key, std::span<const float> vector) {
  // What was stored was checked; what is no vector all the same is none here.
  if (!check_vector(vector).ok()) return;
  VectorSet& set = sets_.try_emplace(vector.size(), vector.size()).first->second;
  ignore(set.put(key, vector), "it is found by its words");
}

std::size_t Vectors::size() const {
  std::size_t all = 0;
  for (const auto& [dimensions, set] : sets_) all += set.size();
  return all;
}

std::size_t Vectors::bytes() const {
  std::size_t all = 0;
  for (const auto& [dimensions, set] : sets_) all += set.bytes();
  return all;
}

void Vectors::start_anew() {
  sets_.clear();
  last_key_ = -1;
  awaited_.clear();
  asked_.reset();
}

Result<void> Vectors::catch_up(sql::Engine& engine, const FollowCursor& cursor) {
  const bool is_new = at_.head_crc != cursor.head_crc || at_.emptied != cursor.emptied;
  if (is_new) {
    start_anew();
    are_too_many_ = false;
  }
  while (!are_too_many_) {
    TRY_ASSIGN(const auto rows, source_.vector_rows(engine, last_key_, kRowsAtOnce));
    for (const VectorRow& row : rows) {
      last_key_ = row.key;
      if (!row.hash.empty() && outbox_) awaited_[row.hash].push_back(row.key);
      if (row.vector.empty()) continue;
      TRY_ASSIGN(const auto vector, vector_of_bytes(row.vector));
      put(row.key, vector);
    }
    if (!rows.empty()) asked_.reset();
    are_too_many_ = bytes() > bytes_max_;
    if (rows.size() < kRowsAtOnce) break;
  }
  if (!are_too_many_) TRY(take_made(engine));
  if (are_too_many_) start_anew();
  // Those of another size are counted for the note, and never found.
  const bool is_mixed = at_ != cursor && std::ranges::count_if(sets_, [](const auto& one) {
                                           return one.second.size() > 0;
                                         }) > 1;
  if (is_new) kept_ = size();
  if (!is_new && (is_mixed || size() > 2 * kept_ + kSweepMin)) TRY(sweep(engine));
  at_ = cursor;
  return {};
}

// A search in one scope finds nothing that is gone: it would pile up.
Result<void> Vectors::sweep(sql::Engine& engine) {
  for (auto& [dimensions, set] : sets_) {
    const std::vector<std::int64_t> keys = set.keys();
    for (std::size_t at = 0; at < keys.size(); at += kKeysAtOnce) {
      const auto some = std::span(keys).subspan(at, std::min(kKeysAtOnce, keys.size() - at));
      TRY_ASSIGN(const auto there, source_.existing(engine, some));
      const std::unordered_set<std::int64_t> alive(there.begin(), there.end());
      for (const std::int64_t key : some) {
        if (!alive.contains(key)) set.remove(key);
      }
    }
  }
  kept_ = size();
  return {};
}

// Vectors that the endpoint has made since.
Result<void> Vectors::take_made(sql::Engine& engine) {
  const auto now = clock_.monotonic();
  if (awaited_.empty() || (asked_ && now - *asked_ < kLookAgain)) return {};
  asked_ = now;
  std::vector<std::string> hashes;
  for (const auto& [hash, keys] : awaited_) hashes.push_back(hash);
  for (std::size_t at = 0; at < hashes.size(); at += kHashesAtOnce) {
    const auto some = std::span(hashes).subspan(at, std::min(kHashesAtOnce, hashes.size() - at));
    TRY_ASSIGN(const auto made, outbox_->vectors(engine, some));
    for (const auto& [hash, vector] : made) {
      for (const std::int64_t key : awaited_[hash]) put(key, vector);
      awaited_.erase(hash);
    }
    are_too_many_ = bytes() > bytes_max_;
    if (are_too_many_) return {};
  }
  return drop_dead(engine);
}

// Nobody waits for what is gone.
Result<void> Vectors::drop_dead(sql::Engine& engine) {
  std::vector<std::int64_t> keys;
  for (const auto& [hash, waiting] : awaited_) {
    keys.insert(keys.end(), waiting.begin(), waiting.end());
  }
  TRY_ASSIGN(const auto there, source_.existing(engine, keys));
  const std::unordered_set<std::int64_t> alive(there.begin(), there.end());
  for (auto& [hash, waiting] : awaited_) {
    std::erase_if(waiting, [&](std::int64_t key) { return !alive.contains(key); });
  }
  std::erase_if(awaited_, [](const auto& one) { return one.second.empty(); });
  return {};
}

Result<std::vector<search::Match>> Vectors::nearest_of(VectorSet& set, sql::Engine& engine,
                                                       std::span<const float> query,
                                                       std::size_t count, const KeyFilter& filter) {
  for (bool is_again = false;; is_again = true) {
    TRY_ASSIGN(auto matches, set.nearest(query, count, filter));
    std::vector<std::int64_t> keys;
    for (const search::Match& match : matches) keys.push_back(match.key);
    TRY_ASSIGN(const auto there, source_.existing(engine, keys));
    if (there.size() == keys.size()) return matches;
    // Replaced or forgotten since it was loaded: a few, or very many.
    if (is_again) {
      TRY(sweep(engine));
      continue;
    }
    const std::unordered_set<std::int64_t> alive(there.begin(), there.end());
    for (const std::int64_t key : keys) {
      if (!alive.contains(key)) set.remove(key);
    }
  }
}

// As from memory, a stretch at a time.
Result<Vectors::Nearest> Vectors::nearest_stored(sql::Engine& engine, std::span<const float> query,
                                                 std::size_t count, const KeyFilter& filter) const {
  Nearest nearest;
  std::size_t fitting = 0, others = 0, awaited = 0;
  std::int64_t last = -1;
  for (bool is_last = false; !is_last;) {
    TRY_ASSIGN(const auto rows, source_.vector_rows(engine, last, kRowsAtOnce));
    is_last = rows.size() < kRowsAtOnce;
    if (!rows.empty()) last = rows.back().key;
    std::vector<std::string> hashes;
    for (const VectorRow& row : rows) {
      if (row.vector.empty() && !row.hash.empty() && outbox_) hashes.push_back(row.hash);
    }
    std::unordered_map<std::string, std::vector<float>> made;
    if (!hashes.empty()) {
      TRY_ASSIGN(made, outbox_->vectors(engine, hashes));
    }
    awaited += std::unordered_set<std::string>(hashes.begin(), hashes.end()).size() - made.size();
    VectorSet set(query.size());
    for (const VectorRow& row : rows) {
      std::vector<float> vector;
      if (!row.vector.empty()) {
        TRY_ASSIGN(vector, vector_of_bytes(row.vector));
      } else if (const auto found = made.find(row.hash); found != made.end()) {
        vector = found->second;
      }
      if (!check_vector(vector).ok()) continue;
      ++(vector.size() == query.size() ? fitting : others);
      if (vector.size() == query.size()) TRY(set.put(row.key, vector));
    }
    TRY_ASSIGN(const auto best, set.nearest(query, count, filter));
    nearest.matches.insert(nearest.matches.end(), best.begin(), best.end());
    std::ranges::sort(nearest.matches, is_better);
    nearest.matches.resize(std::min(count, nearest.matches.size()));
  }
  nearest.note = note_of(fitting, others, awaited);
  return nearest;
}

Result<Vectors::Nearest> Vectors::nearest(sql::Engine& engine, const FollowCursor& cursor,
                                          std::span<const float> query, std::size_t count,
                                          const KeyFilter& filter) {
  {
    const MutexLock lock(mutex_);
    TRY(catch_up(engine, cursor));
    if (!are_too_many_) {
      Nearest nearest;
      std::size_t fitting = 0;
      if (const auto found = sets_.find(query.size()); found != sets_.end()) {
        TRY_ASSIGN(nearest.matches, nearest_of(found->second, engine, query, count, filter));
        fitting = found->second.size();
      }
      nearest.note = note_of(fitting, size() - fitting, awaited_.size());
      return nearest;
    }
  }
  return nearest_stored(engine, query, count, filter);
}

Result<void> Vectors::enqueue(sql::Engine& engine) {
  if (!outbox_) return {};
  const std::string& fingerprint = outbox_->embedder().fingerprint();
  bool is_new = false;
  for (int conflicts = 0; conflicts < kConflictsMax;) {
    // First: texts that others forget from now on make the commit fail.
    TRY_ASSIGN(const FollowCursor cursor, read_cursor(engine, source_.read_cursor()));
    TRY_ASSIGN(const auto mark,
               engine.number(source_.read_mark(), std::array{sql::Param(fingerprint)}));
    TRY_ASSIGN(const auto rows, source_.text_rows(engine, mark.value_or(-1), kRowsAtOnce));
    if (rows.empty()) {
      if (is_new && worker_) worker_->wake();
      return {};
    }
    std::vector<WaitingText> texts;
    for (const TextRow& row : rows) texts.push_back({.hash = row.hash, .text = row.text});
    search::Writes writes;
    writes.commands.push_back(holding(source_.move_cursor(), cursor));
    outbox_->add(texts, writes);
    writes.commands.push_back(
        {.text = source_.set_mark(), .params = {fingerprint, rows.back().key}});
    auto done = engine.commit(writes.commands, sql::Sync::kLater);
    if (done.ok()) {
      is_new = true;
    } else if (done.error().code() == Code::kIdConflict) {
      ++conflicts;
    } else {
      return done;
    }
  }
  return Error(Code::kBusy, "others bring the index up to date all the time");
}

Result<EmbeddingStatus> Vectors::embed(std::chrono::milliseconds budget) {
  if (trouble_) return *trouble_;
  if (!outbox_) return EmbeddingStatus{};
  const auto deadline = clock_.monotonic() + budget;
  std::string trouble;
  while (budget.count() > 0) {
    TRY_ASSIGN(const OutboxProgress progress, outbox_->step());
    // An endpoint that does not answer now is not waited for.
    if (progress.trouble) trouble = progress.trouble->message();
    const bool is_due = progress.next && progress.next->count() == 0;
    if (progress.trouble || !is_due || clock_.monotonic() >= deadline) break;
  }
  TRY_ASSIGN(const OutboxStatus status, outbox_->status());
  return EmbeddingStatus{.waiting = static_cast<std::size_t>(status.waiting),
                         .given_up = static_cast<std::size_t>(status.given_up),
                         .reason = trouble.empty() ? status.reason : trouble};
}

}  // namespace quipu::recall
