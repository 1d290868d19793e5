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

// The server chooses these by which terms they have; then they are ranked by counts.
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
        find_(
            "SELECT key, (SELECT coalesce(sum(t.worth), 0) FROM unnest(CAST($2 AS"
            " text)::text[]::tsquery[], CAST($3 AS text)::bigint[]) AS t(one, worth)"
            " WHERE words @@ t.one)::bigint FROM @" +
            name_ +
            " WHERE words @@ CAST($1 AS text)::tsquery AND key < $4 ORDER BY key DESC LIMIT $5"),
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
      TRY_ASSIGN(const auto keys,
                 find(engine, terms, choice, narrow + refused(query), options, scope));
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

  // Keys of the documents to be ranked: those whose terms are worth most, newest of equals.
  Result<std::vector<std::int64_t>> find(sql::Engine& engine, const Terms& terms,
                                         const Choice& choice, const std::string& narrow,
                                         const MatchOptions& options, const Scope& scope) const {
    std::vector<std::string> finding;
    std::vector<std::string> queries;
    std::vector<std::string> worth_texts;
    const std::vector<double> worth = worths(scope.statistics);
    for (const std::size_t term : choice.finding) finding.push_back(term_query(terms[term]));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      queries.push_back(term_query(terms[i]));
      worth_texts.push_back(std::to_string(std::llround(worth[i] * 1e6)));
    }
    const std::string all = joined(finding, choice.all_needed ? " & " : " | ") + narrow;
    const std::string ones = array_text(queries);
    const std::string worths = array_text(worth_texts);
    const auto most = static_cast<std::size_t>(choice.most);
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // worth, key
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    // The filter is ours: until enough have passed it, or there are no more.
    for (std::int64_t seen = choice.most; seen == choice.most && found.size() < most;) {
      const sql::Param params[] = {all, ones, worths, below, choice.most};
      TRY_ASSIGN(const auto rows, engine.ask(find_.c_str(), params));
      for (seen = 0; found.size() < most; ++seen) {
        TRY_ASSIGN(const bool more, rows->next());
        if (!more) break;
        below = rows->integer(0);
        if (!options.filter || options.filter(below)) found.emplace_back(rows->integer(1), below);
      }
    }
    const std::size_t count = std::min(found.size(), std::max(kRanked, options.limit));
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end(), std::greater<>());
    std::vector<std::int64_t> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(found[i].second);
    return keys;
  }

  Result<void> read(sql::Engine& engine, const Terms& terms, std::span<const std::int64_t> keys,
                    Candidates& candidates) const {
    std::vector<std::string> key_texts;
    for (const std::int64_t key : keys) key_texts.push_back(std::to_string(key));
    const Lexemes lexemes(terms);
    const std::string wanted = array_text(key_texts);
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
      holders_, find_, read_;
};

}  // namespace

std::unique_ptr<TextIndex> tsvector_index(std::string name) {
  return std::make_unique<TsvectorIndex>(std::move(name));
}

}  // namespace quipu::search
