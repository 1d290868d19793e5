#include <algorithm>
#include <optional>

#include "base/try.h"
#include "search/analyser.h"
#include "search/candidates.h"
#include "search/text_index.h"
#include "sql/fts5.h"

namespace quipu::search {
namespace {

// At the beginning of a text that is to be cut at spaces and nothing else: tags. A text of
// somebody else never begins so (`add` sees to that).
constexpr char kAsItIs = '\x01';

// FTS5 collects postings in memory before it writes them: fewer and larger pieces are merged
// less often.
constexpr int kCollectedBytes = 16 << 20;

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

// A MATCH expression, and which term each of its phrases is.
class Expression {
 public:
  /// The same phrase may be there twice, and a term may have several.
  struct Phrase {
    int term = -1;  // negative: none
    std::size_t form = 0;

    bool operator==(const Phrase&) const = default;
  };

  explicit Expression(const Terms& terms) : terms_(terms) {}

  void add(std::string_view words) { text_ += words; }

  void add_term(std::size_t term) { add_forms(terms_[term], static_cast<int>(term)); }
  void add_terms(std::span<const std::size_t> terms, std::string_view joined_by) {
    text_ += '(';
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) text_ += joined_by;
      add_term(terms[i]);
    }
    text_ += ')';
  }
  void add_refused(std::span<const Term> terms) {
    if (terms.empty()) return;
    text_ += " NOT (";
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) text_ += " OR ";
      add_forms(terms[i], -1);
    }
    text_ += ')';
  }
  /// Everything that narrows a search; empty when nothing does.
  void add_tags(const MatchOptions& options) {
    std::string_view before;
    for (const std::string& tag : options.tags) {
      add(before);
      add_any_tag({&tag, 1});
      before = " AND ";
    }
    for (const auto& group : options.any_tags) {
      add(before);
      add_any_tag(group);
      before = " AND ";
    }
  }

  const std::string& text() const { return text_; }
  Phrase phrase(std::uint32_t number) const {
    return number < phrases_.size() ? phrases_[number] : Phrase();
  }

 private:
  // As it is, and with each of the stems in the place of its last token.
  void add_forms(const Term& term, int number) {
    text_ += '(';
    add_phrase(term.tokens, term.is_prefix, {.term = number, .form = 0});
    std::vector<std::string> tokens = term.tokens;
    for (std::size_t i = 0; i < term.stems.size(); ++i) {
      text_ += " OR ";
      tokens.back() = term.stems[i];
      add_phrase(tokens, false, {.term = number, .form = i + 1});
    }
    text_ += ')';
  }
  void add_phrase(std::span<const std::string> tokens, bool is_prefix, const Phrase& phrase) {
    std::string words;
    for (const std::string& token : tokens) {
      if (!words.empty()) words += ' ';
      words += token;
    }
    append_quoted(text_, words);
    if (is_prefix) text_ += " *";
    phrases_.push_back(phrase);
  }
  void add_any_tag(std::span<const std::string> tags) {
    text_ += '(';
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (i > 0) text_ += " OR ";
      const std::string tag = tag_word(tags[i]);
      add_phrase({&tag, 1}, false, {});
    }
    text_ += ')';
  }

  const Terms& terms_;
  std::string text_;
  std::vector<Phrase> phrases_;
};

class Fts5Index : public TextIndex {
 public:
  explicit Fts5Index(std::string name)
      : name_(std::move(name)),
        add_("INSERT INTO " + name_ + "(rowid, text, context, tags) VALUES ($1, $2, $3, $4)"),
        remove_("INSERT INTO " + name_ + "(" + name_ +
                ", rowid, text, context, tags) VALUES ('delete', $1, $2, $3, $4)"),
        clear_("INSERT INTO " + name_ + "(" + name_ + ") VALUES ('delete-all')"),
        purge_("INSERT INTO " + name_ + "(" + name_ + ") VALUES ('optimize')"),
        count_("SELECT count(*), min(rowid) FROM (SELECT rowid FROM " + name_ + " WHERE " + name_ +
               " MATCH $1 ORDER BY rowid DESC LIMIT $2)"),
        ends_("SELECT (SELECT min(id) FROM " + name_ + "_docsize), (SELECT max(id) FROM " + name_ +
              "_docsize)"),
        tally_("SELECT rowid, tally(" + name_ + ") FROM " + name_ + " WHERE " + name_ +
               " MATCH $1 ORDER BY rowid DESC LIMIT $2") {}

