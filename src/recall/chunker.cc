#include "recall/chunker.h"

#include <algorithm>

#include "base/json_text.h"

namespace quipu::recall {
namespace {

// What is longer is no word: data, or a language that we do not know. Counted as several.
constexpr std::size_t kWordBytesMax = 32;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

// Bytes that are no UTF-8 are characters of their own.
Character character_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {.code = first, .bytes = 1};
  const std::size_t bytes = json::utf8_length(text.data() + at, text.data() + text.size());
  if (bytes == 0) return {.code = 0xfffd, .bytes = 1};
  char32_t code = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
  }
  return {.code = code, .bytes = bytes};
}

// Written without spaces: Han and kana. Korean has them.
bool is_half_a_word(char32_t code) {
  return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) ||
         (code >= 0xf900 && code <= 0xfaff) || (code >= 0x20000 && code <= 0x3ffff);
}

bool is_wide_stop(char32_t code) {
  return code == 0x3002 || code == 0xff01 || code == 0xff1f || code == 0xff0e;
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Unit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t words = 0;
  bool starts_paragraph = false;
  bool is_heading = false;
  std::size_t section = 0;  // of Outline::paths
};

// The end of the line that begins here, its line feed included.
std::size_t line_end(std::string_view text, std::size_t at) {
  const std::size_t feed = text.find('\n', at);
  return feed == std::string_view::npos ? text.size() : feed + 1;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

// The level of a heading with #; 0: none.
std::size_t heading_level(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level <= 6 && level < line.size() && line[level] == ' ' ? level : 0;
}

// The level of the heading that a line like this makes of the one before it; 0: none.
std::size_t underline_level(std::string_view line) {
  if (line.size() < 3) return 0;
  if (line.find_first_not_of('=') == std::string_view::npos) return 1;
  return line.find_first_not_of('-') == std::string_view::npos ? 2 : 0;
}

bool is_fence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

bool is_list_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) return true;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < 4 && line.substr(digits).starts_with(". ");
}

// A text taken apart: units in order, and the headings that they are below.
class Outline {
 public:
  explicit Outline(std::string_view text) : text_(text) { read(); }

  const std::vector<Unit>& units() const { return units_; }
  const std::string& path(const Unit& unit) const { return paths_[unit.section]; }

 private:
  void read() {
    bool is_fenced = false;
    Range paragraph;  // the lines of it so far; empty: none
    const auto end_paragraph = [&] {
      if (paragraph.end > paragraph.begin) add_sentences(paragraph);
      paragraph = {};
    };
    for (std::size_t at = 0; at < text_.size();) {
      const Range line{.begin = at, .end = line_end(text_, at)};
      const std::string_view words = trimmed(text_.substr(at, line.end - at));
      at = line.end;
      if (is_fence(words) || is_fenced) {
        end_paragraph();
        if (is_fence(words)) {
          is_fenced = !is_fenced;
          after_gap_ = after_gap_ || is_fenced;
        }
        add(line);
      } else if (words.empty()) {
        end_paragraph();
        after_gap_ = true;
      } else if (const std::size_t level = heading_level(words)) {
        end_paragraph();
        add_heading(line, level, trimmed(words.substr(level)));
      } else if (const std::size_t under = underline_level(words); under > 0 && paragraph.end > 0) {
        const std::string_view title =
            trimmed(text_.substr(paragraph.begin, paragraph.end - paragraph.begin));
        add_heading({.begin = paragraph.begin, .end = line.end}, under, title);
        paragraph = {};
      } else {
        if (is_list_item(words)) end_paragraph();
        if (paragraph.end == 0) paragraph.begin = line.begin;
        paragraph.end = line.end;
      }
    }
    end_paragraph();
  }

  void add_heading(Range range, std::size_t level, std::string_view title) {
    while (!open_.empty() && open_.back().level >= level) open_.pop_back();
    while (title.ends_with('#')) title.remove_suffix(1);
    title = trimmed(title);
    // A long one is a paragraph that somebody underlined.
    constexpr std::size_t kTitleBytesMax = 200;
    if (title.size() <= kTitleBytesMax) open_.push_back({.level = level, .title = title});
    std::string path;
    for (const Heading& heading : open_) {
      if (!path.empty()) path += " > ";
      path += heading.title;
    }
    paths_.push_back(std::move(path));
    after_gap_ = true;
    add(range);
    units_.back().is_heading = true;
  }

