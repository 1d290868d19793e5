// KnowledgeIndex: documents to be looked up in. Long ones are cut into chunks where their
// structure allows it; a query finds documents by their best chunk.
//
// Documents are entries of the store's own log `system/knowledge`, whole; chunks and what is
// searched are computed from it, as in memory.h.
//
//   quipu::KnowledgeIndex knowledge(*store);
//   knowledge.add({{{.id = "guide", .text = text, .title = "User's guide"}}});
//   auto hits = knowledge.query("how do I undo?", 5);
//
// Errors and thread-safety: as MemoryStore.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quipu/page.h"
#include "quipu/recall.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct KnowledgeDocument {
  /// As ids of entries. Required: it is what an update names.
  std::string id{};
  /// Plain text or Markdown.
  std::string text{};
  std::string title{};
  /// A JSON object for the caller; empty: none. Queries may ask for its members
  /// (`QueryOptions::filter`).
  std::string meta{};
  /// Of the whole document; empty: none, or made by the endpoint, chunk by chunk. All of a
  /// store have as many numbers.
  std::vector<float> embedding{};

  bool operator==(const KnowledgeDocument&) const = default;
};

/// A document from one JSON object, and back: {id, text, title?, embedding?, meta?}, as
/// `read_memory_node`.
Result<KnowledgeDocument> read_knowledge_document(std::string_view json);
std::string knowledge_document_json(const KnowledgeDocument& document);

struct AddReport {
  std::size_t added = 0;
  std::size_t replaced = 0;
  std::size_t unchanged = 0;
};

struct QueryOptions {
  Ranking ranking{};
  /// Members of `meta` that a document must have: texts, numbers or truth values, as
  /// their text. Of each document the first 32 of these are known.
  std::vector<std::pair<std::string, std::string>> filter{};
};

/// A document as lists show it.
struct StoredDocument {
  std::string id{};
  std::string title{};
  std::string meta{};
  std::size_t bytes = 0;
  std::size_t chunks = 0;
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
};

struct KnowledgeHit {
  StoredDocument document{};
  double score = 0;
  /// The chunk that matched best: its number from 0, where it is in the text, what it says,
  /// and the headings above it ("Guide > Undo").
  std::size_t chunk = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
  std::string headings{};
  Excerpt excerpt{};
  RankReason reason{};
};

class KnowledgeIndex {
 public:
  explicit KnowledgeIndex(Store& store, const RecallOptions& options = {});
  KnowledgeIndex(KnowledgeIndex&&) noexcept;
  ~KnowledgeIndex();

  /// Adds documents, or replaces those with the same id; one that is stored as it is given
  /// stays untouched. Order, durability and errors as MemoryStore::upsert.
  Result<AddReport> add(std::span<const KnowledgeDocument> documents);

  /// The `k` best documents for a query: any text. One without words finds nothing.
  Result<Hits<KnowledgeHit>> query(std::string_view query, std::size_t k,
                                   const QueryOptions& options = {});

  /// Newest first.
  Result<Page<StoredDocument>> list(const PageRequest& page = {});

  /// Removes documents by their ids. How many there were. Hidden and durable on return.
  Result<std::size_t> remove(std::span<const std::string> ids);

  /// Sends texts that wait for a vector to the endpoint, for so long at most (a request that is
  /// under way is waited for), until none is left or the endpoint is in trouble. What is still
  /// waiting then. Safe to call at any time; nothing is ever lost by not calling it.
  Result<EmbeddingStatus> embed(std::chrono::milliseconds budget);

  /// Makes the index anew from the log.
  Result<void> reindex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quipu
