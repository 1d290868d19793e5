// MemoryTables: the log `system/memory` as tables (see follow.h). A node is known by the
// ordinal of its entry: the greater one is newer, and tables made anew have the same.
//
//   memory_nodes    one row a node that is not forgotten, with its use
//   memory_bands    what finds texts that are alike (likeness.h)
//   memory_vectors  the vectors that callers gave
//   memory_queued   how far texts were put into the outbox (vectors.h)
//   memory_suspects hashes of texts that were there when the tables were emptied (follow.h)
//   memory_text     the text index
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quipu/memory.h"
#include "recall/follow.h"
#include "recall/likeness.h"
#include "recall/usefulness.h"
#include "recall/vectors.h"

namespace quipu::recall {

inline constexpr const char* kMemoryText = "memory_text";

struct MemoryRow {
  std::int64_t ordinal = 0;
  StoredMemory memory{};
  /// SHA-256 of the entry's payload.
  std::string content{};
  std::string embed_hash{};
};

/// Texts of different scopes are never duplicates of each other.
std::string likeness_scope(const MemoryNode& node);

class MemoryTables : public Follower, public VectorSource {
 public:
  explicit MemoryTables(std::unique_ptr<search::TextIndex> text);

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
                                             std::span<const std::int64_t> ordinals) const override;
  sql::Text read_mark() const override;
  sql::Text set_mark() const override;

  Result<std::vector<MemoryRow>> of_ids(sql::Engine& engine,
                                        std::span<const std::string> ids) const;
  Result<std::vector<MemoryRow>> of_ordinals(sql::Engine& engine,
                                             std::span<const std::int64_t> ordinals) const;
  /// At most `limit` below `before`, newest first.
  Result<std::vector<MemoryRow>> page(sql::Engine& engine, const MemoryScope& scope,
                                      std::int64_t before, std::size_t limit) const;
  Result<std::size_t> count(sql::Engine& engine, const MemoryScope& scope) const;
  /// For eviction.
  Result<std::vector<Kept>> kept(sql::Engine& engine, const MemoryScope& scope) const;

  /// Nodes that share a band: (band, ordinal). Of each band the newest, at most `limit`.
  Result<std::vector<std::pair<std::int64_t, std::int64_t>>> sharing(
      sql::Engine& engine, std::span<const std::int64_t> bands, std::size_t limit) const;

  Result<std::vector<search::Match>> match(sql::Engine& engine, const search::Query& query,
                                           const MemorySearchOptions& options, std::int64_t now_ms,
                                           std::size_t limit) const;
  /// What `match` may find, as a filter for vectors.
  Result<KeyFilter> visible(sql::Engine& engine, const MemorySearchOptions& options,
                            std::int64_t now_ms) const;

  /// How many components the vectors have that do not belong to one of these ids; 0: there is none.
  Result<std::size_t> dimensions(sql::Engine& engine, std::span<const std::string> but) const;
  Result<std::vector<float>> vector_of(sql::Engine& engine, std::int64_t ordinal) const;

  /// Adds to the use of nodes: how often each was found since. One that is gone is passed over.
  Result<void> note_use(sql::Engine& engine,
                        std::span<const std::pair<std::int64_t, std::int64_t>> found,
                        std::int64_t now_ms) const;

 private:
  const std::unique_ptr<search::TextIndex> text_;
  const search::IndexTables tables_;
};

}  // namespace quipu::recall