  // Sentences end with a full stop and a space, or with a wide stop.
  void add_sentences(Range paragraph) {
    std::size_t begin = paragraph.begin;
    for (std::size_t at = begin; at < paragraph.end;) {
      const Character c = character_at(text_, at);
      at += c.bytes;
      const bool is_stop = c.code == '.' || c.code == '!' || c.code == '?';
      const bool ends =
          (is_stop && at < paragraph.end && is_blank(text_[at])) || is_wide_stop(c.code);
      if (!ends) continue;
      while (at < paragraph.end && is_blank(text_[at])) ++at;
      add({.begin = begin, .end = at});
      begin = at;
    }
    if (begin < paragraph.end) add({.begin = begin, .end = paragraph.end});
  }

  // What is too long for a chunk, in pieces.
  void add(Range range) {
    std::size_t begin = range.begin;
    std::size_t halves = 0;  // of words
    bool in_word = false;
    for (std::size_t at = begin; at < range.end;) {
      const Character c = character_at(text_, at);
      const bool is_single = is_half_a_word(c.code);
      const bool is_start = is_single || (!is_blank(text_[at]) && !in_word);
      in_word = !is_single && !is_blank(text_[at]);
      const bool is_full = (is_start && halves >= 2 * kChunkWordsMax) ||
                           at - begin >= kChunkWordsMax * kWordBytesMax;
      if (is_full) {
        push(begin, at, (halves + 1) / 2);
        begin = at;
        halves = 0;
      }
      if (is_start || (is_full && in_word)) halves += is_single ? 1 : 2;
      at += c.bytes;
    }
    push(begin, range.end, (halves + 1) / 2);
  }

  void push(std::size_t begin, std::size_t end, std::size_t words) {
    units_.push_back({.begin = begin,
                      .end = end,
                      .words = std::max(words, (end - begin) / kWordBytesMax),
                      .starts_paragraph = after_gap_,
                      .is_heading = false,
                      .section = paths_.size() - 1});
    after_gap_ = false;
  }

  struct Heading {
    std::size_t level = 0;
    std::string_view title{};
  };

  const std::string_view text_;
  std::vector<Unit> units_;
  std::vector<std::string> paths_{std::string()};
  std::vector<Heading> open_;
  bool after_gap_ = true;
};

// Whether a chunk with so many words should end before this unit.
bool ends_before(const Unit& unit, std::size_t words) {
  if (words + unit.words > kChunkWordsMax) return words > 0;
  if (unit.is_heading) return words >= kChunkWordsMin / 2;
  return unit.starts_paragraph && words >= kChunkWordsMin;
}

// Where the next chunk begins that follows the units up to `end`: it repeats a few.
std::size_t with_overlap(const std::vector<Unit>& units, std::size_t begin, std::size_t end) {
  if (end == units.size() || units[end].is_heading) return end;
  std::size_t words = 0;
  std::size_t from = end;
  while (from > begin + 1 && !units[from - 1].is_heading &&
         words + units[from - 1].words <= kOverlapWords &&
         words + units[from - 1].words + units[end].words <= kChunkWordsMax) {
    words += units[--from].words;
  }
  return from;
}

}  // namespace

std::vector<Chunk> chunks_of(std::string_view text) {
  const Outline outline(text);
  const std::vector<Unit>& units = outline.units();
  std::size_t all_words = 0;
  for (const Unit& unit : units) all_words += unit.words;
  if (all_words <= kChunkWordsMax) return {{.begin = 0, .end = text.size(), .headings = {}}};

  std::vector<Chunk> chunks;
  for (std::size_t begin = 0, fresh = 0; fresh < units.size();) {
    std::size_t words = 0;
    for (std::size_t i = begin; i < fresh; ++i) words += units[i].words;
    std::size_t end = fresh;
    do {
      words += units[end++].words;
    } while (end < units.size() && !ends_before(units[end], words));
    chunks.push_back({.begin = units[begin].begin,
                      .end = units[end - 1].end,
                      .headings = outline.path(units[begin])});
    begin = with_overlap(units, begin, end);
    fresh = end;
  }
  return chunks;
}

}  // namespace quipu::recall
