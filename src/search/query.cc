#include "search/query.h"

#include <algorithm>
#include <optional>
#include <set>

#include "search/analyser.h"
#include "search/characters.h"
#include "search/stemmer.h"

namespace quipu::search {
namespace {

// A name in full, or a hump, beside the words that ask for the same: at its full weight it would
// drown the other words of the question. Measured (docs/search.md).
constexpr double kOtherFormWeight = 0.25;

constexpr std::string_view kWideSpace = "\u3000";

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Endings that the stemmer takes off, so that what is typed may stop in the middle of one, and how
// many letters of it must be there: some are taken off words so short that one letter would
// make other words of them (perf is no perful). Not -ing: what ends with -in is a word by itself.
struct Ending {
  std::string_view text;
  std::size_t least = 1;
};
constexpr Ending kEndings[] = {
    {"ability"},  {"able"},   {"al"},         {"ance"},  {"ant"},     {"ate"},       {"ation"},
    {"ator"},     {"ed"},     {"ement"},      {"ence"},  {"ent"},     {"er"},        {"es"},
    {"ibility"},  {"ible"},   {"ic"},         {"ical"},  {"ies"},     {"ion"},       {"ism"},
    {"ity"},      {"ive"},    {"ization"},    {"ize"},   {"izer"},    {"ment"},      {"ous"},
    {"ative", 2}, {"ful", 2}, {"iveness", 2}, {"ly", 2}, {"ness", 2}, {"ousness", 2}};
constexpr std::size_t kStemsMax = 16;

// Stems of words that begin with `word` and do not begin so themselves.
std::vector<std::string> stems_of_beginning(const std::string& word) {
  std::set<std::string> stems;
  const auto note = [&](std::string whole) {
    whole.resize(stem(whole));
    if (!whole.starts_with(word) && stems.size() < kStemsMax) stems.insert(std::move(whole));
  };
  note(word);
  for (const Ending& ending : kEndings) {
    for (std::size_t there = ending.least; there < ending.text.size(); ++there) {
      if (!word.ends_with(ending.text.substr(0, there))) continue;
      note(word + std::string(ending.text.substr(there)));
    }
  }
  return {stems.begin(), stems.end()};
}

// `written` in small letters; nothing when it has others than those of the stemmer.
std::optional<std::string> stemmable(std::string_view written) {
  std::string word(written);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c < 'a' || c > 'z') return std::nullopt;
  }
  if (word.size() > kTokenBytesMax) return std::nullopt;
  return word;
}

// As people count them: a name is one, and so are two characters of a script without spaces.
std::size_t words_in(std::string_view chunk) {
  std::size_t pairs = 0;
  bool has_letters = false;
  Characters characters(chunk);
  Character character;
  for (characters.next(character); character.kind != Kind::kEnd; characters.next(character)) {
    has_letters = has_letters || is_word(character.kind);
    pairs += character.kind == Kind::kPair ? 1 : 0;
  }
  return (has_letters ? 1 : 0) + (pairs == 1 ? 1 : pairs / 2);
}

constexpr std::size_t kQuestionWordsMin = 3;

// The tokens of a piece of the query, as one term.
class PhraseSink : public TokenSink {
 public:
  bool take(const Token& token) override {
    if (!token.same_place) {
      if (tokens.size() == kTermsMax) {
        is_cut = true;
        return false;
      }
      if (tokens.empty()) begin_ = token.begin;
      tokens.emplace_back(token.text);
      last_begin_ = token.begin;
      end_ = token.end;
    } else if (tokens.size() == 1 && name_.empty() && token.begin == begin_) {
      name_ = token.text;
      name_end_ = token.end;
    }
    return true;
  }

  /// All of it as one name, if that is what it is.
  std::optional<std::string> name() const {
    if (tokens.size() < 2 || name_.empty() || name_end_ != end_) return std::nullopt;
    return name_;
  }

  /// The last token in the source.
  std::string_view last_of(std::string_view text) const {
    return text.substr(last_begin_, end_ - last_begin_);
  }

  std::vector<std::string> tokens;
  bool is_cut = false;

 private:
  std::string name_;
  std::size_t begin_ = 0;
  std::size_t last_begin_ = 0;
  std::size_t end_ = 0;
  std::size_t name_end_ = 0;
};

class Parser : public TokenSink {
 public:
  Parser(std::string_view text, std::span<const std::string_view> fields)
      : text_(cut_utf8(text, kQueryBytesMax)), fields_(fields) {
    query_.is_cut = text_.size() < text.size();
  }

  Query parse() {
    while (skip_space()) item();
    query_.is_question = !has_signs_ && words_ >= kQuestionWordsMin && query_.any.size() >= 2;
    if (query_.is_empty()) query_.any = std::move(stop_words_);
    return std::move(query_);
  }

