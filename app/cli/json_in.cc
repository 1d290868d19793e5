#include "cli/json_in.h"

#include <charconv>

#include "cli/utf8.h"

namespace quipu::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Reads values one after another; `at_` never passes the end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  bool accept(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  // The text of one value; empty when there is none.
  std::string_view value() {
    skip_space();
    const std::size_t start = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
        ++at_;
      } else if (depth == 0 && (c == ',' || c == ':')) {
        break;
      } else {
        ++at_;
        continue;
      }
      if (depth == 0) break;
    }
    std::string_view taken = text_.substr(start, at_ - start);
    const std::size_t last = taken.find_last_not_of(kSpace);
    return last == std::string_view::npos ? std::string_view() : taken.substr(0, last + 1);
  }

 private:
  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<char32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned value = 0;
  const auto read = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (read.ptr != text.data() + 4) return std::nullopt;
  return static_cast<char32_t>(value);
}

// `text` begins after the `\u`; returns how many bytes were used.
std::size_t append_unicode_escape(std::string& out, std::string_view text) {
  const auto high = hex4(text);
  if (!high) {
    append_utf8(out, 0xFFFD);
    return 0;
  }
  const bool is_high = *high >= 0xD800 && *high < 0xDC00;
  if (is_high && text.substr(4, 2) == "\\u") {
    const auto low = hex4(text.substr(6));
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      append_utf8(out, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
      return 10;
    }
  }
  append_utf8(out, *high >= 0xD800 && *high < 0xE000 ? 0xFFFD : *high);
  return 4;
}

}  // namespace

JsonView::JsonView(std::string_view text) : text_(Cursor(text).value()) {}

JsonView JsonView::member(std::string_view name) const {
  Cursor cursor(text_);
  if (!cursor.accept('{')) return {};
  do {
    const JsonView key(cursor.value());
    if (!key.is_string() || !cursor.accept(':')) return {};
    const JsonView value(cursor.value());
    if (key.string() == name) return value;
  } while (cursor.accept(','));
  return {};
}

std::vector<JsonView> JsonView::elements() const {
  std::vector<JsonView> all;
  Cursor cursor(text_);
  if (!cursor.accept('[')) return all;
  do {
    const JsonView value(cursor.value());
    if (!value.exists()) break;
    all.push_back(value);
  } while (cursor.accept(','));
  return all;
}

std::string JsonView::string() const {
  std::string out;
  if (!is_string() || text_.size() < 2) return out;
  std::string_view rest = text_.substr(1, text_.size() - 2);
  while (!rest.empty()) {
    const std::size_t escape = rest.find('\\');
    out += rest.substr(0, escape);
    if (escape == std::string_view::npos || escape + 1 >= rest.size()) break;
    const char kind = rest[escape + 1];
    rest.remove_prefix(escape + 2);
    constexpr std::string_view kFrom = "bfnrt";
    constexpr std::string_view kTo = "\b\f\n\r\t";
    if (kind == 'u') {
      rest.remove_prefix(append_unicode_escape(out, rest));
    } else if (const std::size_t i = kFrom.find(kind); i != std::string_view::npos) {
      out += kTo[i];
    } else {
      out += kind;
    }
  }
  return out;
}

}  // namespace quipu::cli
