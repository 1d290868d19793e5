#include <algorithm>
#include <limits>

#include "base/try.h"
#include "search/analyser.h"
#include "search/candidates.h"
#include "search/text_index.h"
#include "search/tsvector_text.h"
#include "search/word_places.h"

namespace quipu::search {
namespace {

// Documents whose places are this short come with their places when they are found, so many at
// once.
constexpr std::int64_t kShortBytes = std::int64_t{8} << 10;
constexpr std::int64_t kFoundAtOnce = 8000;
// Of the others so much is read at once.
constexpr std::int64_t kStretchBytes = std::int64_t{4} << 20;

struct FoundDocument {
  std::int64_t key = 0;
  std::int64_t bytes = 0;  // of its places
};

// Rows of documents that match, on their way to be ranked.
struct Finding {
  const MatchOptions& options;
  TermFinder finder;
  Candidates& candidates;
  std::int64_t last_key = 0;

  void add(std::int64_t key, std::int64_t length, std::string_view places) {
    candidates.add(key, static_cast<std::uint32_t>(length), finder.found_in(places));
  }

  // How many rows were looked at until `most` had passed the filter. Those without places are
  // found.
  Result<std::int64_t> take(sql::Rows& rows, std::int64_t& most,
                            std::vector<FoundDocument>& found) {
    for (std::int64_t seen = 0;; ++seen) {
      if (most == 0) return seen;
      TRY_ASSIGN(const bool more, rows.next());
      if (!more) return seen;
      last_key = rows.integer(0);
      if (options.filter && !options.filter(last_key)) continue;
      --most;
      if (rows.is_null(3)) {
        found.push_back({.key = last_key, .bytes = rows.integer(1)});
      } else {
        add(last_key, rows.integer(2), rows.text(3));
      }
    }
  }
};

std::string keys_text(std::span<const FoundDocument> documents) {
  std::vector<std::string> texts;
  for (const FoundDocument& one : documents) texts.push_back(std::to_string(one.key));
  return array_text(texts);
}

class TsvectorIndex : public TextIndex {
 public:
  explicit TsvectorIndex(std::string name)
      : name_(std::move(name)),
        add_one_("INSERT INTO @" + name_ +
                 " (key, words, places, length) VALUES ($1, CAST($2 AS text)::tsvector, $3, $4)"),
        add_many_("INSERT INTO @" + name_ +
                  " (key, words, places, length) SELECT k, w::tsvector, p, l"
                  " FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::bigint[])"
                  " AS r(k, w, p, l)"),
        remove_one_("DELETE FROM @" + name_ + " WHERE key = $1"),
        remove_many_("DELETE FROM @" + name_ + " WHERE key = ANY($1::bigint[])"),
        clear_("DELETE FROM @" + name_),
        // A query that is given as a text is read once, and not for every row, in a SELECT of
        // its own.
        scope_("SELECT count(*), coalesce(sum(length), 0)::bigint FROM (SELECT length FROM @" +
               name_ + " WHERE words @@ (SELECT CAST($1 AS text)::tsquery) LIMIT $2) AS counted"),
        totals_(
            "SELECT count(*), coalesce(sum(length), 0)::bigint, (SELECT reltuples::bigint"
            " FROM pg_class WHERE oid = '@" +
            name_ + "'::regclass) FROM (SELECT length FROM @" + name_ + " LIMIT $1) AS counted"),
        holders_("SELECT (SELECT count(*) FROM (SELECT 1 FROM @" + name_ +
                 " WHERE words @@ q.one LIMIT $2) AS counted)"
                 " FROM unnest((SELECT CAST($1 AS text)::text[]::tsquery[]))"
                 " WITH ORDINALITY AS q(one, n) ORDER BY q.n"),
        find_(found_columns() + found_rows() + ") AS found"),
        // Found first, and then put in order: a server that does not know how many there are may
        // look through all documents in their order.
        find_newest_(found_columns() + found_rows() +
                     " AND key < $3 OFFSET 0) AS found ORDER BY key DESC LIMIT $4"),
        read_("SELECT key, length, places FROM @" + name_ +
              " WHERE key = ANY((SELECT CAST($1 AS text)::bigint[])::bigint[])") {}

  std::vector<std::string> creation() const override {
    return {"CREATE TABLE @" + name_ +
                " (key BIGINT NOT NULL PRIMARY KEY, words tsvector NOT NULL,"
                " places BYTEA NOT NULL, length BIGINT NOT NULL)",
            // To unpack them takes longer than to read them.
            "ALTER TABLE @" + name_ + " ALTER places SET STORAGE EXTERNAL",
            // What is new is looked through word by word until the server has put it into the
            // index, which it does for so many KiB at once.
            "CREATE INDEX " + name_ + "_words ON @" + name_ +
                " USING gin (words) WITH (gin_pending_list_limit = 128)"};
  }
  std::vector<std::string> removal() const override { return {"DROP TABLE IF EXISTS @" + name_}; }

