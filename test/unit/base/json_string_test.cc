// Strings: the vector code against plain loops, and both ways through the escapes.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/byte_block.h"
#include "base/json_scan.h"
#include "base/json_text.h"

namespace quipu::json {
namespace {

using std::string_view_literals::operator""sv;

template <class Answer>
std::uint64_t bits_where(std::string_view bytes, Answer answer) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    if (answer(static_cast<unsigned char>(bytes[i]))) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

template <class Block>
void check_bit5(const Block& block, std::string_view bytes) {
  const auto is = [](char c) {
    return [c](unsigned char byte) { return byte == static_cast<unsigned char>(c); };
  };
  EXPECT_EQ(block.equal_with_bit5('{'), bits_where(bytes, is('{')) | bits_where(bytes, is('[')));
  EXPECT_EQ(block.equal_with_bit5('}'), bits_where(bytes, is('}')) | bits_where(bytes, is(']')));
}

template <class Block>
void check_block(std::string_view bytes, char a, char b) {
  const Block block(bytes.data());
  const auto is = [](char c) {
    return [c](unsigned char byte) { return byte == static_cast<unsigned char>(c); };
  };
  EXPECT_EQ(block.equal(a), bits_where(bytes, is(a)));
  EXPECT_EQ(block.equal_any(a, b), bits_where(bytes, is(a)) | bits_where(bytes, is(b)));
  const std::uint64_t unusual =
      bits_where(bytes, [](unsigned char byte) { return byte < 0x20 || byte >= 0x80; });
  EXPECT_EQ(block.unusual(), unusual);
  if constexpr (requires { block.equal_with_bit5('{'); }) check_bit5(block, bytes);
}

TEST(ByteBlockTest, AllImplementationsAgreeWithALoop) {
  std::mt19937 random(3);
  std::string bytes(64, '\0');
  for (int round = 0; round < 3000; ++round) {
    const bool ascii = round % 3 == 0;
    for (char& c : bytes) c = static_cast<char>(ascii ? 0x20 + random() % 0x60 : random());
    const char a = bytes[random() % 64];
    const char b = bytes[random() % 64];
    check_block<WordBlock>(bytes, a, b);
    check_block<Block>(bytes, a, b);
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
}

TEST(ByteBlockTest, FirstSpecialOf16) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool special = c == '"' || c == '\\' || value < 0x20 || value >= 0x80;
    for (std::size_t at = 0; at < 16; ++at) {
      std::string bytes(16, 'x');
      bytes[at] = c;
      EXPECT_EQ(first_special_of_16(bytes.data()) - bytes.data(), special ? at : 16u) << value;
    }
  }
}

using CheckString = StringEnd (*)(const char*, const char*);

// All that the processor at hand can do.
std::vector<CheckString> all_ways() {
  std::vector<CheckString> ways{&check_string};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) ways.push_back(&check_string_avx2);
  if (__builtin_cpu_supports("avx512bw")) ways.push_back(&check_string_avx512);
#endif
  return ways;
}

void expect_same_answers(const std::string& text) {
  static const std::vector<CheckString> kWays = all_ways();
  const char* const end = text.data() + text.size();
  const StringEnd wanted = check_string_portable(text.data(), end);
  for (const CheckString check : kWays) {
    const StringEnd found = check(text.data(), end);
    ASSERT_EQ(found.at - text.data(), wanted.at - text.data()) << text;
    ASSERT_STREQ(found.error, wanted.error) << text;
  }
}

TEST(CheckString, SameAnswersOnEveryProcessor) {
  constexpr std::string_view kPieces[] = {"plain words ", "\\n",          "\\\"",
                                          "\\\\",         "\\u2026",      "\\ud83d\\ude00",
                                          "\xc3\xa9",     "\xe2\x80\xa6", "\xf0\x9f\x98\x80",
                                          "\\ud83d",      "\\x",          "\xc3",
                                          "\x80",         "\x01",         "\""};
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t pieces = random() % 40;
    // The bad ones, and the end, are rare: most of a text must be gone through.
    for (std::size_t i = 0; i < pieces; ++i) {
      text += kPieces[random() % (random() % 16 == 0 ? std::size(kPieces) : 9)];
    }
    text.append(random() % 3 == 0 ? 70 : 0, 'x');
    if (random() % 4 != 0) text += '"';
    ASSERT_NO_FATAL_FAILURE(expect_same_answers(text)) << "round " << round;
  }
}

// Every pair of bytes, and what can follow a pair, across the edge of a block.
TEST(CheckString, SameAnswersForEveryUtf8Sequence) {
  constexpr unsigned char kEdges[] = {0x00, 0x22, 0x5c, 0x7f, 0x80, 0x8f,
                                      0x90, 0x9f, 0xa0, 0xbf, 0xc2};
  for (unsigned pair = 0; pair < 0x10000; ++pair) {
    for (const unsigned char third : kEdges) {
      std::string text(48 + 60 + pair % 5, 'x');  // the first 48 plain bytes are skipped
      text += static_cast<char>(pair >> 8);
      text += static_cast<char>(pair);
      text += static_cast<char>(third);
      text += static_cast<char>(0x80 + pair % 0x40);
      text += "xx\"";
      ASSERT_NO_FATAL_FAILURE(expect_same_answers(text));
    }
  }
}

