#include "recall/knowledge_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "base/sha256.h"
#include "base/try.h"
#include "recall/chunker.h"
#include "recall/document_fact.h"
#include "recall/fact_json.h"
#include "recall/knowledge_statements.h"
#include "recall/memory_fact.h"
#include "recall/rows.h"
#include "recall/scope_tags.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

using sql::Param;

constexpr int kTablesVersion = 3;

DocumentRow document_at(const sql::Rows& rows) {
  return {.ordinal = rows.integer(0),
          .document = {.id = std::string(rows.text(5)),
                       .title = std::string(rows.text(7)),
                       .meta = std::string(rows.text(8)),
                       .bytes = static_cast<std::size_t>(rows.integer(1)),
                       .chunks = static_cast<std::size_t>(rows.integer(2)),
                       .created_ms = rows.integer(3),
                       .updated_ms = rows.integer(4)},
          .content = std::string(rows.text(6))};
}

ChunkRow chunk_at(const sql::Rows& rows) {
  return {.key = rows.integer(0),
          .begin = static_cast<std::size_t>(rows.integer(1)),
          .end = static_cast<std::size_t>(rows.integer(2)),
          .embed_hash = std::string(rows.text(3)),
          .headings = std::string(rows.text(4)),
          .text = std::string(rows.text(5))};
}

// A chunk as it is indexed. The same when it is added and when it is taken out.
search::Document indexed(const StoredDocument& document, const ChunkRow& chunk,
                         const std::vector<std::string>& tags, search::Writes& writes) {
  search::Document indexed{.key = chunk.key, .text = {}, .context = {}, .tags = tags};
  if (document.chunks == 1) {
    indexed.text =
        keep(writes, document.title.empty() ? chunk.text : document.title + "\n" + chunk.text);
  } else {
    indexed.text = keep(writes, chunk.text);
    indexed.context = keep(writes, document.title + "\n" + chunk.headings);
  }
  return indexed;
}

std::string text_to_embed(std::string_view title, std::string_view headings,
                          std::string_view text) {
  std::string all;
  for (const std::string_view above : {title, headings}) {
    if (!above.empty()) all.append(above).append("\n");
  }
  return all.append(text);
}

// What a stretch of the log makes of one document.
struct Change {
  bool is_there = false;  // at its end
  DocumentRow row{};
  std::string text{};
  std::vector<float> embedding{};
  bool was_removed = false;  // somewhere on the way
};
using Changes = std::map<std::string, Change>;

std::string chunk_hash(const Change& change, const Chunk& chunk) {
  if (!change.embedding.empty() || chunk.begin == chunk.end) return {};
  const std::string_view text(change.text);
  return embedding_hash("knowledge",
                        text_to_embed(change.row.document.title, chunk.headings,
                                      text.substr(chunk.begin, chunk.end - chunk.begin)));
}

// `superseded` gets the hashes of texts that came and went: they may be in the outbox, which
// outlives these tables.
Changes changes_of(std::span<const FollowedEntry> entries, std::vector<std::string>& superseded) {
  Changes changes;
  const auto supersede = [&](const Change& change) {
    if (!change.is_there) return;
    for (const Chunk& chunk : chunks_of(change.text)) {
      superseded.push_back(chunk_hash(change, chunk));
    }
  };
  for (const FollowedEntry& entry : entries) {
    if (entry.type == kRemoveType) {
      for (const std::string& id : read_ids(entry.payload)) {
        supersede(changes[id]);
        changes[id] = Change{};
        changes[id].was_removed = true;
      }
    }
    if (entry.type != kDocumentType) continue;
    auto document = read_knowledge_document(entry.payload);
    // Not written by us, so no document of ours.
    if (!document.ok()) continue;
    Change& change = changes[document->id];
    supersede(change);
    const std::int64_t created = change.is_there ? change.row.document.created_ms : entry.time_ms;
    change.is_there = true;
    change.text = storable(std::move(document->text));
    change.embedding = std::move(document->embedding);
    change.row.ordinal = std::int64_t{entry.ordinal};
    change.row.document = {.id = document->id,
                           .title = storable(std::move(document->title)),
                           .meta = std::move(document->meta),
                           .bytes = change.text.size(),
                           .chunks = 0,
                           .created_ms = created,
                           .updated_ms = entry.time_ms};
    change.row.content = sha256_hex(entry.payload);
  }
  return changes;
}

