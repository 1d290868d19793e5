// Random JSON against a reference: a recursive parser, straight from the grammar.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "quipu/limits.h"

namespace quipu::json {
namespace {

// One function a production, no cleverness. Throws nothing, allocates nothing.
class Reference {
 public:
  explicit Reference(std::string_view text) : text_(text) {}
  bool valid() {
    space();
    if (!value(0)) return false;
    space();
    return at_ == text_.size();
  }

 private:
  int peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? static_cast<unsigned char>(text_[at_ + ahead]) : -1;
  }
  bool take(int c) { return peek() == c ? (++at_, true) : false; }
  void space() {
    while (take(' ') || take('\t') || take('\n') || take('\r')) {
    }
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  bool digit() { return peek() >= '0' && peek() <= '9' ? (++at_, true) : false; }
  bool digits() {
    if (!digit()) return false;
    while (digit()) {
    }
    return true;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  int hex4() {
    int value = 0;
    for (int i = 0; i < 4; ++i) {
      const int c = peek();
      if (c < 0 || std::isxdigit(c) == 0) return -1;
      value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      ++at_;
    }
    return value;
  }
  bool escape() {
    const int c = peek();
    ++at_;
    if (c != 'u') return c > 0 && std::string_view("\"\\/bfnrt").find(static_cast<char>(c)) < 8;
    const int unit = hex4();
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return false;
    if (unit < 0xd800 || unit > 0xdbff) return true;
    if (!take('\\') || !take('u')) return false;
    const int low = hex4();
    return low >= 0xdc00 && low <= 0xdfff;
  }
  bool character() {
    const int lead = peek();
    const int tails = lead < 0x80 ? 0 : lead < 0xc0 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (tails < 0 || lead >= 0xf8) return false;
    int value = tails == 0 ? lead : lead & (0x3f >> tails);
    for (int i = 0; i < tails; ++i) {
      ++at_;
      if ((peek() & ~0x3f) != 0x80) return false;
      value = value << 6 | (peek() & 0x3f);
    }
    ++at_;
    constexpr int kLeast[] = {0x20, 0x80, 0x800, 0x10000};
    return value >= kLeast[tails] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  }
  bool string() {
    if (!take('"')) return false;
    while (!take('"')) {
      if (peek() < 0) return false;
      if (!(take('\\') ? escape() : character())) return false;
    }
    return true;
  }
  bool container(bool object, std::size_t depth) {
    const int closing = object ? '}' : ']';
    if (depth >= kJsonDepthMax) return false;
    ++at_;
    space();
    if (take(closing)) return true;
    for (;;) {
      if (object) {
        if (!string()) return false;
        space();
        if (!take(':')) return false;
        space();
      }
      if (!value(depth + 1)) return false;
      space();
      if (take(closing)) return true;
      if (!take(',')) return false;
      space();
    }
  }
  bool value(std::size_t depth) {
    switch (peek()) {
      case '{':
        return container(true, depth);
      case '[':
        return container(false, depth);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Made {
  std::string key;    // plain
  std::string value;  // as written
  Kind kind;
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  std::string space() {
    constexpr std::string_view kSpaces[] = {"", "", "", "", " ", "\n", "\t", "\r\n", "    "};
    return std::string(kSpaces[below(std::size(kSpaces))]);
  }
  std::string plain() {
    constexpr std::string_view kPieces[] = {
        "a",  "id", "\"",   "\\",           "\n",           "\t",
        "}",  "]",  "{[",   "\xc3\xa9",     "\xe2\x82\xac", "\xf0\x9f\x98\x80",
        "\r", "/",  "\x7f", "some words, ", "\x1b",         ":,"};
    std::string out;
    for (std::size_t n = below(below(8) == 0 ? 60 : 6); n > 0; --n) {
      out += kPieces[below(std::size(kPieces))];
    }
    return out;
  }
  // The same text, every escape that JSON offers tried now and then.
  std::string written(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      const bool escape = below(5) == 0;
      if (escape && static_cast<unsigned char>(c) < 0x80) {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, below(2) == 0 ? "\\u%04x" : "\\u%04X", c);
        out += buffer;
      } else if (c == '/' && escape) {
        out += "\\/";
      } else if (static_cast<unsigned char>(c) < 0x80) {
        const std::string one = quoted(std::string_view(&c, 1));
        out.append(one, 1, one.size() - 2);
      } else {
        out.push_back(c);
      }
    }
    return out + "\"";
  }
  std::string scalar(Kind& kind) {
    constexpr std::string_view kNumbers[] = {
        "0", "-0", "1", "-12.50", "1e400", "1E-9", "10e+2", "3.0e10", "99999999999999999999"};
    switch (below(5)) {
      case 0:
        kind = Kind::kNull;
        return "null";
      case 1:
        kind = Kind::kBool;
        return below(2) == 0 ? "true" : "false";
      case 2:
        kind = Kind::kNumber;
        return std::string(kNumbers[below(std::size(kNumbers))]);
      default:
        kind = Kind::kString;
        return written(plain());
    }
  }
  std::string value(std::size_t depth, Kind& kind) {
    if (depth == 0 || below(2) == 0) return scalar(kind);
    kind = below(2) == 0 ? Kind::kObject : Kind::kArray;
    const bool object = kind == Kind::kObject;
    std::string out = (object ? "{" : "[") + space();
    const std::size_t count = below(5);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += "," + space();
      Kind inner;
      if (object) out += written(plain()) + space() + ":" + space();
      out += value(depth - 1, inner) + space();
    }
    return out + (object ? "}" : "]");
  }
  std::string object(std::vector<Made>& made) {
    std::string out = space() + "{" + space();
    made.resize(below(10));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (i > 0) out += "," + space();
      made[i].key = plain();
      made[i].value = value(4, made[i].kind);
      out += written(made[i].key) + space() + ":" + space() + made[i].value + space();
    }
    return out + "}" + space();
  }
  void mutate(std::string& text) {
    constexpr std::string_view kBytes =
        "\"\\{}[],:0-+.eEu \n\t\x01\x80\xc3\xed\xf4\xff"
        "adtfn";
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      const std::size_t at = below(text.size() + 1);
      const char c = below(4) == 0 ? static_cast<char>(random_()) : kBytes[below(kBytes.size())];
      switch (below(5)) {
        case 0:
          text.insert(at, 1, c);
          break;
        case 1:
          text.erase(at, 1 + below(3));
          break;
        case 2:
          text.resize(at);
          break;
        case 3:
          text.insert(at, text.substr(below(text.size() + 1), below(20)));
          break;
        default:
          if (at < text.size()) text[at] = c;
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

std::uint64_t seed_for_run() {
  const char* const given = std::getenv("QUIPU_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::uint64_t{20260301};
  std::printf("QUIPU_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

int scaled(int count) {
  const char* const scale = std::getenv("QUIPU_TEST_SCALE");
  return std::max(1, static_cast<int>(count * (scale != nullptr ? std::atof(scale) : 1.0)));
}

// Whatever the text: nothing crashes, and views stay inside it.
void walk_anything(std::string_view text) {
  MemberWalk walk(text);
  while (const std::optional<Member> member = walk.next()) {
    for (const std::string_view part : {member->key, member->value}) {
      ASSERT_GE(part.data(), text.data());
      ASSERT_LE(part.data() + part.size(), text.data() + text.size());
    }
    decode_string(member->key);
    decode_string(member->value);
    find_member(member->value, "id");
  }
}

void expect_walk_equals(std::string_view text, const std::vector<Member>& members) {
  MemberWalk walk(text);
  for (const Member& want : members) {
    const std::optional<Member> got = walk.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->key, want.key);
    ASSERT_EQ(got->value.data(), want.value.data());
    ASSERT_EQ(got->value, want.value);
    ASSERT_EQ(got->kind, want.kind);
  }
  ASSERT_FALSE(walk.next());
}

TEST(JsonPropertyTest, MadeObjectsAreTakenApartAgain) {
  Maker maker(seed_for_run());
  std::vector<Member> members;
  std::vector<Made> made;
  for (int round = 0; round < scaled(20'000); ++round) {
    const std::string text = maker.object(made);
    ASSERT_TRUE(Reference(text).valid()) << text;
    const Result<void> result = scan_object(text, members);
    ASSERT_TRUE(result.ok()) << result.error().message() << "\n" << text;
    ASSERT_TRUE(validate(text).ok());
    ASSERT_EQ(members.size(), made.size());
    bool twice = false;
    for (std::size_t i = 0; i < made.size(); ++i) {
      ASSERT_EQ(decode_string(members[i].key), made[i].key) << text;
      ASSERT_TRUE(key_equals(members[i].key, made[i].key)) << text;
      ASSERT_EQ(members[i].value, made[i].value) << text;
      ASSERT_EQ(members[i].kind, made[i].kind) << text;
      for (std::size_t j = 0; j < i; ++j) twice |= made[i].key == made[j].key;
    }
    ASSERT_EQ(find_duplicate_key(members).has_value(), twice) << text;
    ASSERT_NO_FATAL_FAILURE(expect_walk_equals(text, members)) << text;
  }
}

TEST(JsonPropertyTest, MutatedTextsAgreeWithTheReference) {
  Maker maker(seed_for_run() + 1);
  std::vector<Member> members;
  std::vector<Made> made;
  int good = 0;
  int bad = 0;
  for (int round = 0; round < scaled(60'000); ++round) {
    std::string text = maker.object(made);
    maker.mutate(text);
    // A copy without slack, so that the address sanitizer sees every byte too many.
    const std::vector<char> exact(text.begin(), text.end());
    const std::string_view view(exact.data(), exact.size());
    const bool want = Reference(view).valid();
    ASSERT_EQ(validate(view).ok(), want) << text;
    const std::size_t first = view.find_first_not_of(" \t\r\n");
    const bool object = first != std::string_view::npos && view[first] == '{';
    ASSERT_EQ(scan_object(view, members).ok(), want && object) << text;
    if (want && object) {
      ASSERT_NO_FATAL_FAILURE(expect_walk_equals(view, members)) << text;
    }
    ASSERT_NO_FATAL_FAILURE(walk_anything(view)) << text;
    ++(want ? good : bad);
  }
  EXPECT_GT(good, 0);
  EXPECT_GT(bad, good);
}

}  // namespace
}  // namespace quipu::json
