#include "search/candidates.h"

#include <algorithm>
#include <numeric>

#include "base/json_text.h"
#include "base/sha256.h"

namespace quipu::search {
namespace {

bool is_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const std::size_t bytes = json::utf8_length(at, end);
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

}  // namespace

Terms::Terms(const Query& query) {
  const auto take = [this](const std::vector<Term>& terms) {
    for (const Term& term : terms) {
      if (!term.tokens.empty()) terms_.push_back(&term);
    }
  };
  take(query.all);
  needed_ = terms_.size();
  take(query.any);
}

std::vector<Choice> choose(const Terms& terms, const Scope& scope) {
  std::vector<std::size_t> all(terms.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto needed = all.begin() + static_cast<std::ptrdiff_t>(terms.needed());
  if (terms.needed() > 0) {
    return {{.finding = {all.begin(), needed},
             .all_needed = true,
             .scoring = {needed, all.end()},
             .most = kCounted}};
  }
  if (scope.is_counted) return {{.finding = all, .most = kCounted}};

  // The rarest find, as long as they do not find too much.
  const std::vector<double>& holders = scope.statistics.holders;
  std::stable_sort(all.begin(), all.end(),
                   [&](std::size_t a, std::size_t b) { return holders[a] < holders[b]; });
  double found = 0;
  std::size_t finding = 0;
  while (finding < all.size() && found + holders[all[finding]] <= kCounted) {
    found += holders[all[finding++]];
  }
  if (found > 0) {
    const auto rare = all.begin() + static_cast<std::ptrdiff_t>(finding);
    return {{.finding = {all.begin(), rare}, .scoring = {rare, all.end()}, .most = kCounted}};
  }
  // Terms that nothing has find nothing.
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(finding));
  if (all.empty()) return {};
  const Choice any{.finding = all, .most = kLookedAt};
  if (all.size() == 1) return {any};
  return {{.finding = all, .all_needed = true, .most = kLookedAt}, any};
}

Candidates::Candidates(const Terms& terms, const MatchOptions& options, const Scope& scope)
    : terms_(terms),
      options_(options),
      counts_holders_(scope.statistics.holders.empty()),
      scope_(scope) {
  scope_.statistics.holders.resize(terms_.size());
}

void Candidates::note_totals(std::int64_t documents, std::int64_t words) {
  if (scope_.is_counted) return;
  scope_.statistics.documents = static_cast<double>(documents);
  scope_.statistics.average_length =
      documents > 0 ? static_cast<double>(words) / static_cast<double>(documents) : 0;
}

bool Candidates::add(std::int64_t key, std::uint32_t length, std::span<const Found> found) {
  if (counts_holders_) {
    for (const Found& one : found) scope_.statistics.holders[one.term] += 1;
  }
  if (options_.filter && !options_.filter(key)) return false;
  const auto begin = static_cast<std::uint32_t>(found_.size());
  found_.insert(found_.end(), found.begin(), found.end());
  rows_.push_back({.key = key,
                   .length = length,
                   .begin = begin,
                   .end = static_cast<std::uint32_t>(found_.size())});
  return true;
}

std::vector<Match> Candidates::ranked() {
  std::vector<double> worth = worths(scope_.statistics);
  for (std::size_t i = 0; i < terms_.size(); ++i) worth[i] *= terms_[i].weight;
  std::vector<Occurrence> occurrences(terms_.size());
  std::vector<Match> matches;
  matches.reserve(rows_.size());
  for (const Row& row : rows_) {
    std::fill(occurrences.begin(), occurrences.end(), Occurrence{});
    for (std::uint32_t i = row.begin; i < row.end; ++i) {
      occurrences[found_[i].term] = found_[i].occurrence;
    }
    matches.push_back({.key = row.key,
                       .score = bm25(occurrences, worth, row.length,
                                     scope_.statistics.average_length, options_.context_weight)});
  }
  const auto better = [](const Match& a, const Match& b) {
    return a.score != b.score ? a.score > b.score : a.key > b.key;
  };
  std::sort(matches.begin(), matches.end(), better);
  // Found in one way and again in another.
  const auto same = [](const Match& a, const Match& b) { return a.key == b.key; };
  matches.erase(std::unique(matches.begin(), matches.end(), same), matches.end());
  if (matches.size() > options_.limit) matches.resize(options_.limit);
  return matches;
}

std::string tag_word(std::string_view tag) {
  std::string word = "#";
  // A server takes no text that is none.
  const bool is_kept = tag.size() <= kTagBytesMax && is_utf8(tag);
  word += is_kept ? std::string(tag) : "sha256:" + sha256_hex(tag);
  // White space and control characters would end a word.
  for (char& c : word) {
    if (static_cast<unsigned char>(c) <= ' ') c = '_';
  }
  return word;
}

}  // namespace quipu::search
