// KnowledgeIndex: the log `system/knowledge` and the tables that follow it.
#include "quipu/knowledge.h"

#include <algorithm>
#include <unordered_map>

#include "base/sha256.h"
#include "base/try.h"
#include "recall/document_fact.h"
#include "recall/excerpt.h"
#include "recall/fact_json.h"
#include "recall/hybrid.h"
#include "recall/knowledge_tables.h"
#include "recall/memory_fact.h"
#include "search/query.h"
#include "store/guarded.h"
#include "store/recall_batch.h"
#include "store/system_log.h"

namespace quipu {
namespace {

using recall::ChunkRow;
using recall::DocumentRow;
using recall::Followed;

constexpr std::size_t kRemoveIds = 1000;  // in an entry

// A document on its way into the log.
struct IncomingDocument {
  const KnowledgeDocument* document = nullptr;
  std::string payload{};
  std::string content{};
};

std::string name_of(std::size_t place, const KnowledgeDocument& document) {
  return "document " + std::to_string(place + 1) + " (" + document.id + ")";
}

Result<std::vector<IncomingDocument>> admitted(std::span<const KnowledgeDocument> documents) {
  std::vector<IncomingDocument> incoming;
  incoming.reserve(documents.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    IncomingDocument& one = incoming.emplace_back();
    one.document = &documents[i];
    auto good = recall::check(documents[i]);
    if (good.ok()) {
      one.payload = knowledge_document_json(documents[i]);
      one.content = sha256_hex(one.payload);
      good = recall::check_payload_size(one.payload);
    }
    if (!good.ok()) return std::move(good).error().in(name_of(i, documents[i]));
  }
  return incoming;
}

NewEntry fact(std::string_view type, std::string payload) {
  NewEntry entry;
  entry.type = type;
  entry.payload = std::move(payload);
  return entry;
}

// Documents by their best chunk.
struct Best {
  std::vector<search::Match> documents{};                   // by ordinal, best first
  std::unordered_map<std::int64_t, std::int64_t> chunks{};  // of each the best
};

Best best_of(std::span<const search::Match> matches) {
  Best best;
  for (const search::Match& match : matches) {
    const std::int64_t document = recall::document_of(match.key);
    if (!best.chunks.emplace(document, match.key).second) continue;
    best.documents.push_back({.key = document, .score = match.score});
  }
  return best;
}

// The best documents of a list of chunks, of which `ask` gives as many as it is asked for. One
// long document may fill any list: it is asked again for a longer one until there are `k`.
template <class Ask>
Result<Best> best_of(std::size_t k, Ask ask) {
  for (std::size_t length = std::max(4 * k, kRecallMatches);; length *= 2) {
    TRY_ASSIGN(const std::vector<search::Match> matches, ask(length));
    Best best = best_of(matches);
    if (best.documents.size() >= k || matches.size() < length) return best;
  }
}

}  // namespace

struct KnowledgeIndex::State {
  State(Store& store, const RecallOptions& given)
      : sessions(store.sessions()),
        log(store.backend(), "knowledge"),
        tables(store.indexes()->text_index(recall::kKnowledgeText)),
        followed(
            store.indexes(), [this] { return log.read(); }, tables),
        vectors(*store.indexes(), tables, given, store.backend()->filler().clock) {}

  /// A query in both forms.
  struct Asked {
    search::Query words{};
    recall::QueryVector vector{};
  };

  Result<void> check_dimensions(sql::Engine& engine,
                                std::span<const IncomingDocument> incoming) const;
  Result<std::vector<NewEntry>> changed(sql::Engine& engine,
                                        std::span<const IncomingDocument> batch,
                                        AddReport& report) const;
  Result<Hits<KnowledgeHit>> find(sql::Engine& engine, const Followed& at, const Asked& asked,
                                  std::size_t k, const QueryOptions& wanted);
  Result<void> show(sql::Engine& engine, std::span<const recall::Ranked> ranked,
                    const Best& lexical, const Best& nearest, const search::Query& query,
                    Hits<KnowledgeHit>& hits) const;

  SessionStore& sessions;
  const SystemLog log;
  const recall::KnowledgeTables tables;
  recall::FollowedTables followed;
  recall::Vectors vectors;
};

// All of them before the first is stored. What they replace does not count.
Result<void> KnowledgeIndex::State::check_dimensions(
    sql::Engine& engine, std::span<const IncomingDocument> incoming) const {
  std::vector<std::string> ids;
  for (const IncomingDocument& one : incoming) ids.push_back(one.document->id);
  TRY_ASSIGN(std::size_t wanted, tables.dimensions(engine, ids));
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const std::size_t given = incoming[i].document->embedding.size();
    if (given == 0) continue;
    if (wanted == 0) wanted = given;
    auto good = recall::check_dimensions(given, wanted);
    if (!good.ok()) return std::move(good).error().in(name_of(i, *incoming[i].document));
  }
  return {};
}

