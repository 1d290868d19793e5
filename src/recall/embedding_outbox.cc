#include "recall/embedding_outbox.h"

#include <algorithm>
#include <limits>

#include "base/json_write.h"
#include "base/share_out.h"
#include "base/try.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

using sql::Param;
using sql::Text;
using std::chrono::ceil;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Fault = EmbeddingFailure::Fault;

/// The `not_before` of a text that was given up.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr milliseconds kFirstPause{1000};
constexpr milliseconds kTextPauseMax{3600 * 1000};
constexpr milliseconds kEndpointPauseMax{300 * 1000};
/// A text that no endpoint refuses.
constexpr std::string_view kPlainText = "text";
/// Hashes in one question.
constexpr std::size_t kHashesAtOnce = 1000;

constexpr Text kAddText{
    "INSERT INTO @embed_queue (fingerprint, hash, text, tries, not_before)"
    " SELECT t.f, t.h, t.x, 0, 0 FROM (SELECT CAST($1 AS TEXT) AS f, CAST($2 AS TEXT) AS h,"
    " CAST($3 AS {bytes}) AS x) t"
    " WHERE NOT EXISTS (SELECT 1 FROM @embed_cache c WHERE c.fingerprint = t.f AND c.hash = t.h)"
    " ON CONFLICT DO NOTHING",
    "INSERT INTO @embed_queue (fingerprint, hash, text, tries, not_before)"
    " SELECT t.f, t.h, t.x, 0, 0 FROM unnest($1::text[], $2::text[], $3::bytea[]) AS t(f, h, x)"
    " WHERE NOT EXISTS (SELECT 1 FROM @embed_cache c WHERE c.fingerprint = t.f AND c.hash = t.h)"
    " ON CONFLICT DO NOTHING",
    "ttb"};

constexpr Text kAddVector{
    "INSERT INTO @embed_cache (fingerprint, hash, vector)"
    " SELECT q.fingerprint, q.hash, CAST($1 AS {bytes}) FROM @embed_queue q"
    " WHERE q.fingerprint = $2 AND q.hash = $3 ON CONFLICT DO NOTHING",
    "INSERT INTO @embed_cache (fingerprint, hash, vector)"
    " SELECT q.fingerprint, q.hash, t.v FROM unnest($1::bytea[], $2::text[], $3::text[])"
    " AS t(v, f, h) JOIN @embed_queue q ON q.fingerprint = t.f AND q.hash = t.h"
    " ON CONFLICT DO NOTHING",
    "btt"};
// Whoever forgets the text waits for us, and then finds the vector, too.
constexpr Text kHoldText{
    "UPDATE @embed_queue SET tries = tries WHERE fingerprint = $1 AND hash = $2",
    "UPDATE @embed_queue q SET tries = q.tries FROM unnest($1::text[], $2::text[]) AS t(f, h)"
    " WHERE q.fingerprint = t.f AND q.hash = t.h",
    "tt"};
constexpr Text kTakeText{
    "DELETE FROM @embed_queue WHERE fingerprint = $1 AND hash = $2",
    "DELETE FROM @embed_queue q USING unnest($1::text[], $2::text[]) AS t(f, h)"
    " WHERE q.fingerprint = t.f AND q.hash = t.h",
    "tt"};
constexpr Text kPostpone =
    "UPDATE @embed_queue SET tries = $1, not_before = $2, reason = $3"
    " WHERE fingerprint = $4 AND hash = $5";

constexpr Text kReadDue =
    "SELECT hash, tries, CAST(length(text) AS BIGINT) FROM @embed_queue"
    " WHERE fingerprint = $1 AND not_before <= $2 ORDER BY not_before, hash LIMIT $3";
constexpr Text kReadTexts{
    "SELECT hash, text FROM @embed_queue WHERE fingerprint = $1"
    " AND hash IN (SELECT value FROM json_each($2))",
    "SELECT hash, text FROM @embed_queue WHERE fingerprint = $1"
    " AND hash IN (SELECT jsonb_array_elements_text($2::text::jsonb))"};