// Every letter after a backslash and every byte among the digits of \u, at every
// distance from the edge of a block and from the next escape.
TEST(CheckString, SameAnswersForEveryEscape) {
  for (std::size_t before = 48; before < 48 + 64; ++before) {
    for (unsigned value = 0; value < 256; ++value) {
      const char c = static_cast<char>(value);
      const std::string start(before, 'x');
      ASSERT_NO_FATAL_FAILURE(expect_same_answers(start + '\\' + c + "0041 and on\""));
      for (std::size_t digit = 0; digit < 4; ++digit) {
        std::string escape = "\\u00e9";
        escape[2 + digit] = c;
        ASSERT_NO_FATAL_FAILURE(expect_same_answers(start + escape + "\\udE00 and on\""));
        const std::string cut = escape.substr(0, 2 + digit) + "\\u2026" + c;
        ASSERT_NO_FATAL_FAILURE(expect_same_answers(start + cut + " and on\""));
      }
    }
  }
}

TEST(EscapesTest, AgreesWithALoopAcrossBlocks) {
  std::mt19937 random(4);
  for (int round = 0; round < 5000; ++round) {
    const unsigned one_in = 1 + random() % 6;
    Escapes escapes;
    bool escaping = false;
    for (int block = 0; block < 4; ++block) {
      std::uint64_t backslashes = 0;
      std::uint64_t want = 0;
      for (int i = 0; i < 64; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        const bool backslash = random() % one_in == 0;
        if (backslash) backslashes |= bit;
        if (escaping && !backslash) want |= bit;
        escaping = backslash && !escaping;
      }
      ASSERT_EQ(escapes.next(backslashes), want) << "round " << round;
    }
  }
}

TEST(PlainAsciiTest, EveryByteAtEveryPlace) {
  EXPECT_TRUE(is_plain_ascii({}));
  for (std::size_t size = 1; size < 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string text(size, value % 2 == 0 ? ' ' : '~');
        text[at] = static_cast<char>(value);
        ASSERT_EQ(is_plain_ascii(text), value >= 0x20 && value < 0x7f) << value << " at " << at;
      }
    }
  }
}

TEST(Utf8Test, EveryCodePointAndNothingElse) {
  const auto length = [](std::string_view text) {
    return utf8_length(text.data(), text.data() + text.size());
  };
  // All sequences of three bytes, by their value where they are one character.
  std::size_t good = 0;
  std::string text(3, '\0');
  for (int a = 0x80; a < 0x100; ++a) {
    for (int b = 0; b < 0x100; ++b) {
      for (int c = 0; c < 0x100; c += 0x15) {
        text[0] = static_cast<char>(a);
        text[1] = static_cast<char>(b);
        text[2] = static_cast<char>(c);
        const bool tails = (b & 0xc0) == 0x80 && (c & 0xc0) == 0x80;
        const int value = ((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f);
        const bool three =
            (a & 0xf0) == 0xe0 && tails && value >= 0x800 && (value < 0xd800 || value > 0xdfff);
        const bool two = (a & 0xe0) == 0xc0 && (b & 0xc0) == 0x80 && (a & 0x1f) >= 2;
        ASSERT_EQ(length(text), three ? 3u : two ? 2u : 0u) << a << ' ' << b << ' ' << c;
        good += three;
      }
    }
  }
  EXPECT_GT(good, 0u);
  for (int value = 0x10000; value < 0x120000; value += 61) {
    const std::string four = {
        static_cast<char>(0xf0 | (value >> 18)), static_cast<char>(0x80 | ((value >> 12) & 0x3f)),
        static_cast<char>(0x80 | ((value >> 6) & 0x3f)), static_cast<char>(0x80 | (value & 0x3f))};
    ASSERT_EQ(length(four), value <= 0x10ffff ? 4u : 0u) << value;
    ASSERT_EQ(length(four.substr(0, 3)), 0u);
  }
}

// One fault at each place of strings of each length: none hides from the
// vectors, from the seams between them or from the last, shorter one.
TEST(StringScanTest, OneFaultAtEveryPlace) {
  const std::string_view faults[] = {"\n",      "\x1f",      "\0"sv,         "\x80",
                                     "\xff",    "\xc3",      "\xed\xa0\x80", R"(\x)",
                                     R"(\u12)", R"(\ud83d)", R"(\ude00)",    R"(\\\q)"};
  const std::string_view goods[] = {
      R"(\n)", R"(\")",    R"(\\)",        R"(\u00e9)", R"(\ud83d\ude00)", "\x7f",
      "'",     "\xc3\xa9", "\xe2\x82\xac", R"(\\\")",   "\xf0\x9f\x98\x80"};
  for (std::size_t before = 0; before < 140; ++before) {
    for (const std::size_t after : {0u, 1u, 20u, 70u}) {
      const auto around = [&](std::string_view middle) {
        return "\"" + std::string(before, 'a') + std::string(middle) + std::string(after, 'z') +
               "\"";
      };
      for (const std::string_view fault : faults) {
        ASSERT_FALSE(validate(around(fault)).ok()) << around(fault);
      }
      for (const std::string_view good : goods) {
        const std::string text = around(good);
        ASSERT_TRUE(validate(text).ok()) << text;
        const char* const end = text.data() + text.size();
        ASSERT_EQ(skip_string(text.data() + 1, end), end - 1) << text;
        ASSERT_FALSE(validate(text.substr(0, text.size() - 1)).ok()) << text;
      }
    }
  }
}

TEST(StringScanTest, NotClosedIsEnd) {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string text(size, 'a');
    EXPECT_EQ(skip_string(text.data(), text.data() + size), text.data() + size);
    const std::string odd(size * 2 + 1, '\\');
    EXPECT_FALSE(validate("\"" + odd + "\"").ok());
  }
}