// What of a batch is not stored as it is given.
Result<std::vector<NewEntry>> KnowledgeIndex::State::changed(
    sql::Engine& engine, std::span<const IncomingDocument> batch, AddReport& report) const {
  std::vector<std::string> ids;
  for (const IncomingDocument& one : batch) ids.push_back(one.document->id);
  TRY_ASSIGN(const auto rows, tables.of_ids(engine, ids));
  std::unordered_map<std::string, std::string> contents;  // as they will be
  for (const DocumentRow& row : rows) contents.emplace(row.document.id, row.content);
  std::vector<NewEntry> entries;
  for (const IncomingDocument& one : batch) {
    const auto [place, is_new] = contents.emplace(one.document->id, one.content);
    if (!is_new && place->second == one.content) {
      ++report.unchanged;
      continue;
    }
    ++(is_new ? report.added : report.replaced);
    place->second = one.content;
    entries.push_back(fact(recall::kDocumentType, one.payload));
  }
  return entries;
}

Result<Hits<KnowledgeHit>> KnowledgeIndex::State::find(sql::Engine& engine, const Followed& at,
                                                       const Asked& asked, std::size_t k,
                                                       const QueryOptions& wanted) {
  Hits<KnowledgeHit> hits;
  hits.note = asked.vector.note;
  hits.query_is_cut = asked.words.is_cut;
  TRY_ASSIGN(const Best lexical, best_of(k, [&](std::size_t length) {
               return tables.match(engine, asked.words, wanted, length);
             }));
  Best nearest;
  if (const auto& vector = asked.vector.vector; !vector.empty()) {
    TRY(vectors.enqueue(engine));
    TRY_ASSIGN(const auto filter, tables.visible(engine, wanted));
    const auto ask = [&](std::size_t length) -> Result<std::vector<search::Match>> {
      TRY_ASSIGN(auto found, vectors.nearest(engine, at.cursor, vector, length, filter));
      hits.note = std::move(found.note);
      return std::move(found.matches);
    };
    TRY_ASSIGN(nearest, best_of(k, ask));
  }
  hits.is_hybrid = !nearest.documents.empty();
  auto ranked = hits.is_hybrid
                    ? recall::by_both(lexical.documents, nearest.documents, wanted.ranking)
                    : recall::by_words(lexical.documents);
  ranked.resize(std::min(ranked.size(), k));
  TRY(show(engine, ranked, lexical, nearest, asked.words, hits));
  return hits;
}

// The chunk shown is that of the words; the vectors' for what has none of them.
Result<void> KnowledgeIndex::State::show(sql::Engine& engine,
                                         std::span<const recall::Ranked> ranked,
                                         const Best& lexical, const Best& nearest,
                                         const search::Query& query,
                                         Hits<KnowledgeHit>& hits) const {
  std::vector<std::int64_t> keys;
  std::vector<std::int64_t> ordinals;
  for (const recall::Ranked& one : ranked) {
    const auto found = lexical.chunks.find(one.key);
    keys.push_back(found != lexical.chunks.end() ? found->second : nearest.chunks.at(one.key));
    ordinals.push_back(one.key);
  }
  TRY_ASSIGN(const auto documents, tables.of_ordinals(engine, ordinals));
  TRY_ASSIGN(auto chunks, tables.chunks(engine, keys));
  std::unordered_map<std::int64_t, const DocumentRow*> by_ordinal;
  for (const DocumentRow& row : documents) by_ordinal.emplace(row.ordinal, &row);
  std::unordered_map<std::int64_t, ChunkRow*> by_key;
  for (ChunkRow& row : chunks) by_key.emplace(row.key, &row);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const auto document = by_ordinal.find(ordinals[i]);
    const auto chunk = by_key.find(keys[i]);
    if (document == by_ordinal.end() || chunk == by_key.end()) continue;
    KnowledgeHit& hit = hits.items.emplace_back();
    hit.document = document->second->document;
    hit.score = ranked[i].score;
    hit.reason = ranked[i].reason;
    hit.chunk = recall::number_of(keys[i]);
    hit.begin = chunk->second->begin;
    hit.end = chunk->second->end;
    hit.headings = std::move(chunk->second->headings);
    hit.excerpt = recall::excerpt_of(chunk->second->text, query);
    hit.text = std::move(chunk->second->text);
  }
  return {};
}