constexpr Text kReadNext =
    "SELECT min(not_before) FROM @embed_queue WHERE fingerprint = $1 AND not_before < $2";
constexpr Text kReadVectors{
    "SELECT hash, vector FROM @embed_cache WHERE fingerprint = $1"
    " AND hash IN (SELECT value FROM json_each($2))",
    "SELECT hash, vector FROM @embed_cache WHERE fingerprint = $1"
    " AND hash IN (SELECT jsonb_array_elements_text($2::text::jsonb))"};
constexpr Text kReadLength =
    "SELECT CAST(length(vector) AS BIGINT) FROM @embed_cache WHERE fingerprint = $1 LIMIT 1";
constexpr Text kCount =
    "SELECT count(*) FROM @embed_queue WHERE fingerprint = $1 AND not_before < $2";
constexpr Text kCountGivenUp =
    "SELECT count(*) FROM @embed_queue WHERE fingerprint = $1 AND not_before = $2";
constexpr Text kReadReason =
    "SELECT reason FROM @embed_queue WHERE fingerprint = $1 AND reason IS NOT NULL"
    " ORDER BY not_before DESC LIMIT 1";
constexpr Text kForgetText{
    "DELETE FROM @embed_queue WHERE hash IN (SELECT value FROM json_each($1))",
    "DELETE FROM @embed_queue WHERE hash IN (SELECT jsonb_array_elements_text($1::text::jsonb))"};
constexpr Text kForgetVector{
    "DELETE FROM @embed_cache WHERE hash IN (SELECT value FROM json_each($1))",
    "DELETE FROM @embed_cache WHERE hash IN (SELECT jsonb_array_elements_text($1::text::jsonb))"};

}  // namespace

const search::IndexTables& embedding_tables() {
  static const search::IndexTables all{
      .name = "embeddings",
      .version = "2",
      .create = {"CREATE TABLE @embed_queue (fingerprint {key} NOT NULL, hash {key} NOT NULL,"
                 " text {bytes} NOT NULL, tries BIGINT NOT NULL, not_before BIGINT NOT NULL,"
                 " reason TEXT, PRIMARY KEY (fingerprint, hash)) {clustered}",
                 "CREATE INDEX embed_queue_due ON @embed_queue (fingerprint, not_before, hash)",
                 "CREATE TABLE @embed_cache (fingerprint {key} NOT NULL, hash {key} NOT NULL,"
                 " vector {bytes} NOT NULL, PRIMARY KEY (fingerprint, hash)) {clustered}",
                 // What is forgotten is forgotten for all endpoints.
                 "CREATE INDEX embed_queue_hash ON @embed_queue (hash)",
                 "CREATE INDEX embed_cache_hash ON @embed_cache (hash)"},
      .drop = {"DROP TABLE IF EXISTS @embed_queue", "DROP TABLE IF EXISTS @embed_cache"},
  };
  return all;
}

namespace {

std::string json_list(std::span<const std::string> hashes) {
  std::string text;
  json::Writer out(text);
  out.begin_array();
  for (const std::string& hash : hashes) out.value(hash);
  out.end_array();
  return text;
}

milliseconds grown(milliseconds first, std::int64_t times, milliseconds most) {
  return times > 20 ? most : std::min(most, first * (std::int64_t{1} << times));
}

std::size_t batch_size(std::int64_t tries) {
  return std::max<std::size_t>(1, tries > 8 ? 1 : kBatchTexts >> tries);
}

}  // namespace

/// What came back in one step.
struct EmbeddingOutbox::Round {
  OutboxProgress progress{};
  std::optional<EmbeddingFailure> fault{};  // the endpoint's; that with the longest wait
  search::Writes writes{};
  sql::Command add{.text = kAddVector};
  sql::Command take{.text = kTakeText};
};