void add_chunks(Change& change, const search::TextIndex& text, search::Writes& writes) {
  DocumentRow& row = change.row;
  const std::vector<Chunk> chunks = chunks_of(change.text);
  row.document.chunks = chunks.size();
  const std::vector<std::string> tags = meta_tags(row.document.meta);
  std::vector<search::Document> documents;
  sql::Command command{.text = knowledge::kAddChunks, .params = {}};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    ChunkRow stored{.key = chunk_key(row.ordinal, i),
                    .begin = chunk.begin,
                    .end = chunk.end,
                    .embed_hash = chunk_hash(change, chunk),
                    .headings = chunk.headings,
                    .text = change.text.substr(chunk.begin, chunk.end - chunk.begin)};
    command.params.insert(command.params.end(),
                          {stored.key, static_cast<std::int64_t>(stored.begin),
                           static_cast<std::int64_t>(stored.end), keep(writes, stored.embed_hash),
                           keep(writes, stored.headings), keep(writes, stored.text)});
    documents.push_back(indexed(row.document, stored, tags, writes));
  }
  writes.commands.push_back(std::move(command));
  text.add(documents, writes);
  if (change.embedding.empty()) return;
  const std::string_view vector = keep(writes, vector_bytes(change.embedding));
  writes.commands.push_back({.text = knowledge::kAddVectors,
                             .params = {chunk_key(row.ordinal, 0), Param::bytes(vector)}});
}

void add_documents(std::vector<Change>& added, const search::TextIndex& text,
                   search::Writes& writes) {
  if (added.empty()) return;
  sql::Command command{.text = knowledge::kAddDocuments, .params = {}};
  for (Change& change : added) {
    add_chunks(change, text, writes);
    const DocumentRow& row = change.row;
    const StoredDocument& document = row.document;
    command.params.insert(
        command.params.end(),
        {row.ordinal, static_cast<std::int64_t>(document.bytes),
         static_cast<std::int64_t>(document.chunks), document.created_ms, document.updated_ms,
         keep(writes, document.id), keep(writes, row.content), keep(writes, document.title),
         keep(writes, document.meta)});
  }
  writes.commands.push_back(std::move(command));
}

}  // namespace

KnowledgeTables::KnowledgeTables(std::unique_ptr<search::TextIndex> text)
    : text_(std::move(text)),
      tables_{.name = "knowledge",
              .version = std::to_string(kTablesVersion) + '.' + std::to_string(kChunkerVersion),
              .create = knowledge::kCreate,
              .drop = knowledge::kDrop,
              .text_indexes = {kKnowledgeText}} {}

sql::Text KnowledgeTables::read_cursor() const { return knowledge::kReadCursor; }
sql::Text KnowledgeTables::move_cursor() const { return knowledge::kMoveCursor; }

void KnowledgeTables::clear(search::Writes& writes) const {
  writes.commands.push_back({.text = knowledge::kCountEmptied});
  // What is still there is put in again. Vectors are kept for it until all of the log is read.
  writes.commands.push_back({.text = knowledge::kForgetAllTexts});
  writes.commands.push_back({.text = knowledge::kSuspect});
  writes.commands.push_back({.text = "DELETE FROM @knowledge_documents"});
  writes.commands.push_back({.text = "DELETE FROM @knowledge_chunks"});
  writes.commands.push_back({.text = "DELETE FROM @knowledge_vectors"});
  writes.commands.push_back({.text = "DELETE FROM @knowledge_queued"});
  text_->clear(writes);
}