KnowledgeIndex::KnowledgeIndex(Store& store, const RecallOptions& options)
    : state_(std::make_unique<State>(store, options)) {}
KnowledgeIndex::KnowledgeIndex(KnowledgeIndex&&) noexcept = default;
KnowledgeIndex::~KnowledgeIndex() = default;

Result<AddReport> KnowledgeIndex::add(std::span<const KnowledgeDocument> documents) {
  return guarded([&]() -> Result<AddReport> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(const auto incoming, admitted(documents));
    const bool has_vectors =
        std::any_of(documents.begin(), documents.end(),
                    [](const KnowledgeDocument& document) { return !document.embedding.empty(); });
    if (has_vectors) {
      TRY(state_->followed.use([&](sql::Engine& engine, const Followed&) {
        return state_->check_dimensions(engine, incoming);
      }));
    }
    AddReport report;
    for (std::size_t at = 0; at < incoming.size();) {
      const std::size_t length = batch_length<IncomingDocument>(incoming, at);
      const auto batch = std::span(incoming).subspan(at, length);
      AddReport so_far;
      TRY_ASSIGN(const auto entries,
                 state_->followed.use([&](sql::Engine& engine, const Followed&) {
                   so_far = report;
                   return state_->changed(engine, batch, so_far);
                 }));
      if (!entries.empty()) TRY(state_->log.append(entries));
      report = so_far;
      at += length;
    }
    // So that the first query need not do it. What fails here is tried again there.
    ignore(state_->followed.use([&](sql::Engine& engine, const Followed&) {
      return state_->vectors.enqueue(engine);
    }),
           "the documents are stored");
    return report;
  });
}

Result<Hits<KnowledgeHit>> KnowledgeIndex::query(std::string_view query, std::size_t k,
                                                 const QueryOptions& options) {
  return guarded([&]() -> Result<Hits<KnowledgeHit>> {
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

Result<Page<StoredDocument>> KnowledgeIndex::list(const PageRequest& page) {
  return guarded([&]() -> Result<Page<StoredDocument>> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(const std::int64_t before, recall::read_place(page.after));
    const std::size_t limit = std::min(page.limit, kRecallPageMax);
    return state_->followed.use(
        [&](sql::Engine& engine, const Followed&) -> Result<Page<StoredDocument>> {
          Page<StoredDocument> answer;
          TRY_ASSIGN(answer.total, state_->tables.count(engine));
          TRY_ASSIGN(auto rows, state_->tables.page(engine, before, limit + 1));
          if (rows.size() > limit) {
            rows.pop_back();
            if (!rows.empty()) answer.next = std::to_string(rows.back().ordinal);
          }
          for (DocumentRow& row : rows) answer.items.push_back(std::move(row.document));
          return answer;
        });
  });
}

Result<std::size_t> KnowledgeIndex::remove(std::span<const std::string> ids) {
  return guarded([&]() -> Result<std::size_t> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(const auto there, state_->followed.use([&](sql::Engine& engine, const Followed&) {
      return state_->tables.of_ids(engine, ids);
    }));
    std::vector<std::string> going;
    for (const DocumentRow& row : there) going.push_back(row.document.id);
    std::vector<NewEntry> entries;
    for (std::size_t at = 0; at < going.size(); at += kRemoveIds) {
      const auto some = std::span(going).subspan(at, std::min(kRemoveIds, going.size() - at));
      entries.push_back(fact(recall::kRemoveType, recall::forget_payload(some, "")));
    }
    if (going.empty()) return std::size_t{0};
    TRY(state_->log.append(entries));
    ignore(state_->followed.refresh(), "they are removed, and hidden from every query");
    return going.size();
  });
}

Result<EmbeddingStatus> KnowledgeIndex::embed(std::chrono::milliseconds budget) {
  return guarded([&]() -> Result<EmbeddingStatus> {
    TRY(state_->sessions.check_open());
    TRY(state_->followed.use(
        [&](sql::Engine& engine, const Followed&) { return state_->vectors.enqueue(engine); }));
    return state_->vectors.embed(budget);
  });
}

Result<void> KnowledgeIndex::reindex() {
  return guarded([&]() -> Result<void> {
    TRY(state_->sessions.check_open());
    return state_->followed.rebuild();
  });
}

}  // namespace quipu
