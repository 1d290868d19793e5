// Members of objects that are known to be valid: found without looking into values.
#include <cstdint>

#include "base/json_scan.h"
#include "base/json_text.h"

namespace quipu::json {
namespace {

// Bit i: the parity of the bits up to and including i. Between an opening quote
// and its closing one it is odd.
std::uint64_t running_parity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Past the container that opens at `p`; `end` when it does not close. Brackets
// of both kinds count alike: in valid text they match.
const char* skip_container(const char* p, const char* end) {
  BlockReader reader(end);
  Escapes escapes;
  std::uint64_t inside = 0;  // all ones when the block starts inside a string
  std::size_t depth = 0;
  while (p < end) {
    const Block block = reader.at(p);
    const std::uint64_t escaped = escapes.next(block.equal('\\'));
    const std::uint64_t quotes = block.equal('"') & ~escaped;
    if (quotes != 0 || inside == 0) {
      const std::uint64_t strings = running_parity(quotes) ^ inside;
      inside = 0 - (strings >> 63);
      const std::uint64_t closing = block.equal_with_bit5('}') & ~strings;
      std::uint64_t brackets = (block.equal_with_bit5('{') & ~strings) | closing;
      for (; brackets != 0; brackets &= brackets - 1) {
        const std::size_t first = lowest_bit(brackets);
        if (((closing >> first) & 1) == 0) {
          ++depth;
        } else if (--depth == 0) {
          return p + first + 1;
        }
      }
    }
    if (end - p <= 64) break;
    p += 64;
  }
  return end;
}

const char* skip_scalar(const char* p, const char* end) {
  while (p < end && *p != ',' && *p != '}' && *p != ']' && !is_space(*p)) ++p;
  return p;
}

// Past the value at `p`, which is below `end`.
const char* skip_value(const char* p, const char* end, Kind kind) {
  if (kind == Kind::kObject || kind == Kind::kArray) return skip_container(p, end);
  if (kind != Kind::kString) return skip_scalar(p, end);
  const char* const quote = skip_string(p + 1, end);
  return quote < end ? quote + 1 : end;
}

}  // namespace

MemberWalk::MemberWalk(std::string_view object) : text_(object), at_(object.size()) {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* const p = skip_space(begin, end);
  if (p < end && *p == '{') at_ = static_cast<std::size_t>(p + 1 - begin);
}

std::optional<Member> MemberWalk::next() {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* p = skip_space(begin + at_, end);
  at_ = text_.size();  // unless all goes well, there is nothing more

  if (p == end || *p != '"') return std::nullopt;
  const char* const quote = skip_string(p + 1, end);
  if (quote == end) return std::nullopt;
  Member member;
  member.key = view_of(p + 1, quote);
  p = skip_space(quote + 1, end);
  if (p == end || *p != ':') return std::nullopt;
  p = skip_space(p + 1, end);
  if (p == end) return std::nullopt;
  member.kind = kind_of(*p);
  const char* const after = skip_value(p, end, member.kind);
  member.value = view_of(p, after);

  p = skip_space(after, end);
  if (p < end && *p == ',') at_ = static_cast<std::size_t>(p + 1 - begin);
  return member;
}

ElementWalk::ElementWalk(std::string_view array) : text_(array), at_(array.size()) {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* const p = skip_space(begin, end);
  if (p < end && *p == '[') at_ = static_cast<std::size_t>(p + 1 - begin);
}

std::optional<Member> ElementWalk::next() {
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  const char* p = skip_space(begin + at_, end);
  at_ = text_.size();

  if (p == end || *p == ']') return std::nullopt;
  Member element;
  element.kind = kind_of(*p);
  const char* const after = skip_value(p, end, element.kind);
  if (after == p) return std::nullopt;  // no value starts here
  element.value = view_of(p, after);

  p = skip_space(after, end);
  if (p < end && *p == ',') at_ = static_cast<std::size_t>(p + 1 - begin);
  return element;
}

Kind Cursor::kind() const { return at_ < end_ ? kind_of(*at_) : Kind::kNull; }

std::string_view Cursor::take() {
  const char* const from = at_;
  if (at_ < end_) at_ = skip_value(at_, end_, kind());
  return view_of(from, at_);
}

bool Cursor::enter() {
  at_ = skip_space(at_, end_);
  if (at_ == end_ || (*at_ != '{' && *at_ != '[')) return false;
  at_ = skip_space(at_ + 1, end_);
  return true;
}

// Right behind an opening bracket or a value.
bool Cursor::next(char close) {
  at_ = skip_space(at_, end_);
  if (at_ < end_ && *at_ == ',') at_ = skip_space(at_ + 1, end_);
  if (at_ == end_) return false;
  if (*at_ == close) {
    ++at_;
    return false;
  }
  return true;
}

bool Cursor::next_member(std::string_view& key) {
  if (!next('}')) return false;
  const char* const quote = *at_ == '"' ? skip_string(at_ + 1, end_) : end_;
  const char* const colon = quote == end_ ? end_ : skip_space(quote + 1, end_);
  if (colon == end_ || *colon != ':') {
    at_ = end_;
    return false;
  }
  key = view_of(at_ + 1, quote);
  at_ = skip_space(colon + 1, end_);
  return at_ < end_;
}

bool Cursor::next_element() {
  if (!next(']')) return false;
  // No value starts here: nothing would ever move on.
  if (*at_ != '}' && *at_ != ':' && *at_ != ',') return true;
  at_ = end_;
  return false;
}

std::string_view value_onward(std::string_view object, std::string_view key) {
  Cursor at(object);
  std::string_view found;
  for (at.enter(); at.next_member(found); at.take()) {
    if (key_equals(found, key)) {
      return object.substr(static_cast<std::size_t>(at.position() - object.data()));
    }
  }
  return {};
}

std::optional<Member> find_member(std::string_view object, std::string_view key) {
  MemberWalk walk(object);
  while (std::optional<Member> member = walk.next()) {
    if (key_equals(member->key, key)) return member;
  }
  return std::nullopt;
}

}  // namespace quipu::json
