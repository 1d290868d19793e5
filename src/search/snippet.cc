#include "search/snippet.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "base/json_text.h"
#include "search/analyser.h"
#include "search/characters.h"

namespace quipu::search {
namespace {

// Where so many words matched there is a good place among them.
constexpr std::size_t kHitsMax = 4096;
// How far a cut is moved to fall between words.
constexpr std::size_t kWordBytes = 24;

struct Hit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t term = 0;
};

// Several tokens in a row. `state` has bit n when the places up to this one are the first n + 1
// tokens (the Shift-And algorithm).
struct Phrase {
  const Term* term = nullptr;
  std::size_t number = 0;
  std::uint64_t state = 0;
  std::uint64_t state_before = 0;  // at the place before
  std::uint64_t here = 0;          // tokens that this place has
};
static_assert(kTermsMax <= 64, "one bit a token");

// Finds where a text has the terms of a query.
class Matcher : public TokenSink {
 public:
  Matcher(std::string_view text, const Query& query) : text_(text) {
    for (const auto* terms : {&query.any, &query.all}) {
      for (const Term& term : *terms) add(term);
    }
  }

  bool take(const Token& token) override {
    if (const auto word = words_.find(token.text); word != words_.end()) {
      hit(token.begin, token.end, word->second);
    }
    for (const auto& [prefix, number] : prefixes_) {
      if (token.text.starts_with(prefix)) hit(token.begin, prefix_end(prefix, token), number);
    }
    if (!phrases_.empty()) follow_phrases(token);
    return hits_.size() < kHitsMax;
  }

  std::size_t term_count() const { return term_count_; }

  std::vector<Hit> hits() && {
    std::ranges::stable_sort(hits_, {}, &Hit::begin);
    return std::move(hits_);
  }

 private:
  void add(const Term& term) {
    const std::size_t number = term_count_++;
    if (term.tokens.size() > 1) {
      phrases_.push_back({.term = &term, .number = number});
    } else if (!term.tokens.empty() && term.is_prefix) {
      prefixes_.emplace_back(term.tokens[0], number);
      for (const std::string& stem : term.stems) words_.emplace(stem, number);
    } else if (!term.tokens.empty()) {
      words_.emplace(term.tokens[0], number);
    }
  }

  // Of a pair only the character that was asked for.
  std::size_t prefix_end(std::string_view prefix, const Token& token) const {
    if (!is_lone_pair_character(prefix)) return token.end;
    const char* begin = text_.data() + token.begin;
    return token.begin + json::utf8_length(begin, text_.data() + token.end);
  }

  void hit(std::size_t begin, std::size_t end, std::size_t term) {
    hits_.push_back({.begin = begin, .end = end, .term = term});
  }

  void follow_phrases(const Token& token) {
    if (!token.same_place) begins_[++place_ % begins_.size()] = token.begin;
    for (Phrase& phrase : phrases_) {
      if (!token.same_place) {
        phrase.state_before = phrase.state;
        phrase.here = 0;
      }
      const std::size_t size = std::min<std::size_t>(phrase.term->tokens.size(), 64);
      for (std::size_t i = 0; i < size; ++i) {
        if (phrase.term->has(i, token.text)) phrase.here |= std::uint64_t{1} << i;
      }
      phrase.state = ((phrase.state_before << 1) | 1) & phrase.here;
      if ((phrase.state >> (size - 1) & 1) != 0) {
        hit(begins_[(place_ - (size - 1)) % begins_.size()], token.end, phrase.number);
      }
    }
  }

  std::string_view text_;
  std::size_t term_count_ = 0;
  std::unordered_map<std::string_view, std::size_t> words_;
  std::vector<std::pair<std::string_view, std::size_t>> prefixes_;
  std::vector<Phrase> phrases_;
  std::size_t place_ = 64;                // no phrase begins before the first
  std::array<std::size_t, 64> begins_{};  // of the last places
  std::vector<Hit> hits_;
};

// The hits of at most `width` bytes that have most terms, then most hits; the first such group.
std::span<const Hit> densest(std::span<const Hit> hits, std::size_t terms, std::size_t width) {
  std::vector<std::size_t> times(terms);
  std::size_t different = 0;
  std::pair<std::size_t, std::size_t> best;
  std::span<const Hit> group;
  std::size_t from = 0;
  for (std::size_t to = 0; to < hits.size(); ++to) {
    different += times[hits[to].term]++ == 0 ? 1 : 0;
    while (from < to && hits[to].end - hits[from].begin > width) {
      different -= --times[hits[from++].term] == 0 ? 1 : 0;
    }
    const std::pair score(different, to - from + 1);
    if (score > best) {
      best = score;
      group = hits.subspan(from, to - from + 1);
    }
  }
  return group;
}

// The character at `at`: its length, 0 if it is no UTF-8, and whether it is shown as a space.
struct Shown {
  std::size_t bytes = 0;
  bool is_space = false;
};

Shown shown_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {.bytes = 1, .is_space = byte <= ' ' || byte == 0x7F};
  const std::size_t bytes = json::utf8_length(text.data() + at, text.data() + text.size());
  const std::string_view character = text.substr(at, bytes);
  return {
      .bytes = bytes,
      .is_space = character == "\u2028" || character == "\u2029" || character == "\u3000" ||
                  (bytes == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) <= 0xA0)};
}

