#include "search/tsvector_text.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "search/analyser.h"

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

struct Place {
  std::uint32_t at = 0;
  bool is_context = false;

  auto operator<=>(const Place&) const = default;
};

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
    if (is_new) order_.push_back(&at->first);
    at->second.push_back({.at = place_, .is_context = is_context_});
    return true;
  }

  std::uint32_t length() const { return length_; }

  std::string text(bool with_places) const {
    std::string out;
    for (const std::string* word : order_) {
      if (out.size() + word->size() > kBytesMax) break;
      if (!out.empty()) out += ' ';
      append_quoted(out, *word);
      if (with_places) append_places(out, places_.at(*word));
    }
    return out;
  }

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
  std::unordered_map<std::string, std::vector<Place>> places_;
  std::vector<const std::string*> order_;
};

std::vector<Place> read_places(std::string_view numbers, std::string_view labels) {
  std::vector<Place> places;
  while (!numbers.empty()) {
    const std::size_t comma = std::min(numbers.find(','), numbers.size());
    Place place;
    std::from_chars(numbers.data(), numbers.data() + comma, place.at);
    place.is_context = places.size() < labels.size() && labels[places.size()] == 'B';
    places.push_back(place);
    numbers.remove_prefix(std::min(comma + 1, numbers.size()));
  }
  return places;
}

using WordPlaces = std::vector<std::pair<std::string_view, std::vector<Place>>>;

WordPlaces read_words(std::string_view lines) {
  WordPlaces words;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) continue;
    auto places = read_places(line.substr(first + 1, second - first - 1), line.substr(second + 1));
    // Known to be there, not where.
    if (places.empty()) places.push_back({.at = kPlaceMax});
    words.emplace_back(line.substr(0, first), std::move(places));
  }
  return words;
}

std::set<Place> places_of(const WordPlaces& words, const Term& term, std::size_t nth) {
  std::set<Place> places;
  for (const auto& [word, own] : words) {
    if (term.has(nth, word)) places.insert(own.begin(), own.end());
  }
  return places;
}

Occurrence occurrence_of(const Term& term, const WordPlaces& words) {
  const std::size_t count = term.tokens.size();
  std::set<Place> ends = places_of(words, term, 0);
  for (std::size_t i = 1; i < count && !ends.empty(); ++i) {
    const std::set<Place> here = places_of(words, term, i);
    std::set<Place> next;
    for (const Place& place : ends) {
      const Place follower{.at = place.at + 1, .is_context = place.is_context};
      if (here.contains(follower)) next.insert(follower);
    }
    ends = std::move(next);
  }
  Occurrence occurrence;
  for (const Place& place : ends) ++(place.is_context ? occurrence.in_context : occurrence.in_text);
  return occurrence;
}

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
  return {.words = tags + text, .length = words.length()};
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

Lexemes::Lexemes(const Terms& terms) : terms_(terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::vector<std::string>& tokens = terms[i].tokens;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const bool is_prefix = terms[i].is_prefix && k + 1 == tokens.size();
      (is_prefix ? prefixes_ : words_).push_back(tokens[k]);
    }
    words_.insert(words_.end(), terms[i].stems.begin(), terms[i].stems.end());
  }
}

std::vector<Found> Lexemes::found_in(std::string_view places) const {
  const WordPlaces words = read_words(places);
  std::vector<Found> found;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].tokens.empty()) continue;
    const Occurrence occurrence = occurrence_of(terms_[i], words);
    if (occurrence.in_text + occurrence.in_context == 0) continue;
    found.push_back({.term = static_cast<std::uint32_t>(i), .occurrence = occurrence});
  }
  return found;
}

}  // namespace quipu::search
