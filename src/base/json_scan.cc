#include "base/json_scan.h"

#include <algorithm>
#include <bitset>
#include <cstdint>

#include "base/json_line.h"
#include "base/json_text.h"
#include "quipu/limits.h"

namespace quipu::json {
namespace {

// As deep as other programs go; readers of such lines count levels, they do not recurse.
constexpr std::size_t kLenientDepthMax = 1024;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One pass over one value, without recursion: `in_object_` holds for each open
// container whether it is an object, so that depth costs a bit and not a frame.
//
// A step returns false after fail(), and then the scan is over.
class Scanner {
 public:
  Scanner(std::string_view text, std::vector<Member>* members)
      : begin_(text.data()), p_(begin_), end_(begin_ + text.size()), members_(members) {}

  /// Takes strings that hold anything but control characters, and nests deeper.
  Scanner& lenient() {
    lenient_ = true;
    depth_max_ = kLenientDepthMax;
    return *this;
  }
  /// Refuses line breaks between tokens.
  Scanner& one_line() {
    one_line_ = true;
    return *this;
  }
  /// The value will stand inside so many containers.
  Scanner& inside(std::size_t depth) {
    outer_ = depth;
    return *this;
  }
  bool scan(bool want_object);
  Result<void> run(bool want_object);
  LeadingLine scan_leading() {
    if (!scan_tree()) return {};
    return {.size = static_cast<std::size_t>(p_ - begin_), .has_plain_keys = plain_keys_};
  }

 private:
  enum class Next { kValue, kKey, kEndOfValue };

  bool scan_tree();
  bool scan_value(Next& next);
  bool scan_key();
  bool scan_end_of_value(Next& next);
  bool open(bool object, Next& next);
  bool scan_string();
  bool scan_number();
  bool scan_digits();
  bool scan_literal(std::string_view word);

  bool fail(const char* at, const char* reason) {
    p_ = at;
    reason_ = reason;
    return false;
  }
  bool fail(const char* reason) {
    if (p_ == end_) return fail(p_, "unexpected end of text");
    return fail(
        p_, one_line_ && (at('\n') || at('\r')) ? "line break, where one line is wanted" : reason);
  }
  void skip() {
    while (p_ < end_ && static_cast<unsigned char>(*p_) <= ' ' && is_space(*p_) &&
           (!one_line_ || *p_ == ' ' || *p_ == '\t'))
      ++p_;
  }
  void skip_around() {
    if (outer_ == 0) p_ = skip_space(p_, end_);
    skip();
  }
  bool at(char c) const { return p_ < end_ && *p_ == c; }
  bool lists_members() const { return depth_ == 1 && members_ != nullptr; }

