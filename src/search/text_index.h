// TextIndex: documents in, ranked keys out. In SQLite an FTS5 table, in PostgreSQL a table
// with a tsvector and a GIN index; what a word is (analyser.h), what a query means
// (query.h) and how matches are ranked (rank.h) is the same code for both.
//
// A document has a text, a context (its neighbourhood: counts less), and tags: words that
// are looked up as they are, to narrow a search (`role=user`). The index keeps none of the
// texts. To take a document out one must give it again as it was put in.
//
// Ranking is BM25 over the documents that have all the tags asked for: how rare a word is, is
// counted among them, as long as they are not too many (kCounted); then in the whole index.
//
// Words that are in very many documents say little. Beside rarer ones they add to the score
// and find nothing by themselves; alone they find the newest of their documents, those with the
// greatest keys. So the price of a query does not grow with its commonest word.
//
// Writes are commands that the caller commits with its own; reads are made with the engine that
// the caller has leased. Neither keeps anything in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "search/query.h"
#include "sql/engine.h"
#include "sql/tokenizer.h"

namespace quipu::search {

/// More documents than that are not counted one by one.
inline constexpr std::int64_t kCounted = 20000;
/// Where only common words are asked for, so many of their documents are ranked.
inline constexpr std::int64_t kLookedAt = 8000;

struct Document {
  /// Cheapest in ascending order, and without gaps: an index keeps differences of keys.
  std::int64_t key = 0;
  std::string_view text{};
  std::string_view context{};
  /// Of a tag that is longer than kTagBytesMax, or no UTF-8, the hash is kept; white space is `_`.
  std::vector<std::string> tags{};
};
inline constexpr std::size_t kTagBytesMax = 256;

struct MatchOptions {
  /// Every one of them must be among a document's tags.
  std::vector<std::string> tags{};
  /// At least one of each group must be.
  std::vector<std::vector<std::string>> any_tags{};
  /// Documents that it refuses do not count as found. Asked once for each that matches.
  std::function<bool(std::int64_t key)> filter{};
  double context_weight = 0.4;
  std::size_t limit = 100;
  /// Where documents have to be read to be ranked (PostgreSQL): so much of long ones, the newest.
  /// Those whose words take up to 8 KiB are always ranked.
  std::int64_t read_bytes_max = std::int64_t{256} << 20;
};

struct Match {
  std::int64_t key = 0;
  double score = 0;
};

/// Commands and what their parameters refer to.
struct Writes {
  std::vector<sql::Command> commands{};
  std::deque<std::string> texts{};  // grows without moving what is in it
};

class TextIndex {
 public:
  virtual ~TextIndex() = default;

  /// What makes the tables, and what drops them if they are there; in the words of sql::Text.
  virtual std::vector<std::string> creation() const = 0;
  virtual std::vector<std::string> removal() const = 0;

  virtual void add(std::span<const Document> documents, Writes& into) const = 0;
  /// As they were added.
  virtual void remove(std::span<const Document> documents, Writes& into) const = 0;
  /// All of them.
  virtual void clear(Writes& into) const = 0;
  /// Leaves no trace of removed documents in the index's own files, where that is ours to do.
  /// Rewrites the whole index.
  virtual void purge(Writes& into) const = 0;

  /// Best first; of equals the greater key.
  virtual Result<std::vector<Match>> match(sql::Engine& engine, const Query& query,
                                           const MatchOptions& options) const = 0;
};

/// `name` is a word of [a-z_].
std::unique_ptr<TextIndex> fts5_index(std::string name);
std::unique_ptr<TextIndex> tsvector_index(std::string name);
/// What a tsvector index keeps of a document: with another version it is made anew.
inline constexpr int kTsvectorVersion = 2;

/// Must be known to the SQLite connections that have an FTS5 index (sql/sqlite_engine.h).
std::shared_ptr<const sql::Tokenizer> tokenizer();

}  // namespace quipu::search
