// KnowledgeTables: the log `system/knowledge` as tables (see follow.h). A document is known
// by the ordinal of its entry, a chunk by that and its number.
//
//   knowledge_documents  one row a document that is not removed
//   knowledge_chunks     what they are cut into, with the text
//   knowledge_vectors    the vectors that callers gave, at a document's first chunk
//   knowledge_queued     how far texts were put into the outbox (vectors.h)
//   knowledge_suspects   hashes of texts that were there when the tables were emptied (follow.h)
//   knowledge_text       the text index over the chunks
//
// A document of one chunk is indexed as its title and its text, in one column. The chunks of
// a longer one have the title and the headings above them as context.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quipu/knowledge.h"
#include "recall/follow.h"
#include "recall/vectors.h"

namespace quipu::recall {

inline constexpr const char* kKnowledgeText = "knowledge_text";

inline constexpr int kChunkBits = 20;  // also in the SQL
inline std::int64_t chunk_key(std::int64_t ordinal, std::size_t number) {
  return ordinal << kChunkBits | static_cast<std::int64_t>(number);
}
inline std::int64_t document_of(std::int64_t chunk) { return chunk >> kChunkBits; }
inline std::size_t number_of(std::int64_t chunk) {
  return static_cast<std::size_t>(chunk & ((std::int64_t{1} << kChunkBits) - 1));
}

struct DocumentRow {
  std::int64_t ordinal = 0;
  StoredDocument document{};
  std::string content{};  // SHA-256 of the entry's payload
};

struct ChunkRow {
  std::int64_t key = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string embed_hash{};
  std::string headings{};
  std::string text{};
};

class KnowledgeTables : public Follower, public VectorSource {
 public:
  explicit KnowledgeTables(std::unique_ptr<search::TextIndex> text);

  const search::IndexTables& tables() const override { return tables_; }
  sql::Text read_cursor() const override;
  sql::Text move_cursor() const override;
  void clear(search::Writes& writes) const override;
  Result<void> finish(sql::Engine& engine, search::Writes& writes) const override;
  Result<void> take(sql::Engine& engine, std::span<const FollowedEntry> entries,
                    search::Writes& writes) const override;

  Result<std::vector<VectorRow>> vector_rows(sql::Engine& engine, std::int64_t after,
                                             std::size_t limit) const override;
  Result<std::vector<TextRow>> text_rows(sql::Engine& engine, std::int64_t after,
                                         std::size_t limit) const override;
  Result<std::vector<std::int64_t>> existing(sql::Engine& engine,
                                             std::span<const std::int64_t> keys) const override;
  sql::Text read_mark() const override;
  sql::Text set_mark() const override;

  Result<std::vector<DocumentRow>> of_ids(sql::Engine& engine,
                                          std::span<const std::string> ids) const;
  Result<std::vector<DocumentRow>> of_ordinals(sql::Engine& engine,
                                               std::span<const std::int64_t> ordinals) const;
  /// At most `limit` below `before`, newest first.
  Result<std::vector<DocumentRow>> page(sql::Engine& engine, std::int64_t before,
                                        std::size_t limit) const;
  Result<std::size_t> count(sql::Engine& engine) const;
  Result<std::vector<ChunkRow>> chunks(sql::Engine& engine,
                                       std::span<const std::int64_t> keys) const;

  Result<std::vector<search::Match>> match(sql::Engine& engine, const search::Query& query,
                                           const QueryOptions& options, std::size_t limit) const;
  /// What `match` may find, as a filter for vectors; empty: everything.
  Result<KeyFilter> visible(sql::Engine& engine, const QueryOptions& options) const;

  /// How many components the vectors have that do not belong to one of these ids; 0: there is none.
  Result<std::size_t> dimensions(sql::Engine& engine, std::span<const std::string> but) const;

 private:
  Result<void> remove(sql::Engine& engine, const DocumentRow& row, std::vector<std::string>& hashes,
                      search::Writes& writes) const;

  const std::unique_ptr<search::TextIndex> text_;
  const search::IndexTables tables_;
};

}  // namespace quipu::recall
