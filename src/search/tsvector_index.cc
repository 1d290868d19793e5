#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/try.h"
#include "search/analyser.h"
#include "search/candidates.h"
#include "search/text_index.h"
#include "search/tsvector_text.h"

namespace quipu::search {
namespace {

// So many at least are ranked by where their words are.
constexpr std::size_t kRanked = 500;

class TsvectorIndex : public TextIndex {
 public:
  explicit TsvectorIndex(std::string name)
      : name_(std::move(name)),
        add_one_("INSERT INTO @" + name_ +
                 " (key, words, length) VALUES ($1, CAST($2 AS text)::tsvector, $3)"),
        add_many_("INSERT INTO @" + name_ +
                  " (key, words, length) SELECT k, w::tsvector, l"
                  " FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS r(k, w, l)"),
        remove_one_("DELETE FROM @" + name_ + " WHERE key = $1"),
        remove_many_("DELETE FROM @" + name_ + " WHERE key = ANY($1::bigint[])"),
        clear_("DELETE FROM @" + name_),
        scope_("SELECT count(*), coalesce(sum(length), 0)::bigint FROM (SELECT length FROM @" +
               name_ + " WHERE words @@ CAST($1 AS text)::tsquery LIMIT $2) AS counted"),
        totals_(
            "SELECT count(*), coalesce(sum(length), 0)::bigint, (SELECT reltuples::bigint"
            " FROM pg_class WHERE oid = '@" +
            name_ + "'::regclass) FROM (SELECT length FROM @" + name_ + " LIMIT $1) AS counted"),
        holders_("SELECT (SELECT count(*) FROM (SELECT 1 FROM @" + name_ +
                 " WHERE words @@ q.one::tsquery LIMIT $2) AS counted)"
                 " FROM unnest(CAST($1 AS text)::text[]) WITH ORDINALITY AS q(one, n)"
                 " ORDER BY q.n"),
        find_("SELECT key FROM @" + name_ +
              " WHERE words @@ CAST($1 AS text)::tsquery AND key < $2 ORDER BY key DESC LIMIT $3"),
        // Of the text (and of words without places) and of the context: D, C, B, A.
        estimate_(
            "SELECT key, length, array_to_string(ARRAY(SELECT concat_ws(' ',"
            " ts_rank(ARRAY[1,1,0,1]::real[], words, q.one),"
            " ts_rank(ARRAY[0,0,1,0]::real[], words, q.one))"
            " FROM unnest(CAST($1 AS text)::text[]::tsquery[]) AS q(one)), ' ')"
            " FROM @" +
            name_ + " WHERE key = ANY(CAST($2 AS text)::bigint[])"),
        read_(
            "SELECT key, length, (SELECT string_agg(w.lexeme || ' ' || coalesce("
            "array_to_string(w.positions, ','), '') || ' ' ||"
            " coalesce(array_to_string(w.weights, ''), ''), chr(10)) FROM"
            " unnest(words) AS w WHERE w.lexeme = ANY(CAST($2 AS text)::text[])"
            " OR EXISTS (SELECT 1 FROM unnest(CAST($3 AS text)::text[]) AS b"
            " WHERE starts_with(w.lexeme, b)))"
            " FROM @" +
            name_ + " WHERE key = ANY(CAST($1 AS text)::bigint[])") {}

  std::vector<std::string> creation() const override {
    return {"CREATE TABLE @" + name_ +
                " (key BIGINT NOT NULL PRIMARY KEY, words tsvector NOT NULL,"
                " length BIGINT NOT NULL)",
            "CREATE INDEX " + name_ + "_words ON @" + name_ + " USING gin (words)"};
  }
  std::vector<std::string> removal() const override { return {"DROP TABLE IF EXISTS @" + name_}; }

  void add(std::span<const Document> documents, Writes& into) const override {
    if (documents.empty()) return;
    sql::Command command{.text = {add_one_.c_str(), add_many_.c_str(), "iti"}};
    for (const Document& document : documents) {
      TsvectorText text = tsvector_text(document);
      const std::string& words = into.texts.emplace_back(std::move(text.words));
      command.params.insert(command.params.end(),
                            {sql::Param(document.key), sql::Param(words),
                             sql::Param(static_cast<std::int64_t>(text.length))});
    }
    into.commands.push_back(std::move(command));
  }
  void remove(std::span<const Document> documents, Writes& into) const override {
    if (documents.empty()) return;
    sql::Command command{.text = {remove_one_.c_str(), remove_many_.c_str(), "i"}};
    for (const Document& document : documents) command.params.emplace_back(document.key);
    into.commands.push_back(std::move(command));
  }
  void clear(Writes& into) const override { into.commands.push_back({.text = clear_.c_str()}); }
  void purge(Writes& /*into*/) const override {}  // the server's vacuum does that

