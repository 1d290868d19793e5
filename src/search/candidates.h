// From a query to ranked documents: which of its terms find, which of them only count, and
// what the documents found are worth. The same for all text indexes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/query.h"
#include "search/rank.h"
#include "search/text_index.h"

namespace quipu::search {

/// The terms of a query that are ranked; those that must occur come first.
class Terms {
 public:
  Terms() = default;
  explicit Terms(const Query& query);

  std::size_t size() const { return terms_.size(); }
  const Term& operator[](std::size_t term) const { return *terms_[term]; }
  /// How many must occur.
  std::size_t needed() const { return needed_; }

 private:
  std::vector<const Term*> terms_;
  std::size_t needed_ = 0;
};

/// The documents that a query is asked of.
struct Scope {
  /// Its documents are few and were counted; otherwise the statistics are those of the
  /// whole index.
  bool is_counted = false;
  Statistics statistics{};
};

/// One way to find documents: by these terms, all or any of them; others add to the score.
struct Choice {
  std::vector<std::size_t> finding{};
  bool all_needed = false;
  std::vector<std::size_t> scoring{};
  /// So many documents are ranked, the newest.
  std::int64_t most = 0;
};

/// The ways to try, in this order, until enough is found.
std::vector<Choice> choose(const Terms& terms, const Scope& scope);

/// A term that is in a document.
struct Found {
  std::uint32_t term = 0;
  Occurrence occurrence{};
};

/// Documents that match, to be ranked when all are there.
class Candidates {
 public:
  /// Which documents have a term is counted here when the scope does not say it.
  Candidates(const Terms& terms, const MatchOptions& options, const Scope& scope);

  /// Of the whole index: documents and words.
  void note_totals(std::int64_t documents, std::int64_t words);
  /// `found` has each term once. False: refused by the filter.
  bool add(std::int64_t key, std::uint32_t length, std::span<const Found> found);
  std::size_t size() const { return rows_.size(); }

  std::vector<Match> ranked();

 private:
  struct Row {
    std::int64_t key;
    std::uint32_t length;
    std::uint32_t begin, end;  // in `found_`
  };

  const Terms terms_;
  const MatchOptions& options_;
  const bool counts_holders_;
  Scope scope_;
  std::vector<Row> rows_;
  std::vector<Found> found_;
};

/// A tag as a word of an index: UTF-8 without white space, not too long, and beginning with `#` as
/// no word of a text does.
std::string tag_word(std::string_view tag);

}  // namespace quipu::search