EmbeddingOutbox::EmbeddingOutbox(search::IndexDatabase& database, Embedder embedder, Clock& clock)
    : database_(database), embedder_(std::move(embedder)), clock_(clock) {}

Result<void> EmbeddingOutbox::prepare() {
  TRY(database_.prepare(embedding_tables()));
  return {};
}

// Whoever finds damage empties the whole database, so the tables may be gone at any time.
Result<sql::Pool::Lease> EmbeddingOutbox::lease() {
  TRY(prepare());
  return database_.lease();
}

void EmbeddingOutbox::add(std::span<const WaitingText> texts, search::Writes& into) const {
  if (texts.empty()) return;
  sql::Command command{.text = kAddText};
  for (const WaitingText& one : texts) {
    command.params.insert(command.params.end(),
                          {embedder_.fingerprint(), one.hash, Param::bytes(one.text)});
  }
  into.commands.push_back(std::move(command));
}

Result<void> EmbeddingOutbox::add(std::span<const WaitingText> texts) {
  search::Writes writes;
  add(texts, writes);
  TRY_ASSIGN(const auto engine, lease());
  return engine->commit(writes.commands, sql::Sync::kLater);
}

Result<std::unordered_map<std::string, std::vector<float>>> EmbeddingOutbox::vectors(
    std::span<const std::string> hashes) {
  TRY_ASSIGN(const auto engine, lease());
  return vectors(*engine, hashes);
}

Result<std::unordered_map<std::string, std::vector<float>>> EmbeddingOutbox::vectors(
    sql::Engine& engine, std::span<const std::string> hashes) const {
  std::unordered_map<std::string, std::vector<float>> found;
  for (; !hashes.empty(); hashes = hashes.subspan(std::min(kHashesAtOnce, hashes.size()))) {
    const std::string list = json_list(hashes.first(std::min(kHashesAtOnce, hashes.size())));
    const Param params[] = {embedder_.fingerprint(), list};
    TRY_ASSIGN(const auto rows, engine.ask(kReadVectors, params));
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      TRY_ASSIGN(auto vector, vector_of_bytes(rows->text(1)));
      found.emplace(rows->text(0), std::move(vector));
    }
  }
  return found;
}

void EmbeddingOutbox::remove(std::span<const std::string> hashes, search::Writes& into) const {
  const std::string& list = into.texts.emplace_back(json_list(hashes));
  into.commands.push_back({.text = kForgetText, .params = {list}});
  into.commands.push_back({.text = kForgetVector, .params = {list}});
}

Result<void> EmbeddingOutbox::remove(std::span<const std::string> hashes) {
  search::Writes writes;
  remove(hashes, writes);
  TRY_ASSIGN(const auto engine, lease());
  return engine->commit(writes.commands, sql::Sync::kLater);
}

Result<OutboxStatus> EmbeddingOutbox::status() {
  OutboxStatus status;
  TRY_ASSIGN(const auto engine, lease());
  const Param params[] = {embedder_.fingerprint(), kNever};
  TRY_ASSIGN(const auto waiting, engine->number(kCount, params));
  TRY_ASSIGN(const auto given_up, engine->number(kCountGivenUp, params));
  TRY_ASSIGN(const auto reason, engine->word(kReadReason, std::span(params).first(1)));
  return OutboxStatus{waiting.value_or(0), given_up.value_or(0), reason.value_or("")};
}

Result<std::optional<milliseconds>> EmbeddingOutbox::time_to_next(sql::Engine& engine) {
  const Param params[] = {embedder_.fingerprint(), kNever};
  TRY_ASSIGN(const auto first, engine.number(kReadNext, params));
  if (!first) return std::optional<milliseconds>();
  const auto pause = ceil<milliseconds>(paused_until_ - clock_.monotonic());
  const milliseconds due(*first - clock_.unix_ms());
  return std::optional(std::max({milliseconds(0), due, pause}));
}