  Result<std::vector<Match>> match(sql::Engine& engine, const Query& query,
                                   const MatchOptions& options) const override {
    const Terms terms(query);
    if (terms.size() == 0) return std::vector<Match>();
    const std::string narrow = tag_query(options);
    TRY_ASSIGN(Scope scope, look_at_scope(engine, narrow));
    if (scope.statistics.documents == 0) return std::vector<Match>();
    TRY(count_holders(engine, terms, narrow, scope));
    MatchOptions ranking = options;
    ranking.filter = nullptr;  // asked when they are found
    Candidates candidates(terms, ranking, scope);
    for (const Choice& choice : choose(terms, scope)) {
      TRY_ASSIGN(auto keys, find(engine, terms, choice, narrow + refused(query), options));
      TRY(leave_best(engine, terms, options, scope, keys));
      TRY(read(engine, terms, keys, candidates));
      if (candidates.size() >= options.limit) break;
    }
    return candidates.ranked();
  }

 private:
  Result<Scope> look_at_scope(sql::Engine& engine, const std::string& narrow) const {
    Scope scope;
    if (!narrow.empty()) {
      const std::string query = narrow.substr(3);  // without its " & "
      const sql::Param params[] = {query, kCounted + 1};
      TRY_ASSIGN(const auto rows, engine.ask(scope_.c_str(), params));
      TRY_ASSIGN(const bool found, rows->next());
      if (found && rows->integer(0) <= kCounted) {
        scope.is_counted = true;
        take_totals(scope, rows->integer(0), rows->integer(1), rows->integer(0));
        return scope;
      }
    }
    const sql::Param params[] = {kCounted + 1};
    TRY_ASSIGN(const auto rows, engine.ask(totals_.c_str(), params));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return scope;
    const std::int64_t counted = rows->integer(0);
    // What the server guesses is used only where counting was given up.
    const std::int64_t all = counted > kCounted ? std::max(rows->integer(2), counted) : counted;
    take_totals(scope, counted, rows->integer(1), all);
    return scope;
  }

  static void take_totals(Scope& scope, std::int64_t counted, std::int64_t words,
                          std::int64_t all) {
    scope.statistics.documents = static_cast<double>(all);
    scope.statistics.average_length =
        counted > 0 ? static_cast<double>(words) / static_cast<double>(counted) : 0;
  }

  Result<void> count_holders(sql::Engine& engine, const Terms& terms, const std::string& narrow,
                             Scope& scope) const {
    std::vector<std::string> queries;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      queries.push_back(term_query(terms[i]) + (scope.is_counted ? narrow : ""));
    }
    const std::string all = array_text(queries);
    const sql::Param params[] = {all, kCounted + 1};
    TRY_ASSIGN(const auto rows, engine.ask(holders_.c_str(), params));
    scope.statistics.holders.clear();
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      // Beyond what is counted: how many more is not known, and matters little.
      scope.statistics.holders.push_back(static_cast<double>(rows->integer(0)));
    }
    scope.statistics.holders.resize(terms.size());
    return {};
  }

  // Keys of the documents that match and pass the filter, newest first.
  Result<std::vector<std::int64_t>> find(sql::Engine& engine, const Terms& terms,
                                         const Choice& choice, const std::string& narrow,
                                         const MatchOptions& options) const {
    std::vector<std::string> finding;
    for (const std::size_t term : choice.finding) finding.push_back(term_query(terms[term]));
    const std::string all = joined(finding, choice.all_needed ? " & " : " | ") + narrow;
    const auto most = static_cast<std::size_t>(choice.most);
    std::vector<std::int64_t> found;
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    // The filter is ours: until enough have passed it, or there are no more.
    for (std::int64_t seen = choice.most; seen == choice.most && found.size() < most;) {
      const sql::Param params[] = {all, below, choice.most};
      TRY_ASSIGN(const auto rows, engine.ask(find_.c_str(), params));
      for (seen = 0; found.size() < most; ++seen) {
        TRY_ASSIGN(const bool more, rows->next());
        if (!more) break;
        below = rows->integer(0);
        if (!options.filter || options.filter(below)) found.push_back(below);
      }
    }
    return found;
  }