  std::vector<std::string> creation() const override {
    return {"CREATE VIRTUAL TABLE " + name_ +
                " USING fts5(text, context, tags, content='', tokenize='quipu')",
            "INSERT INTO " + name_ + "(" + name_ + ", rank) VALUES ('hashsize', " +
                std::to_string(kCollectedBytes) + ")"};
  }
  std::vector<std::string> removal() const override { return {"DROP TABLE IF EXISTS " + name_}; }

  void add(std::span<const Document> documents, Writes& into) const override {
    write(add_, documents, into);
  }
  void remove(std::span<const Document> documents, Writes& into) const override {
    write(remove_, documents, into);
  }
  void clear(Writes& into) const override { into.commands.push_back({.text = clear_.c_str()}); }
  void purge(Writes& into) const override { into.commands.push_back({.text = purge_.c_str()}); }

  Result<std::vector<Match>> match(sql::Engine& engine, const Query& query,
                                   const MatchOptions& options) const override {
    Terms terms(query);
    if (terms.size() == 0) return std::vector<Match>();
    TRY_ASSIGN(Scope scope, look_at_scope(engine, options));
    if (scope.is_counted && scope.statistics.documents == 0) return std::vector<Match>();
    if (!scope.is_counted) TRY(count_holders(engine, terms, scope));
    Candidates candidates(terms, options, scope);
    for (const Choice& choice : choose(terms, scope)) {
      TRY(collect(engine, query, terms, choice, options, candidates));
      if (candidates.size() >= options.limit) break;
    }
    return candidates.ranked();
  }

 private:
  void write(const std::string& text, std::span<const Document> documents, Writes& into) const {
    for (const Document& document : documents) {
      into.texts.emplace_back(1, kAsItIs);
      for (const std::string& tag : document.tags) {
        into.texts.back() += tag_word(tag);
        into.texts.back() += ' ';
      }
      const std::string& tags = into.texts.back();
      into.commands.push_back(
          {.text = text.c_str(),
           .params = {document.key, as_text(document.text), as_text(document.context), tags}});
    }
  }

  static std::string_view as_text(std::string_view text) {
    const std::size_t from = text.find_first_not_of(kAsItIs);
    return from == std::string_view::npos ? std::string_view() : text.substr(from);
  }