  void add(std::span<const Document> documents, Writes& into) const override {
    if (documents.empty()) return;
    sql::Command command{.text = {add_one_.c_str(), add_many_.c_str(), "itbi"}};
    for (const Document& document : documents) {
      TsvectorText text = tsvector_text(document);
      const std::string& words = into.texts.emplace_back(std::move(text.words));
      const std::string& places = into.texts.emplace_back(std::move(text.places));
      command.params.insert(command.params.end(),
                            {sql::Param(document.key), sql::Param(words), sql::Param::bytes(places),
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
    Finding finding{.options = options, .finder = TermFinder(terms), .candidates = candidates};
    for (const Choice& choice : choose(terms, scope)) {
      TRY_ASSIGN(auto found, find(engine, expression(terms, choice) + narrow + refused(query),
                                  choice.most, bound_of(choice, scope), finding));
      leave_newest(options, found);
      TRY(read(engine, found, finding));
      if (candidates.size() >= options.limit) break;
    }
    return candidates.ranked();
  }

 private:
  std::string found_columns() const {
    return "SELECT key, octet_length(places)::bigint, length,"
           " CASE WHEN octet_length(places) <= $1 THEN places END";
  }
  std::string found_rows() const {
    return " FROM (SELECT key, length, places FROM @" + name_ +
           " WHERE words @@ (SELECT CAST($2 AS text)::tsquery)";
  }

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

  static std::string expression(const Terms& terms, const Choice& choice) {
    std::vector<std::string> finding;
    for (const std::size_t term : choice.finding) finding.push_back(term_query(terms[term]));
    return joined(finding, choice.all_needed ? " & " : " | ");
  }

  // At most so many documents have any of the terms.
  static double bound_of(const Choice& choice, const Scope& scope) {
    double bound = 0;
    for (const std::size_t term : choice.finding) bound += scope.statistics.holders[term];
    return std::min(bound, scope.statistics.documents);
  }

  // Takes in up to `most` documents that match and pass the filter, the newest, and gives back
  // those that are still to be read.
  Result<std::vector<FoundDocument>> find(sql::Engine& engine, const std::string& query,
                                          std::int64_t most, double bound, Finding& finding) const {
    // The filter is ours: it may refuse nearly all, which are not to be read for that.
    const bool has_filter = static_cast<bool>(finding.options.filter);
    const std::int64_t short_bytes = has_filter ? -1 : kShortBytes;
    const std::int64_t at_once = has_filter ? most : std::min(most, kFoundAtOnce);
    std::vector<FoundDocument> found;
    // To put rows in order costs more than to find them.
    if (bound <= static_cast<double>(at_once)) {
      const sql::Param params[] = {short_bytes, query};
      TRY_ASSIGN(const auto rows, engine.ask(find_.c_str(), params));
      TRY(finding.take(*rows, most, found));
      return found;
    }
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    // Until enough have passed it, or there are no more.
    for (std::int64_t seen = at_once; seen == at_once && most > 0;) {
      const sql::Param params[] = {short_bytes, query, below, at_once};
      TRY_ASSIGN(const auto rows, engine.ask(find_newest_.c_str(), params));
      TRY_ASSIGN(seen, finding.take(*rows, most, found));
      below = finding.last_key;
    }
    return found;
  }

  // What is long takes long to be read: not more of it than the options say, the newest.
  static void leave_newest(const MatchOptions& options, std::vector<FoundDocument>& found) {
    std::sort(found.begin(), found.end(),
              [](const FoundDocument& a, const FoundDocument& b) { return a.key > b.key; });
    std::size_t count = 0;
    for (std::int64_t bytes = 0; count < found.size(); ++count) {
      bytes += found[count].bytes;
      if (bytes > options.read_bytes_max) break;
    }
    found.resize(count);
  }

  Result<void> read(sql::Engine& engine, std::span<const FoundDocument> found,
                    Finding& finding) const {
    while (!found.empty()) {
      std::size_t count = 0;
      for (std::int64_t bytes = 0; count < found.size() && bytes < kStretchBytes; ++count) {
        bytes += found[count].bytes;
      }
      const std::string wanted = keys_text(found.first(count));
      found = found.subspan(count);
      const sql::Param params[] = {wanted};
      TRY_ASSIGN(const auto rows, engine.ask(read_.c_str(), params));
      for (;;) {
        TRY_ASSIGN(const bool more, rows->next());
        if (!more) break;
        finding.add(rows->integer(0), rows->integer(1), rows->text(2));
      }
    }
    return {};
  }

  const std::string name_;
  const std::string add_one_, add_many_, remove_one_, remove_many_, clear_, scope_, totals_,
      holders_, find_, find_newest_, read_;
};

}  // namespace

std::unique_ptr<TextIndex> tsvector_index(std::string name) {
  return std::make_unique<TsvectorIndex>(std::move(name));
}

}  // namespace quipu::search