TEST(DecodeTest, ResolvesEscapes) {
  EXPECT_EQ(decode_string(R"("plain")"), "plain");
  EXPECT_EQ(decode_string("plain"), "plain");
  EXPECT_EQ(decode_string(""), "");
  EXPECT_EQ(decode_string(R"("")"), "");
  EXPECT_EQ(decode_string(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decode_string(R"(a\u0041\u00e9\u20acz)"), "aA\xc3\xa9\xe2\x82\xacz");
  EXPECT_EQ(decode_string(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(decode_string(R"(\udbff\udfff)"), "\xf4\x8f\xbf\xbf");
  EXPECT_EQ(decode_string(R"("\u0000")"), "\0"sv);
  EXPECT_EQ(decode_string(R"("\"")"), "\"");
  EXPECT_EQ(decode_string(R"(\")"), "\"");
}

TEST(DecodeTest, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(decode_string(R"(a\ud83dz)"), "a\xef\xbf\xbdz");
  EXPECT_EQ(decode_string(R"(\ude00)"), "\xef\xbf\xbd");
  EXPECT_EQ(decode_string(R"(\ud83d\u0041)"),
            "\xef\xbf\xbd"
            "A");
  EXPECT_EQ(decode_string(R"(\ud83d\ud83d\ude00)"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
}

TEST(DecodeTest, TotalOnBadTokens) {
  for (const std::string_view token : {R"(\)", R"(\u)", R"(\u12)", R"(\ud83d\u)", R"(\ud83d\)",
                                       R"(")", R"("\)", R"("a\")", R"(\q)"}) {
    decode_string(token);
  }
  EXPECT_EQ(decode_string(R"(a\)"), "a\xef\xbf\xbd");
  EXPECT_EQ(decode_string(R"(\u12)"),
            "\xef\xbf\xbd"
            "12");
}

TEST(QuoteTest, EscapesWhatItMust) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("plain / text"), R"("plain / text")");
  EXPECT_EQ(quoted("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(quoted("\0\x01\x1f\x7f"sv), "\"\\u0000\\u0001\\u001f\x7f\"");
  EXPECT_EQ(quoted("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
}

TEST(QuoteTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(quoted("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xc3"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xc3\xa9\xa9z"), "\"\xc3\xa9\xef\xbf\xbdz\"");
}

TEST(QuoteTest, AppendsToWhatIsThere) {
  std::string out = "x=";
  append_quoted(out, "y");
  EXPECT_EQ(out, "x=\"y\"");
}

TEST(QuoteTest, RoundTripAtEveryLength) {
  std::mt19937 random(5);
  const std::string_view pieces[] = {"a",
                                     "\"",
                                     "\\",
                                     "\n",
                                     "\x01",
                                     "\xc3\xa9",
                                     "\xe2\x82\xac",
                                     "\xf0\x9f\x98\x80",
                                     "plain text that goes on for a while "};
  for (std::size_t count = 0; count < 300; ++count) {
    std::string plain;
    for (std::size_t i = 0; i < count; ++i) plain += pieces[random() % std::size(pieces)];
    const std::string token = json::quoted(plain);
    ASSERT_TRUE(validate(token).ok()) << token;
    ASSERT_EQ(decode_string(token), plain);
    ASSERT_TRUE(key_equals(std::string_view(token).substr(1, token.size() - 2), plain));
  }
}

TEST(QuoteTest, AnyBytesBecomeValidJson) {
  std::mt19937 random(6);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes(random() % 150, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    ASSERT_TRUE(validate(json::quoted(bytes)).ok());
  }
}

}  // namespace
}  // namespace quipu::json
