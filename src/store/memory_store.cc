// MemoryStore: the log `system/memory` and the tables that follow it.
#include "quipu/memory.h"

#include <algorithm>
#include <unordered_map>

#include "base/try.h"
#include "recall/excerpt.h"
#include "recall/hybrid.h"
#include "recall/memory_fact.h"
#include "search/query.h"
#include "store/guarded.h"
#include "store/memory_state.h"
#include "store/recall_batch.h"

namespace quipu {
namespace {

using recall::Followed;
using recall::Kept;
using recall::MemoryRow;

constexpr std::size_t kForgetIds = 1000;  // in an entry
constexpr std::size_t kUsesMax = 256;     // nodes whose use is noted in memory only

std::vector<NewEntry> forget_facts(std::span<const std::string> ids, std::string_view reason) {
  std::vector<NewEntry> facts;
  for (std::size_t at = 0; at < ids.size(); at += kForgetIds) {
    const auto some = ids.subspan(at, std::min(kForgetIds, ids.size() - at));
    NewEntry entry;
    entry.type = recall::kForgetType;
    entry.payload = recall::forget_payload(some, reason);
    facts.push_back(std::move(entry));
  }
  return facts;
}

Result<EvictReport> choose(const recall::MemoryTables& tables, sql::Engine& engine,
                           const EvictOptions& options, std::int64_t now_ms) {
  TRY_ASSIGN(std::vector<Kept> all, tables.kept(engine, options.scope));
  EvictReport report;
  report.kept = all.size();
  std::vector<std::int64_t> ordinals;
  for (const Kept& node : recall::to_evict(std::move(all), options, now_ms)) {
    ordinals.push_back(node.ordinal);
  }
  TRY_ASSIGN(const auto rows, tables.of_ordinals(engine, ordinals));
  std::unordered_map<std::int64_t, std::string> ids;
  for (const MemoryRow& row : rows) ids.emplace(row.ordinal, row.memory.node.id);
  for (const std::int64_t ordinal : ordinals) {
    const auto found = ids.find(ordinal);  // it may have been replaced since
    if (found != ids.end()) report.ids.push_back(std::move(found->second));
  }
  report.kept -= report.ids.size();
  return report;
}

}  // namespace

std::optional<std::string> tail_of(const Followed& followed) {
  if (!followed.log) return std::nullopt;
  const LogView& own = followed.log->own();
  auto tail = own.id(own.fold().count - 1);
  return tail.ok() ? std::optional(std::move(tail).value()) : std::nullopt;
}

Result<Hits<MemoryHit>> MemoryStore::State::find(sql::Engine& engine, const Followed& at,
                                                 const Asked& asked, std::size_t k,
                                                 const MemorySearchOptions& search) {
  const std::int64_t now = backend->filler().clock.unix_ms();
  const std::size_t length = std::max(k, kRecallMatches);
  Hits<MemoryHit> hits;
  hits.note = asked.vector.note;
  hits.query_is_cut = asked.words.is_cut;
  TRY_ASSIGN(const auto lexical, tables.match(engine, asked.words, search, now, length));
  std::vector<recall::Ranked> ranked;
  if (asked.vector.vector.empty()) {
    ranked = recall::by_words(lexical);
  } else {
    TRY(vectors.enqueue(engine));
    TRY_ASSIGN(const auto filter, tables.visible(engine, search, now));
    TRY_ASSIGN(auto nearest,
               vectors.nearest(engine, at.cursor, asked.vector.vector, length, filter));
    hits.note = std::move(nearest.note);
    hits.is_hybrid = !nearest.matches.empty();
    ranked = hits.is_hybrid ? recall::by_both(lexical, nearest.matches, search.ranking)
                            : recall::by_words(lexical);
  }
  std::erase_if(ranked, [&](const recall::Ranked& one) { return one.score < search.min_score; });
  ranked.resize(std::min(ranked.size(), k));
  std::vector<std::int64_t> ordinals;
  for (const recall::Ranked& one : ranked) ordinals.push_back(one.key);
  TRY_ASSIGN(auto rows, tables.of_ordinals(engine, ordinals));
  std::unordered_map<std::int64_t, MemoryRow*> by_ordinal;
  for (MemoryRow& row : rows) by_ordinal.emplace(row.ordinal, &row);
  for (const recall::Ranked& one : ranked) {
    const auto row = by_ordinal.find(one.key);
    // Forgotten by others since it was found.
    if (row == by_ordinal.end()) continue;
    MemoryHit& hit = hits.items.emplace_back();
    hit.score = one.score;
    hit.reason = one.reason;
    hit.excerpt = recall::excerpt_of(row->second->memory.node.text, asked.words);
    hit.memory = std::move(row->second->memory);
  }
  note_use(ordinals, engine);
  return hits;
}

MemoryStore::State::State(Store& store, const RecallOptions& given)
    : sessions(store.sessions()),
      backend(store.backend()),
      log(store.backend(), "memory"),
      tables(store.indexes()->text_index(recall::kMemoryText)),
      followed(
          store.indexes(), [this] { return log.read(); }, tables),
      vectors(*store.indexes(), tables, given, store.backend()->filler().clock) {}

MemoryStore::State::~State() {
  const auto write = [this](sql::Engine& engine, const Followed&) {
    write_uses(engine);
    return Result<void>();
  };
  bool is_pending = false;
  {
    const MutexLock lock(mutex);
    is_pending = !uses.empty();
  }
  if (is_pending && sessions.check_open().ok()) {
    ignore(guarded([&] { return followed.use(write); }), "counts of use may be lost");
  }
}

void MemoryStore::State::note_use(std::span<const std::int64_t> ordinals, sql::Engine& engine) {
  bool is_enough = false;
  {
    const MutexLock lock(mutex);
    for (const std::int64_t ordinal : ordinals) ++uses[ordinal];
    is_enough = uses.size() >= kUsesMax;
  }
  if (is_enough) write_uses(engine);
}

void MemoryStore::State::write_uses(sql::Engine& engine) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  {
    const MutexLock lock(mutex);
    found.assign(uses.begin(), uses.end());
    uses.clear();
  }
  if (found.empty()) return;
  ignore(tables.note_use(engine, found, backend->filler().clock.unix_ms()),
         "counts of use may be lost");
}

