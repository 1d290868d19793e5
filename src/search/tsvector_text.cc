#include "search/tsvector_text.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "search/analyser.h"
#include "search/word_places.h"

namespace quipu::search {
namespace {

constexpr std::uint32_t kPlaceMax = 16383;
constexpr std::size_t kPlacesOfAWordMax = 255;
// The server's limit is a MiB of its own form, which is smaller than ours.
constexpr std::size_t kBytesMax = 1000 << 10;
// Between text and context, so that no phrase goes over.
constexpr std::uint32_t kGap = 16;

void append_quoted(std::string& to, std::string_view word) {
  to += '\'';
  for (const char c : word) {
    if (c == '\'' || c == '\\') to += c;
    to += c;
  }
  to += '\'';
}

// The words of a document and where they are.
class Words : public TokenSink {
 public:
  void take_all(std::string_view text, bool is_context) {
    is_context_ = is_context;
    if (is_context) place_ += kGap;
    analyse(text, *this);
  }

  bool take(const Token& token) override {
    if (!token.same_place || length_ == 0) {
      ++place_;
      ++length_;
    }
    const auto [at, is_new] = places_.try_emplace(std::string(token.text));
    if (is_new) order_.push_back(&*at);
    const Place place{.at = place_, .is_context = is_context_};
    if (is_new || at->second.back() != place) at->second.push_back(place);
    return true;
  }

  std::uint32_t length() const { return length_; }

  std::string text(bool with_places) const {
    std::string out;
    for (const auto* one : order_) {
      const auto& [word, places] = *one;
      if (out.size() + word.size() > kBytesMax) break;
      if (!out.empty()) out += ' ';
      append_quoted(out, word);
      if (with_places) append_places(out, places);
    }
    return out;
  }
  std::string places() const { return word_places(places_); }

 private:
  static void append_places(std::string& out, const std::vector<Place>& places) {
    const std::size_t count = std::min(places.size(), kPlacesOfAWordMax);
    for (std::size_t i = 0; i < count; ++i) {
      out += i == 0 ? ':' : ',';
      out += std::to_string(std::min(places[i].at, kPlaceMax));
      out += places[i].is_context ? 'B' : 'A';
    }
  }

  bool is_context_ = false;
  std::uint32_t place_ = 0;
  std::uint32_t length_ = 0;
  std::map<std::string, std::vector<Place>> places_;
  std::vector<const std::pair<const std::string, std::vector<Place>>*> order_;
};

}  // namespace

TsvectorText tsvector_text(const Document& document) {
  Words words;
  words.take_all(document.text, false);
  words.take_all(document.context, true);
  std::string tags;
  for (const std::string& tag : document.tags) {
    append_quoted(tags, tag_word(tag));
    tags += ' ';
  }
  std::string text = words.text(true);
  if (text.size() > kBytesMax / 2) text = words.text(false);
  return {.words = tags + text, .places = words.places(), .length = words.length()};
}

std::string term_query(const Term& term) {
  std::string query;
  for (std::size_t i = 0; i < term.tokens.size(); ++i) {
    if (i > 0) query += " <-> ";
    const bool is_last = i + 1 == term.tokens.size();
    if (is_last && !term.stems.empty()) query += '(';
    append_quoted(query, term.tokens[i]);
    if (is_last && term.is_prefix) query += ":*";
  }
  for (const std::string& stem : term.stems) {
    query += " | ";
    append_quoted(query, stem);
  }
  if (!term.stems.empty()) query += ')';
  return term.tokens.size() > 1 ? "(" + query + ")" : query;
}

std::string joined(std::span<const std::string> queries, std::string_view by) {
  std::string all = "(";
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (i > 0) all += by;
    all += queries[i];
  }
  return all + ")";
}

std::string tag_query(const MatchOptions& options) {
  std::string query;
  const auto quoted = [](const std::string& tag) {
    std::string text;
    append_quoted(text, tag_word(tag));
    return text;
  };
  for (const std::string& tag : options.tags) query += " & " + quoted(tag);
  for (const auto& group : options.any_tags) {
    std::vector<std::string> tags;
    for (const std::string& tag : group) tags.push_back(quoted(tag));
    query += " & " + joined(tags, " | ");
  }
  return query;
}

std::string refused(const Query& query) {
  if (query.none.empty()) return {};
  std::vector<std::string> terms;
  for (const Term& term : query.none) terms.push_back(term_query(term));
  return " & !" + joined(terms, " | ");
}

std::string array_text(std::span<const std::string> elements) {
  std::string text = "{";
  for (const std::string& element : elements) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

}  // namespace quipu::search