  const char* const begin_;
  const char* p_;
  const char* const end_;
  const char* reason_ = nullptr;
  std::vector<Member>* const members_;
  bool lenient_ = false;
  bool one_line_ = false;
  bool plain_keys_ = true;  // of the members that are listed
  std::size_t outer_ = 0;
  std::size_t depth_ = 0;
  std::size_t depth_max_ = kJsonDepthMax;
  std::bitset<kLenientDepthMax> in_object_;
};

bool Scanner::scan(bool want_object) {
  skip_around();
  if (view_of(p_, end_).starts_with("\xef\xbb\xbf")) return fail("byte order mark");
  if (want_object && !at('{')) return fail("not an object");
  if (!scan_tree()) return false;
  skip_around();
  return p_ == end_ || fail("text after the value");
}

Result<void> Scanner::run(bool want_object) {
  if (scan(want_object)) return {};
  return Error(Code::kInvalidArgument,
               "invalid JSON at byte " + std::to_string(p_ - begin_) + ": " + reason_);
}

bool Scanner::scan_tree() {
  Next next = Next::kValue;
  for (;;) {
    if (next == Next::kKey && !scan_key()) return false;
    if (!scan_value(next)) return false;
    while (next == Next::kEndOfValue) {
      if (depth_ == 0) return true;
      if (!scan_end_of_value(next)) return false;
    }
  }
}

bool Scanner::scan_value(Next& next) {
  next = Next::kEndOfValue;
  if (p_ == end_) return fail("");
  switch (*p_) {
    case '{':
      return open(true, next);
    case '[':
      return open(false, next);
    case '"':
      return scan_string();
    case 't':
      return scan_literal("true");
    case 'f':
      return scan_literal("false");
    case 'n':
      return scan_literal("null");
    default:
      return scan_number();
  }
}

bool Scanner::open(bool object, Next& next) {
  if (outer_ + depth_ >= depth_max_) return fail("nested too deeply");
  in_object_[depth_++] = object;
  ++p_;
  skip();
  if (at(object ? '}' : ']')) {
    ++p_;
    --depth_;
    next = Next::kEndOfValue;
  } else {
    next = object ? Next::kKey : Next::kValue;
  }
  return true;
}

// To its value.
bool Scanner::scan_key() {
  if (!at('"')) return fail("expected a key");
  const char* const from = p_ + 1;
  const char* const plain_end = skip_plain_start(from, end_);
  const bool is_plain = plain_end < end_ && *plain_end == '"';
  if (is_plain) {
    p_ = plain_end + 1;
  } else if (!scan_string()) {
    return false;
  }
  const std::string_view key = view_of(from, p_ - 1);
  skip();
  if (!at(':')) return fail("expected a colon");
  ++p_;
  skip();
  if (p_ == end_) return fail("");
  if (lists_members()) {
    members_->push_back({key, view_of(p_, p_), kind_of(*p_)});
    plain_keys_ = plain_keys_ && is_plain;
  }
  return true;
}

bool Scanner::scan_end_of_value(Next& next) {
  const bool object = in_object_[depth_ - 1];
  if (lists_members() && object) {
    Member& member = members_->back();
    member.value = view_of(member.value.data(), p_);
  }
  skip();
  if (at(',')) {
    ++p_;
    skip();
    next = object ? Next::kKey : Next::kValue;
    return true;
  }
  if (!at(object ? '}' : ']')) {
    return fail(object ? "expected a comma or }" : "expected a comma or ]");
  }
  ++p_;
  --depth_;
  return true;
}

bool Scanner::scan_string() {
  if (lenient_) {
    const char* const quote = skip_string(p_ + 1, end_);
    const bool plain = std::none_of(p_, quote, [](char c) { return c >= 0 && c < 0x20; });
    if (quote == end_ || !plain) return fail("unfinished string or control character");
    p_ = quote + 1;
    return true;
  }
  const char* const plain_end = skip_plain_start(p_ + 1, end_);
  if (plain_end < end_ && *plain_end == '"') {
    p_ = plain_end + 1;
    return true;
  }
  const StringEnd string = check_string_from(plain_end, end_);
  if (string.error != nullptr) return fail(string.at, string.error);
  p_ = string.at + 1;
  return true;
}

bool Scanner::scan_number() {
  if (*p_ != '-' && !is_digit(*p_)) return fail("expected a value");
  if (*p_ == '-') ++p_;
  if (at('0')) {
    ++p_;
    if (p_ < end_ && is_digit(*p_)) return fail("leading zero");
  } else if (!scan_digits()) {
    return false;
  }
  if (at('.')) {
    ++p_;
    if (!scan_digits()) return false;
  }
  if (at('e') || at('E')) {
    ++p_;
    if (at('+') || at('-')) ++p_;
    if (!scan_digits()) return false;
  }
  return true;
}

bool Scanner::scan_digits() {
  const char* const from = p_;
  while (p_ < end_ && is_digit(*p_)) ++p_;
  return p_ > from || fail("expected a digit");
}

bool Scanner::scan_literal(std::string_view word) {
  if (!view_of(p_, end_).starts_with(word)) return fail("expected a value");
  p_ += word.size();
  return true;
}

}  // namespace

Result<void> scan_object(std::string_view text, std::vector<Member>& members) {
  members.clear();
  return Scanner(text, &members).run(/*want_object=*/true);
}

Result<void> validate(std::string_view text) {
  return Scanner(text, nullptr).run(/*want_object=*/false);
}

Result<void> scan_line(std::string_view text, std::vector<Member>& members) {
  members.clear();
  return Scanner(text, &members).one_line().run(/*want_object=*/true);
}

LeadingLine scan_leading_line(std::string_view text, std::vector<Member>& members) {
  members.clear();
  if (!text.starts_with('{')) return {};
  return Scanner(text, &members).one_line().scan_leading();
}

Result<void> validate_inner_object(std::string_view text) {
  return Scanner(text, nullptr).one_line().inside(1).run(/*want_object=*/true);
}

bool is_object(std::string_view text) {
  return Scanner(text, nullptr).scan(/*want_object=*/true) ||
         Scanner(text, nullptr).lenient().scan(/*want_object=*/true);
}

}  // namespace quipu::json