MemoryStore::MemoryStore(Store& store, const RecallOptions& options)
    : state_(std::make_unique<State>(store, options)) {}
MemoryStore::MemoryStore(MemoryStore&&) noexcept = default;
MemoryStore::~MemoryStore() = default;

Result<Hits<MemoryHit>> MemoryStore::search(std::string_view query, std::size_t k,
                                            const MemorySearchOptions& options) {
  return guarded([&]() -> Result<Hits<MemoryHit>> {
    TRY(state_->sessions.check_open());
    State::Asked asked{.words = search::parse_query(query), .vector = {}};
    if (options.ranking.hybrid) {
      TRY_ASSIGN(asked.vector, state_->vectors.query(query, options.ranking));
    }
    return state_->followed.use([&](sql::Engine& engine, const Followed& at) {
      return state_->find(engine, at, asked, k, options);
    });
  });
}

Result<Page<StoredMemory>> MemoryStore::list(const MemoryScope& scope, const PageRequest& page) {
  return guarded([&]() -> Result<Page<StoredMemory>> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(const std::int64_t before, recall::read_place(page.after));
    const std::size_t limit = std::min(page.limit, kRecallPageMax);
    return state_->followed.use(
        [&](sql::Engine& engine, const Followed&) -> Result<Page<StoredMemory>> {
          state_->write_uses(engine);
          Page<StoredMemory> answer;
          TRY_ASSIGN(answer.total, state_->tables.count(engine, scope));
          // One more, to see whether there is one.
          TRY_ASSIGN(auto rows, state_->tables.page(engine, scope, before, limit + 1));
          if (rows.size() > limit) {
            rows.pop_back();
            if (!rows.empty()) answer.next = std::to_string(rows.back().ordinal);
          }
          for (MemoryRow& row : rows) answer.items.push_back(std::move(row.memory));
          return answer;
        });
  });
}

Result<EvictReport> MemoryStore::evict(const EvictOptions& options) {
  return guarded([&]() -> Result<EvictReport> {
    TRY(state_->sessions.check_open());
    const std::int64_t now = state_->backend->filler().clock.unix_ms();
    for (int tries = 0; tries < kPlansMax; ++tries) {
      std::optional<std::string> tail;
      TRY_ASSIGN(EvictReport report,
                 state_->followed.use([&](sql::Engine& engine, const Followed& followed) {
                   state_->write_uses(engine);
                   tail = tail_of(followed);
                   return choose(state_->tables, engine, options, now);
                 }));
      if (options.dry_run || report.ids.empty()) return report;
      // A node that somebody has just renewed must not go.
      auto stored = state_->log.append(forget_facts(report.ids, "evicted"), tail);
      if (stored.ok()) {
        ignore(state_->followed.refresh(), "they are forgotten, and hidden from every search");
        return report;
      }
      if (stored.error().code() != Code::kTailMoved) return std::move(stored).error();
    }
    return Error(Code::kBusy, "others change the memory all the time");
  });
}

Result<std::size_t> MemoryStore::forget(std::span<const std::string> ids) {
  return guarded([&]() -> Result<std::size_t> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(const auto there, state_->followed.use([&](sql::Engine& engine, const Followed&) {
      return state_->tables.of_ids(engine, ids);
    }));
    std::vector<std::string> going;
    for (const MemoryRow& row : there) going.push_back(row.memory.node.id);
    if (going.empty()) return std::size_t{0};
    TRY(state_->log.append(forget_facts(going, "forgotten")));
    ignore(state_->followed.refresh(), "they are forgotten, and hidden from every search");
    return going.size();
  });
}

Result<EmbeddingStatus> MemoryStore::embed(std::chrono::milliseconds budget) {
  return guarded([&]() -> Result<EmbeddingStatus> {
    TRY(state_->sessions.check_open());
    TRY(state_->followed.use(
        [&](sql::Engine& engine, const Followed&) { return state_->vectors.enqueue(engine); }));
    return state_->vectors.embed(budget);
  });
}

Result<void> MemoryStore::reindex() {
  return guarded([&]() -> Result<void> {
    TRY(state_->sessions.check_open());
    return state_->followed.rebuild();
  });
}

}  // namespace quipu