  // To give out the places of words is what costs. Of many documents those are asked for them that
  // are best by what the server can count itself.
  Result<void> leave_best(sql::Engine& engine, const Terms& terms, const MatchOptions& options,
                          const Scope& scope, std::vector<std::int64_t>& keys) const {
    const std::size_t count = std::max(kRanked, options.limit);
    if (keys.size() <= count) return {};
    std::vector<double> worth = worths(scope.statistics);
    std::vector<std::string> queries;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      queries.push_back(term_query(terms[i]));
      worth[i] *= terms[i].weight;
    }
    const std::string ones = array_text(queries);
    const std::string wanted = array_text(texts_of(keys));
    const sql::Param params[] = {ones, wanted};
    TRY_ASSIGN(const auto rows, engine.ask(estimate_.c_str(), params));
    std::vector<std::pair<double, std::int64_t>> estimated;
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      const auto length = static_cast<double>(rows->integer(1));
      double score = 0;
      std::string_view ranks = rows->text(2);
      for (const double one : worth) {
        const double often = count_of(ranks, options.context_weight);
        score += one * share(often, length, scope.statistics.average_length);
      }
      estimated.emplace_back(score, rows->integer(0));
    }
    const auto end =
        estimated.begin() + static_cast<std::ptrdiff_t>(std::min(count, estimated.size()));
    std::partial_sort(estimated.begin(), end, estimated.end(), std::greater<>());
    keys.clear();
    for (auto one = estimated.begin(); one != end; ++one) keys.push_back(one->second);
    return {};
  }

  // How often a word is in a document, by the next two of the server's ranks. A rank is the
  // sum of 1/n² over all places of the word that count, 1 for the first of them, as part of what
  // the sum would be without end. Those of the context come after those of the text.
  static double count_of(std::string_view& ranks, double context_weight) {
    const double text_rank = next_rank(ranks);
    const double context_rank = next_rank(ranks);
    const double in_text = places_of(text_rank);
    // Words of a phrase that are not all there have a rank that is hardly one.
    if (context_rank < kRankLeast) return in_text;
    const double first = (1 - 1 / ((in_text + 1) * (in_text + 1))) * kPart;
    return in_text + context_weight * (places_of(text_rank + context_rank - first) - in_text);
  }

  static double next_rank(std::string_view& ranks) {
    double rank = 0;
    const std::size_t end = std::min(ranks.find(' '), ranks.size());
    std::from_chars(ranks.data(), ranks.data() + end, rank);
    ranks.remove_prefix(std::min(end + 1, ranks.size()));
    return rank;
  }

  // What is missing of the sum after n places is near 1/(n + ½).
  static double places_of(double rank) {
    return rank < kRankLeast ? 0 : kPart / (1 - std::min(rank, kRankMost)) - 0.5;
  }

  static constexpr double kPart = 0.6079271;  // 6/π²: of one place
  static constexpr double kRankLeast = 1e-9;
  static constexpr double kRankMost = 0.997621;  // of 255 places: more are not kept

  static std::vector<std::string> texts_of(std::span<const std::int64_t> keys) {
    std::vector<std::string> texts;
    for (const std::int64_t key : keys) texts.push_back(std::to_string(key));
    return texts;
  }

  Result<void> read(sql::Engine& engine, const Terms& terms, std::span<const std::int64_t> keys,
                    Candidates& candidates) const {
    const Lexemes lexemes(terms);
    const std::string wanted = array_text(texts_of(keys));
    const std::string words = array_text(lexemes.words());
    const std::string prefixes = array_text(lexemes.prefixes());
    const sql::Param params[] = {wanted, words, prefixes};
    TRY_ASSIGN(const auto rows, engine.ask(read_.c_str(), params));
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) return {};
      candidates.add(rows->integer(0), static_cast<std::uint32_t>(rows->integer(1)),
                     lexemes.found_in(rows->text(2)));
    }
  }

  const std::string name_;
  const std::string add_one_, add_many_, remove_one_, remove_many_, clear_, scope_, totals_,
      holders_, find_, estimate_, read_;
};

}  // namespace

std::unique_ptr<TextIndex> tsvector_index(std::string name) {
  return std::make_unique<TsvectorIndex>(std::move(name));
}

}  // namespace quipu::search