  /// A word of `any`, in whatever form.
  bool take(const Token& token) override {
    const bool is_lone = is_lone_pair_character(token.text);
    if (is_lone && token.same_place) return true;  // the pair before it has it
    Term term{.tokens = {std::string(token.text)},
              .is_prefix = is_lone,
              .weight = token.same_place ? kOtherFormWeight : 1};
    if (is_stop_word(chunk_.substr(token.begin, token.end - token.begin))) {
      // Not a word of the query unless it stays alone, so not counted.
      if (stop_words_.size() < kTermsMax && !is_known(stop_words_, term)) {
        stop_words_.push_back(std::move(term));
      }
    } else {
      add(query_.any, std::move(term));
    }
    return true;
  }

 private:
  bool skip_space() {
    for (;;) {
      if (at_ < text_.size() && is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with(kWideSpace)) {
        at_ += kWideSpace.size();
      } else {
        return at_ < text_.size();
      }
    }
  }

  // Up to the next space.
  std::string_view take_chunk() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           !text_.substr(at_).starts_with(kWideSpace)) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  // What is between quotes; nothing when there is only one.
  std::optional<std::string_view> take_quoted() {
    if (at_ >= text_.size() || text_[at_] != '"') return std::nullopt;
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inner;
  }

  char take_sign() {
    const char sign = text_[at_];
    if (sign != '+' && sign != '-') return '\0';
    if (at_ + 1 == text_.size() || is_space(text_[at_ + 1]) || text_[at_ + 1] == sign) return '\0';
    ++at_;
    return sign;
  }

  void item() {
    if (take_field()) return;
    const char sign = take_sign();
    std::vector<Term>& into = sign == '-' ? query_.none : query_.all;
    if (const auto quoted = take_quoted()) {
      const bool is_prefix = at_ < text_.size() && text_[at_] == '*';
      at_ += is_prefix ? 1 : 0;
      has_signs_ = true;
      add_phrase(into, *quoted, is_prefix);
      return;
    }
    const std::string_view chunk = take_chunk();
    // At the end only: *this* is emphasis.
    const bool is_prefix = chunk.find('*') == chunk.size() - 1;
    if (sign != '\0' || is_prefix) {
      has_signs_ = true;
      add_phrase(sign == '\0' ? query_.any : into, chunk, is_prefix);
    } else {
      chunk_ = chunk;
      words_ += words_in(chunk);
      analyse(chunk, *this);
    }
  }

  // name:value or name:"a value"
  bool take_field() {
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view field : fields_) {
      if (!rest.starts_with(field) || !rest.substr(field.size()).starts_with(':')) continue;
      const std::size_t before = at_;
      at_ += field.size() + 1;
      const auto quoted = take_quoted();
      const std::string_view value = quoted ? *quoted : take_chunk();
      if (!value.empty()) {
        if (query_.fields.size() == kTermsMax) {
          query_.is_cut = true;
        } else {
          query_.fields.emplace_back(field, value);
        }
        return true;
      }
      at_ = before;
    }
    return false;
  }

  // The words of `text` as one term.
  void add_phrase(std::vector<Term>& into, std::string_view text, bool is_prefix) {
    PhraseSink sink;
    analyse(text, sink);
    query_.is_cut |= sink.is_cut;
    if (sink.tokens.empty()) return;
    Term term;
    if (const auto name = sink.name(); name && is_prefix) {
      sink.tokens = {*name};  // src/fs/* means names that begin so
    } else if (const auto word = stemmable(sink.last_of(text)); word && is_prefix) {
      sink.tokens.back() = *word;
      term.stems = stems_of_beginning(*word);
    }
    term.is_prefix = is_prefix || is_lone_pair_character(sink.tokens.back());
    term.tokens = std::move(sink.tokens);
    add(into, std::move(term));
  }

  // Whether it is there; then it has the greater of both weights.
  static bool is_known(std::vector<Term>& terms, const Term& term) {
    for (Term& known : terms) {
      if (known.tokens != term.tokens || known.is_prefix != term.is_prefix) continue;
      known.weight = std::max(known.weight, term.weight);
      return true;
    }
    return false;
  }

  void add(std::vector<Term>& terms, Term term) {
    if (is_known(terms, term)) return;
    if (term_count_ == kTermsMax) {
      query_.is_cut = true;
      return;
    }
    terms.push_back(std::move(term));
    ++term_count_;
  }

  std::string_view text_;
  std::span<const std::string_view> fields_;
  std::size_t at_ = 0;
  std::string_view chunk_;  // whose words are taken
  Query query_;
  std::size_t term_count_ = 0;
  std::size_t words_ = 0;  // as they were typed
  bool has_signs_ = false;
  std::vector<Term> stop_words_;
};

}  // namespace

bool Term::has(std::size_t nth, std::string_view word) const {
  if (!is_prefix || nth + 1 < tokens.size()) return word == tokens[nth];
  return word.starts_with(tokens[nth]) || std::ranges::find(stems, word) != stems.end();
}

Query parse_query(std::string_view text, std::span<const std::string_view> fields) {
  return Parser(text, fields).parse();
}

}  // namespace quipu::search