Result<std::vector<EmbeddingOutbox::Batch>> EmbeddingOutbox::due_batches(sql::Engine& engine) {
  std::vector<Batch> batches;
  const Param params[] = {embedder_.fingerprint(), clock_.unix_ms(),
                          static_cast<std::int64_t>(kBatchTexts * kBatchesInFlight)};
  {
    TRY_ASSIGN(const auto rows, engine.ask(kReadDue, params));
    std::int64_t bytes = 0;  // of the last batch
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      Item item{std::string(rows->text(0)), {}, rows->integer(1)};
      bytes += rows->integer(2);
      const bool fits = !batches.empty() && batches.back().front().tries == item.tries &&
                        batches.back().size() < batch_size(item.tries) && bytes <= kBatchBytes;
      if (!fits && batches.size() == kBatchesInFlight) break;
      if (!fits) {
        batches.emplace_back();
        bytes = rows->integer(2);
      }
      batches.back().push_back(std::move(item));
    }
  }
  for (Batch& batch : batches) TRY(read_texts(engine, batch));
  return batches;
}

// Only of those that are sent now: all that are due may be more than there is memory for.
Result<void> EmbeddingOutbox::read_texts(sql::Engine& engine, Batch& batch) const {
  std::vector<std::string> hashes;
  for (const Item& item : batch) hashes.push_back(item.hash);
  const std::string list = json_list(hashes);
  const Param params[] = {embedder_.fingerprint(), list};
  std::unordered_map<std::string, std::string> texts;
  TRY_ASSIGN(const auto rows, engine.ask(kReadTexts, params));
  for (;;) {
    TRY_ASSIGN(const bool more, rows->next());
    if (!more) break;
    texts.emplace(rows->text(0), rows->text(1));
  }
  // What was removed meanwhile is not sent.
  std::erase_if(batch, [&](const Item& item) { return !texts.contains(item.hash); });
  for (Item& item : batch) item.text = std::move(texts[item.hash]);
  return {};
}

// When nothing goes well, and some of the texts have failed often, a plain one is tried: if that
// fails, too, it is none of the texts' fault.
void EmbeddingOutbox::find_fault(const std::vector<Batch>& batches, Embeddings& embeddings,
                                 const std::stop_token& stop) const {
  std::vector<EmbeddingFailure*> unclear;
  bool has_often = false;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (std::size_t i = 0; i < batches[b].size(); ++i) {
      auto& failure = embeddings[b][i].failure;
      if (!failure) return;
      if (failure->fault != Fault::kUnclear) continue;
      unclear.push_back(&*failure);
      has_often = has_often || batches[b][i].tries >= kTriesBlind;
    }
  }
  if (!has_often || !embedder_.embed({&kPlainText, 1}, stop).front().failure) return;
  for (EmbeddingFailure* const failure : unclear) failure->fault = Fault::kEndpoint;
}

void EmbeddingOutbox::take_vector(const Item& item, const std::vector<float>& vector,
                                  Round& round) {
  if (dimensions_ == 0) dimensions_ = vector.size();
  if (vector.size() != dimensions_) {
    round.fault = {Fault::kEndpoint,
                   Error(Code::kIoError,
                         "the model gives vectors of " + std::to_string(vector.size()) +
                             " dimensions now, and gave some of " + std::to_string(dimensions_))};
    return;
  }
  const std::string& fingerprint = embedder_.fingerprint();
  const std::string& bytes = round.writes.texts.emplace_back(vector_bytes(vector));
  auto& add = round.add.params;
  add.insert(add.end(), {Param::bytes(bytes), fingerprint, item.hash});
  auto& take = round.take.params;
  take.insert(take.end(), {fingerprint, item.hash});
  ++round.progress.embedded;
}

