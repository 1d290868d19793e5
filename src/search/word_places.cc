#include "search/word_places.h"

#include <algorithm>
#include <optional>

#include "base/varint.h"

namespace quipu::search {
namespace {

// Reads from the front of it.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool is_at_end() const { return left_.empty(); }

  std::optional<std::uint64_t> number() { return take_varint(left_); }

  std::optional<std::string_view> piece() {
    const auto length = number();
    if (!length || *length > left_.size()) return std::nullopt;
    const std::string_view piece = left_.substr(0, *length);
    left_.remove_prefix(*length);
    return piece;
  }

 private:
  std::string_view left_;
};

std::string bytes_of(const std::map<std::string, std::vector<Place>>& words, bool with_places) {
  std::string out(1, with_places ? '\1' : '\0');
  std::string about;
  for (const auto& [word, places] : words) {
    about.clear();
    std::uint64_t last = 0;
    std::uint64_t in_context = 0;
    for (const Place& place : places) {
      in_context += place.is_context ? 1 : 0;
      if (!with_places) continue;
      append_varint(about, (place.at - last) << 1 | (place.is_context ? 1 : 0));
      last = place.at;
    }
    if (!with_places) {
      append_varint(about, places.size() - in_context);
      append_varint(about, in_context);
    }
    append_varint(out, word.size());
    out += word;
    append_varint(out, about.size());
    out += about;
  }
  return out;
}

template <class Take>
void each_place(std::string_view bytes, Take take) {
  Reader reader(bytes);
  std::uint64_t at = 0;
  while (const auto number = reader.number()) {
    at += *number >> 1;
    take(Place{.at = static_cast<std::uint32_t>(at), .is_context = (*number & 1) != 0});
  }
}

void count(Occurrence& occurrence, const Place& place) {
  ++(place.is_context ? occurrence.in_context : occurrence.in_text);
}

Occurrence counts_of(std::string_view bytes) {
  Reader reader(bytes);
  const auto in_text = reader.number();
  const auto in_context = reader.number();
  return {.in_text = static_cast<std::uint32_t>(in_text.value_or(0)),
          .in_context = static_cast<std::uint32_t>(in_context.value_or(0))};
}

void sort_and_thin(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

std::string word_places(const std::map<std::string, std::vector<Place>>& words) {
  std::string bytes = bytes_of(words, true);
  return bytes.size() <= kPlacesBytesMax ? bytes : bytes_of(words, false);
}

TermFinder::TermFinder(const Terms& terms) : terms_(terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::vector<std::string>& tokens = terms[i].tokens;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const bool is_prefix = terms[i].is_prefix && k + 1 == tokens.size();
      (is_prefix ? prefixes_ : asked_).push_back(tokens[k]);
    }
    asked_.insert(asked_.end(), terms[i].stems.begin(), terms[i].stems.end());
  }
  sort_and_thin(asked_);
  sort_and_thin(prefixes_);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Term& term = terms[i];
    const bool is_word = term.tokens.size() == 1 && !term.is_prefix && term.stems.empty();
    const auto at = std::lower_bound(asked_.begin(), asked_.end(), is_word ? term.tokens[0] : "");
    single_.push_back(is_word ? static_cast<std::size_t>(at - asked_.begin()) : kNone);
  }
}

bool TermFinder::begins_asked(std::string_view word) const {
  return std::any_of(prefixes_.begin(), prefixes_.end(),
                     [&](const std::string& prefix) { return word.starts_with(prefix); });
}

// Both lists are in order: one way through them.
void TermFinder::read_words(std::string_view bytes) {
  words_.clear();
  there_.assign(asked_.size(), kNone);
  has_places_ = bytes.starts_with('\1');
  Reader reader(bytes.substr(std::min<std::size_t>(1, bytes.size())));
  for (std::size_t next = 0; !reader.is_at_end();) {
    const auto word = reader.piece();
    const auto places = reader.piece();
    if (!word || !places) return;
    while (next < asked_.size() && asked_[next] < *word) ++next;
    if (next == asked_.size() && prefixes_.empty()) return;
    const bool is_asked = next < asked_.size() && asked_[next] == *word;
    if (is_asked) there_[next] = words_.size();
    if (is_asked || begins_asked(*word)) words_.push_back({.text = *word, .places = *places});
  }
}

std::vector<Place> TermFinder::places_of(const Term& term, std::size_t nth) const {
  std::vector<Place> places;
  for (const Word& word : words_) {
    if (!term.has(nth, word.text)) continue;
    each_place(word.places, [&](const Place& place) { places.push_back(place); });
  }
  // Forms of one word may be at the same place.
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Occurrence TermFinder::occurrence(std::size_t number) const {
  const Term& term = terms_[number];
  Occurrence occurrence;
  if (const std::size_t asked = single_[number]; asked != kNone) {
    if (there_[asked] == kNone) return occurrence;
    const std::string_view places = words_[there_[asked]].places;
    if (!has_places_) return counts_of(places);
    each_place(places, [&](const Place& place) { count(occurrence, place); });
    return occurrence;
  }
  if (!has_places_) {
    // Whether they follow each other is not known.
    if (term.tokens.size() > 1) return occurrence;
    for (const Word& word : words_) {
      if (!term.has(0, word.text)) continue;
      const Occurrence one = counts_of(word.places);
      occurrence.in_text += one.in_text;
      occurrence.in_context += one.in_context;
    }
    return occurrence;
  }
  std::vector<Place> ends = places_of(term, 0);
  for (std::size_t i = 1; i < term.tokens.size() && !ends.empty(); ++i) {
    const std::vector<Place> here = places_of(term, i);
    std::vector<Place> next;
    for (const Place& place : ends) {
      const Place follower{.at = place.at + 1, .is_context = place.is_context};
      if (std::binary_search(here.begin(), here.end(), follower)) next.push_back(follower);
    }
    ends = std::move(next);
  }
  for (const Place& place : ends) count(occurrence, place);
  return occurrence;
}

const std::vector<Found>& TermFinder::found_in(std::string_view bytes) {
  found_.clear();
  read_words(bytes);
  if (words_.empty()) return found_;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Occurrence there = occurrence(i);
    if (there.in_text + there.in_context == 0) continue;
    found_.push_back({.term = static_cast<std::uint32_t>(i), .occurrence = there});
  }
  return found_;
}

}  // namespace quipu::search