Result<void> KnowledgeTables::remove(sql::Engine& engine, const DocumentRow& row,
                                     std::vector<std::string>& hashes,
                                     search::Writes& writes) const {
  TRY_ASSIGN(const auto chunks, rows_of<ChunkRow>(engine, knowledge::kChunksBetween,
                                                  std::array{Param(chunk_key(row.ordinal, 0)),
                                                             Param(chunk_key(row.ordinal + 1, 0))},
                                                  chunk_at));
  const std::vector<std::string> tags = meta_tags(row.document.meta);
  std::vector<search::Document> documents;
  sql::Command command{.text = knowledge::kRemoveChunks, .params = {}};
  for (const ChunkRow& chunk : chunks) {
    documents.push_back(indexed(row.document, chunk, tags, writes));
    command.params.emplace_back(chunk.key);
    hashes.push_back(chunk.embed_hash);
  }
  text_->remove(documents, writes);
  writes.commands.push_back({.text = knowledge::kRemoveVectors, .params = command.params});
  writes.commands.push_back(std::move(command));
  writes.commands.push_back({.text = knowledge::kRemoveDocuments, .params = {row.ordinal}});
  return {};
}

Result<void> KnowledgeTables::finish(sql::Engine& engine, search::Writes& writes) const {
  TRY_ASSIGN(const auto suspects, engine.number(knowledge::kCountSuspects));
  if (suspects.value_or(0) == 0) return {};
  writes.commands.push_back({.text = knowledge::kForgetSuspects});
  writes.commands.push_back({.text = "DELETE FROM @knowledge_suspects"});
  return {};
}

Result<void> KnowledgeTables::take(sql::Engine& engine, std::span<const FollowedEntry> entries,
                                   search::Writes& writes) const {
  std::vector<std::string> hashes;  // of texts that are gone
  Changes changes = changes_of(entries, hashes);
  std::vector<std::string> ids;
  for (const auto& [id, change] : changes) ids.push_back(id);
  TRY_ASSIGN(const std::vector<DocumentRow> older, of_ids(engine, ids));
  for (const DocumentRow& row : older) {
    TRY(remove(engine, row, hashes, writes));
    Change& change = changes[row.document.id];
    if (!change.was_removed) change.row.document.created_ms = row.document.created_ms;
  }
  std::vector<Change> added;
  for (auto& [id, change] : changes) {
    if (change.is_there) added.push_back(std::move(change));
  }
  std::sort(added.begin(), added.end(),
            [](const Change& a, const Change& b) { return a.row.ordinal < b.row.ordinal; });
  add_documents(added, *text_, writes);
  if (hashes.empty()) return {};
  // Behind all that is added: what is still there must not be forgotten.
  const std::string_view list = keep(writes, list_of(hashes));
  writes.commands.push_back({.text = knowledge::kForgetTexts, .params = {list}});
  writes.commands.push_back({.text = knowledge::kForgetMade, .params = {list}});
  return {};
}

Result<std::vector<DocumentRow>> KnowledgeTables::of_ids(sql::Engine& engine,
                                                         std::span<const std::string> ids) const {
  if (ids.empty()) return std::vector<DocumentRow>();
  const std::string list = list_of(ids);
  return rows_of<DocumentRow>(engine, knowledge::kOfIds, std::array{Param(list)}, document_at);
}

Result<std::vector<DocumentRow>> KnowledgeTables::of_ordinals(
    sql::Engine& engine, std::span<const std::int64_t> ordinals) const {
  if (ordinals.empty()) return std::vector<DocumentRow>();
  const std::string list = list_of(ordinals);
  return rows_of<DocumentRow>(engine, knowledge::kOfOrdinals, std::array{Param(list)}, document_at);
}