void EmbeddingOutbox::take_failure(const Item& item, const EmbeddingFailure& failure,
                                   Round& round) {
  if (failure.fault == Fault::kEndpoint) {
    if (!round.fault || round.fault->wait < failure.wait) round.fault = failure;
    return;
  }
  const std::int64_t tries = item.tries + 1;
  const bool is_given_up = failure.fault == Fault::kText || tries >= kTriesMax;
  const milliseconds wait = std::max(grown(kFirstPause, item.tries, kTextPauseMax), failure.wait);
  const std::int64_t not_before = is_given_up ? kNever : clock_.unix_ms() + wait.count();
  if (is_given_up) {
    ++round.progress.given_up;
  } else {
    round.progress.trouble = failure.error;
  }
  const std::string& reason = round.writes.texts.emplace_back(failure.error.message());
  round.writes.commands.push_back(
      {.text = kPostpone,
       .params = {tries, not_before, reason, embedder_.fingerprint(), item.hash}});
}

void EmbeddingOutbox::pause_after(Round& round) {
  milliseconds pause{0};
  if (round.fault) {
    pause = std::max(round.fault->wait, grown(kFirstPause, pauses_++, kEndpointPauseMax));
    round.progress.trouble = std::move(round.fault->error);
  } else if (round.progress.embedded > 0) {
    pauses_ = 0;
  } else if (round.progress.trouble) {
    // Perhaps it was the texts, and perhaps others would fare no better.
    pause = kFirstPause;
  }
  paused_until_ = clock_.monotonic() + pause;
}

Result<OutboxProgress> EmbeddingOutbox::step(std::stop_token stop) {
  const MutexLock lock(mutex_);
  Round round;
  std::vector<Batch> batches;
  {
    TRY_ASSIGN(const auto engine, lease());
    TRY_ASSIGN(round.progress.next, time_to_next(*engine));
    if (round.progress.next != milliseconds(0)) return round.progress;
    TRY_ASSIGN(batches, due_batches(*engine));
    if (dimensions_ == 0) {
      const Param params[] = {embedder_.fingerprint()};
      TRY_ASSIGN(const auto bytes, engine->number(kReadLength, params));
      dimensions_ = static_cast<std::size_t>(bytes.value_or(0)) / sizeof(float);
    }
  }
  // No connection is held while the endpoint thinks.
  Embeddings embeddings(batches.size());
  share_out(batches.size(), kBatchesInFlight, [&](std::size_t i) {
    std::vector<std::string_view> texts;
    for (const Item& item : batches[i]) texts.push_back(item.text);
    embeddings[i] = embedder_.embed(texts, stop);
  });
  find_fault(batches, embeddings, stop);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (std::size_t i = 0; i < batches[b].size(); ++i) {
      const Embedding& embedding = embeddings[b][i];
      if (embedding.failure) {
        take_failure(batches[b][i], *embedding.failure, round);
      } else {
        take_vector(batches[b][i], embedding.vector, round);
      }
    }
  }
  // What was broken off says nothing about the endpoint.
  if (!stop.stop_requested()) pause_after(round);
  TRY_ASSIGN(const auto engine, lease());
  if (!round.take.params.empty()) {
    round.writes.commands.push_back({.text = kHoldText, .params = round.take.params});
    round.writes.commands.push_back(std::move(round.add));
    round.writes.commands.push_back(std::move(round.take));
  }
  TRY(engine->commit(round.writes.commands, sql::Sync::kLater));
  TRY_ASSIGN(round.progress.next, time_to_next(*engine));
  return round.progress;
}

Result<OutboxProgress> EmbeddingOutbox::work(milliseconds budget, std::stop_token stop) {
  const nanoseconds deadline = clock_.monotonic() + budget;
  OutboxProgress all;
  for (;;) {
    TRY_ASSIGN(OutboxProgress progress, step(stop));
    all.embedded += progress.embedded;
    all.given_up += progress.given_up;
    if (progress.trouble) all.trouble = std::move(progress.trouble);
    all.next = progress.next;
    if (!all.next || stop.stop_requested()) return all;
    if (clock_.monotonic() + *all.next >= deadline) return all;
    clock_.sleep(*all.next);
  }
}

}  // namespace quipu::recall