bool is_space_at(std::string_view text, std::size_t at) { return shown_at(text, at).is_space; }

// Characters have up to three bytes after their first: more are no UTF-8, and stay.
bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A begin at or after `at`, and at most `limit`: of a word if one is near, else of a character.
std::size_t begin_near(std::string_view text, std::size_t at, std::size_t limit) {
  if (at == 0 || is_space_at(text, at - 1)) return at;
  const std::size_t far = std::min(limit, at + kWordBytes);
  for (std::size_t i = at; i < far; ++i) {
    if (is_space_at(text, i)) return i;
  }
  for (int i = 0; i < 3 && at < limit && is_inside_character(text, at); ++i) ++at;
  return at;
}

// An end at or before `at`, and at least `limit`.
std::size_t end_near(std::string_view text, std::size_t at, std::size_t limit) {
  if (at == text.size()) return at;
  const std::size_t far = std::max(limit, at - std::min(at, kWordBytes));
  for (std::size_t i = at; i > far; --i) {
    if (is_space_at(text, i)) return i;
  }
  for (int i = 0; i < 3 && at > limit && is_inside_character(text, at); ++i) --at;
  return at;
}

// `width` bytes with the group in their middle.
Stretch stretch_of(std::string_view text, std::span<const Hit> group, std::size_t width) {
  if (group.empty()) {
    return {.begin = 0, .end = end_near(text, std::min(width, text.size()), 0)};
  }
  const std::size_t group_begin = group.front().begin;
  std::size_t group_end = group_begin;
  for (const Hit& hit : group) group_end = std::max(group_end, hit.end);
  if (group_end - group_begin > width) {  // one word, longer than what is wanted
    return {.begin = group_begin, .end = end_near(text, group_begin + width, group_begin)};
  }
  const std::size_t before = (width - (group_end - group_begin)) / 2;
  std::size_t begin = group_begin - std::min(group_begin, before);
  const std::size_t end = std::min(text.size(), begin + width);
  begin = std::min(begin, end - std::min(end, width));  // all the room at the end of the text
  return {.begin = begin_near(text, begin, group_begin), .end = end_near(text, end, group_end)};
}

// What the hits cover, in order, apart.
std::vector<Stretch> covered(std::span<const Hit> hits) {
  std::vector<Stretch> all;
  for (const Hit& hit : hits) {
    if (!all.empty() && hit.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, hit.end);
    } else {
      all.push_back({.begin = hit.begin, .end = hit.end});
    }
  }
  return all;
}

Snippet show(std::string_view text, Stretch stretch, std::span<const Stretch> marks) {
  Snippet snippet;
  bool is_space_due = false;
  bool is_marked = false;
  for (std::size_t at = stretch.begin; at < stretch.end;) {
    const Shown shown = shown_at(text, at);
    while (!marks.empty() && at >= marks.front().end) {
      marks = marks.subspan(1);
      is_marked = false;
    }
    if (shown.is_space) {
      is_space_due = !snippet.text.empty();
      at += shown.bytes;
      continue;
    }
    if (is_space_due) snippet.text.push_back(' ');
    is_space_due = false;
    if (!is_marked && !marks.empty() && at >= marks.front().begin) {
      snippet.marks.emplace_back(snippet.text.size(), 0);
      is_marked = true;
    }
    snippet.text.append(shown.bytes == 0 ? "\uFFFD" : text.substr(at, shown.bytes));
    if (is_marked) snippet.marks.back().second = snippet.text.size();
    at += std::max<std::size_t>(shown.bytes, 1);
  }
  return snippet;
}

bool has_text(std::string_view text) {
  return !std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

}  // namespace

Snippet make_snippet(std::string_view text, const Query& query, std::size_t width) {
  Matcher matcher(text, query);
  analyse(text, matcher);
  const std::size_t terms = matcher.term_count();
  const std::vector<Hit> hits = std::move(matcher).hits();
  const Stretch stretch = stretch_of(text, densest(hits, terms, width), width);
  Snippet snippet = show(text, stretch, covered(hits));
  snippet.cut_before = has_text(text.substr(0, stretch.begin));
  snippet.cut_after = has_text(text.substr(stretch.end));
  return snippet;
}

}  // namespace quipu::search