Result<std::vector<DocumentRow>> KnowledgeTables::page(sql::Engine& engine, std::int64_t before,
                                                       std::size_t limit) const {
  return rows_of<DocumentRow>(engine, knowledge::kPage,
                              std::array{Param(before), Param(static_cast<std::int64_t>(limit))},
                              document_at);
}

Result<std::size_t> KnowledgeTables::count(sql::Engine& engine) const {
  TRY_ASSIGN(const auto number, engine.number(knowledge::kCount));
  return static_cast<std::size_t>(number.value_or(0));
}

Result<std::vector<ChunkRow>> KnowledgeTables::chunks(sql::Engine& engine,
                                                      std::span<const std::int64_t> keys) const {
  if (keys.empty()) return std::vector<ChunkRow>();
  const std::string list = list_of(keys);
  return rows_of<ChunkRow>(engine, knowledge::kChunks, std::array{Param(list)}, chunk_at);
}

Result<std::vector<search::Match>> KnowledgeTables::match(sql::Engine& engine,
                                                          const search::Query& query,
                                                          const QueryOptions& options,
                                                          std::size_t limit) const {
  search::MatchOptions match;
  match.limit = limit;
  for (const auto& [key, value] : options.filter) match.tags.push_back(meta_tag(key, value));
  return text_->match(engine, query, match);
}

Result<KeyFilter> KnowledgeTables::visible(sql::Engine& engine, const QueryOptions& options) const {
  if (options.filter.empty()) return KeyFilter();
  std::unordered_set<std::int64_t> seen;
  TRY_ASSIGN(const auto rows, engine.ask(knowledge::kMeta));
  for (;;) {
    TRY_ASSIGN(const bool is_there, rows->next());
    if (!is_there) break;
    const std::vector<std::string> tags = meta_tags(rows->text(1));
    const bool fits =
        std::all_of(options.filter.begin(), options.filter.end(), [&](const auto& wanted) {
          return std::find(tags.begin(), tags.end(), meta_tag(wanted.first, wanted.second)) !=
                 tags.end();
        });
    if (fits) seen.insert(rows->integer(0));
  }
  return KeyFilter(
      [seen = std::move(seen)](std::int64_t key) { return seen.contains(document_of(key)); });
}

Result<std::vector<VectorRow>> KnowledgeTables::vector_rows(sql::Engine& engine, std::int64_t after,
                                                            std::size_t limit) const {
  return rows_of<VectorRow>(engine, knowledge::kVectorRows,
                            std::array{Param(after), Param(static_cast<std::int64_t>(limit))},
                            vector_row);
}

Result<std::vector<TextRow>> KnowledgeTables::text_rows(sql::Engine& engine, std::int64_t after,
                                                        std::size_t limit) const {
  return rows_of<TextRow>(
      engine, knowledge::kTextRows,
      std::array{Param(after), Param(static_cast<std::int64_t>(limit))}, [](const sql::Rows& rows) {
        return TextRow{.key = rows.integer(0),
                       .hash = std::string(rows.text(1)),
                       .text = text_to_embed(rows.text(4), rows.text(3), rows.text(2))};
      });
}

Result<std::vector<std::int64_t>> KnowledgeTables::existing(
    sql::Engine& engine, std::span<const std::int64_t> keys) const {
  const std::string list = list_of(keys);
  return rows_of<std::int64_t>(engine, knowledge::kExisting, std::array{Param(list)},
                               [](const sql::Rows& rows) { return rows.integer(0); });
}

sql::Text KnowledgeTables::read_mark() const { return knowledge::kReadMark; }
sql::Text KnowledgeTables::set_mark() const { return knowledge::kSetMark; }

Result<std::size_t> KnowledgeTables::dimensions(sql::Engine& engine,
                                                std::span<const std::string> but) const {
  const std::string list = list_of(but);
  TRY_ASSIGN(const auto bytes, engine.number(knowledge::kVectorBytes, std::array{Param(list)}));
  return static_cast<std::size_t>(bytes.value_or(0)) / sizeof(float);
}

}  // namespace quipu::recall