  // How many documents have the tags, and how long they are: by counting, if they are few.
  Result<Scope> look_at_scope(sql::Engine& engine, const MatchOptions& options) const {
    Scope scope;
    const Terms none;
    Expression expression(none);
    expression.add_tags(options);
    if (expression.text().empty()) return scope;
    const sql::Param params[] = {expression.text(), kCounted + 1};
    TRY_ASSIGN(const auto rows, engine.ask(tally_.c_str(), params));
    sql::Tally tally;
    double words = 0;
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      if (!sql::read_tally(rows->text(1), tally)) return bad_tally();
      scope.statistics.documents += 1;
      words += tally.row_words;
    }
    scope.is_counted = scope.statistics.documents <= kCounted;
    if (scope.is_counted) {
      scope.statistics.average_length = words / std::max(scope.statistics.documents, 1.0);
    }
    return scope;
  }

  // In the whole index. What is not counted to the end is estimated by how near the newest
  // documents are to each other.
  Result<void> count_holders(sql::Engine& engine, const Terms& terms, Scope& scope) const {
    scope.statistics.holders.assign(terms.size(), 0);
    TRY_ASSIGN(const auto ends, key_range(engine));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Expression expression(terms);
      expression.add("(");
      expression.add_term(i);
      expression.add(")");
      const sql::Param params[] = {expression.text(), kCounted + 1};
      TRY_ASSIGN(const auto rows, engine.ask(count_.c_str(), params));
      TRY_ASSIGN(const bool found, rows->next());
      double holders = found ? static_cast<double>(rows->integer(0)) : 0;
      if (holders > kCounted) {
        const auto seen = static_cast<double>(ends.second - rows->integer(1) + 1);
        holders *= static_cast<double>(ends.second - ends.first + 1) / std::max(seen, 1.0);
      }
      scope.statistics.holders[i] = holders;
    }
    return {};
  }

  Result<std::pair<std::int64_t, std::int64_t>> key_range(sql::Engine& engine) const {
    TRY_ASSIGN(const auto rows, engine.ask(ends_.c_str()));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return std::pair<std::int64_t, std::int64_t>(0, 0);
    return std::pair(rows->integer(0), rows->integer(1));
  }

  Result<void> collect(sql::Engine& engine, const Query& query, const Terms& terms,
                       const Choice& choice, const MatchOptions& options,
                       Candidates& candidates) const {
    Expression expression(terms);
    const std::string_view joined_by = choice.all_needed ? " AND " : " OR ";
    expression.add("(");
    expression.add_terms(choice.finding, joined_by);
    if (!choice.scoring.empty()) {
      // Finds the same documents, and says of the other terms where they are.
      expression.add(" OR (");
      expression.add_terms(choice.finding, joined_by);
      expression.add(" AND ");
      expression.add_terms(choice.scoring, " OR ");
      expression.add(")");
    }
    expression.add(")");
    if (!options.tags.empty() || !options.any_tags.empty()) {
      expression.add(" AND ");
      expression.add_tags(options);
    }
    expression.add_refused(query.none);
    return collect(engine, expression, choice.most, candidates);
  }

  Result<void> collect(sql::Engine& engine, const Expression& expression, std::int64_t most,
                       Candidates& candidates) const {
    const sql::Param params[] = {expression.text(), std::int64_t{-1}};
    TRY_ASSIGN(const auto rows, engine.ask(tally_.c_str(), params));
    sql::Tally tally;
    std::vector<Found> found;
    std::vector<Expression::Phrase> counted;
    while (most > 0) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      if (!sql::read_tally(rows->text(1), tally)) return bad_tally();
      candidates.note_totals(tally.rows, tally.words);
      found.clear();
      counted.clear();
      for (const sql::PhraseTally& tallied : tally.phrases) {
        const Expression::Phrase phrase = expression.phrase(tallied.phrase);
        if (phrase.term < 0 || std::ranges::find(counted, phrase) != counted.end()) continue;
        counted.push_back(phrase);
        const auto term = static_cast<std::uint32_t>(phrase.term);
        auto one = std::ranges::find(found, term, &Found::term);
        if (one == found.end()) one = found.insert(found.end(), {.term = term});
        one->occurrence.in_text += tallied.first;
        one->occurrence.in_context += tallied.second;
      }
      if (candidates.add(rows->integer(0), tally.row_words, found)) --most;
    }
    return {};
  }

  static Error bad_tally() { return {Code::kCorrupt, "sqlite: the text index is damaged"}; }

  const std::string name_;
  const std::string add_, remove_, clear_, purge_, count_, ends_, tally_;
};

// Documents as the analyser cuts them, tags and the phrases of expressions at their spaces.
class SearchTokenizer : public sql::Tokenizer {
 public:
  void tokenize(std::string_view text, bool is_query, const Sink& sink) const override {
    if (text.starts_with(kAsItIs)) {
      cut_at_spaces(text.substr(1), 1, sink);
    } else if (is_query) {
      cut_at_spaces(text, 0, sink);
    } else {
      struct Passing : TokenSink {
        explicit Passing(const Sink& to) : sink(to) {}
        bool take(const Token& token) override {
          return sink({.text = token.text,
                       .begin = token.begin,
                       .end = token.end,
                       .same_place = token.same_place});
        }
        const Sink& sink;
      } passing(sink);
      analyse(text, passing);
    }
  }

 private:
  static void cut_at_spaces(std::string_view text, std::size_t offset, const Sink& sink) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (end > at && !sink({.text = text.substr(at, end - at),
                             .begin = offset + at,
                             .end = offset + end,
                             .same_place = false})) {
        return;
      }
      at = end + 1;
    }
  }
};

}  // namespace

std::unique_ptr<TextIndex> fts5_index(std::string name) {
  return std::make_unique<Fts5Index>(std::move(name));
}

std::shared_ptr<const sql::Tokenizer> tokenizer() {
  static const auto tokenizer = std::make_shared<const SearchTokenizer>();
  return tokenizer;
}

}  // namespace quipu::search
