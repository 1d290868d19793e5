#include "cli/sanitize.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "cli/columns.h"
#include "cli/utf8.h"

namespace quipu::cli {
namespace {

// Independent of the code under test: byte by byte, and by the code points that
// the Unicode standard calls bidirectional controls or zero-width.
std::string why_unsafe(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) return "control byte";
  }
  if (!is_utf8(text)) return "not UTF-8";
  for (unsigned c1 = 0x80; c1 <= 0x9F; ++c1) {
    const std::string encoded{'\xC2', static_cast<char>(c1)};
    if (text.find(encoded) != std::string_view::npos) return "C1 control";
  }
  for (const std::string_view hidden :
       {"\u061C", "\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C",
        "\u202D", "\u202E", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\uFEFF"}) {
    if (text.find(hidden) != std::string_view::npos) return "hidden character";
  }
  return "";
}

TEST(Sanitize, EveryByteAlone) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string content(1, static_cast<char>(byte));
    for (const Charset charset : {Charset::kUtf8, Charset::kAscii}) {
      const std::string safe = safe_text(content, charset);
      EXPECT_EQ(why_unsafe(safe), "") << "byte " << byte;
      EXPECT_FALSE(safe.empty()) << "byte " << byte << " vanished";
      const bool plain = (byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t';
      EXPECT_EQ(safe == content, plain) << "byte " << byte;
    }
  }
}

TEST(Sanitize, EveryPairOfBytes) {
  for (unsigned pair = 0; pair < 65536; ++pair) {
    const std::string content{static_cast<char>(pair >> 8), static_cast<char>(pair & 0xFF)};
    ASSERT_EQ(why_unsafe(safe_text(content)), "") << "bytes " << pair;
    ASSERT_EQ(why_unsafe(safe_line(content)), "") << "bytes " << pair;
  }
}

TEST(Sanitize, WhatTerminalsObey) {
  const std::vector<std::string> corpus = {
      "\x1b[2J\x1b[H",                                    // clear the screen
      "\x1b[31mred\x1b[0m",                               // colours
      "\x1b]0;title\x07",                                 // the window's title
      "\x1b]52;c;ZXZpbA==\x07",                           // the clipboard
      "\x1b]8;;http://example.com\x1b\\x\x1b]8;;\x1b\\",  // a link
      "\x1bP$q q\x1b\\",                                  // DCS
      "\x1b[6n\x1b[c\x1b[5n",  // questions that the terminal answers as input
      "\x1b_G...\x1b\\",       // APC
      "\x1b^pm\x1b\\",         // PM
      "\x1bX sos \x1b\\",      // SOS
      "\x1b(0lqqk",            // character sets
      "\x1b"
      "c",                       // reset
      "\x1b[?1049h\x1b[?2004h",  // modes
      "\x9b"
      "31m",  // CSI in one byte
      "\xc2\x9b"
      "31m",                                     // the same in UTF-8
      "\x90q#0;2;0;0;0\x9c",                     // Sixel
      "bell\x07 back\x08space\rreturn\x0b\x0c",  //
      "shift\x0e\x0f out",                       //
      "\xff\xfe invalid \xc3\x28 \xed\xa0\x80",  // no UTF-8, a surrogate
      "\xc0\x9b overlong escape \xe0\x80\x9b",   //
      "user\u202Etxt.exe",                       // reads backwards
      "a\u200Bb\u2066c\u2069\uFEFF",             // invisible
      "\U000E0041\U000E0042",                    // tags: hidden text
      std::string("nul\0nul", 7),
  };
  for (const std::string& content : corpus) {
    EXPECT_EQ(why_unsafe(safe_text(content)), "") << content;
    EXPECT_EQ(why_unsafe(safe_line(content)), "") << content;
    EXPECT_NE(safe_text(content), content);
  }
}

TEST(Sanitize, EscapesAreVisible) {
  EXPECT_EQ(safe_text("\x1b[31m"), "\\u001b[31m");
  EXPECT_EQ(safe_text("\x9b"), "\\x9b");
  EXPECT_EQ(safe_text("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(safe_text("\x7f"), "\\u007f");
  EXPECT_EQ(safe_text("\u202E"), "\\u202e");
  // Two escapes, so that a JSON string with it stays one.
  EXPECT_EQ(safe_text("\U000E0041"), "\\udb40\\udc41");
}

TEST(Sanitize, OrdinaryTextStays) {
  for (const std::string_view text : {"plain", "two\nlines\tand a tab", "Grüße, 日本語, ελληνικά",
                                      "a\u0301 combining", "\u2764\uFE0F", "\U0001F600"}) {
    EXPECT_EQ(safe_text(text), text);
  }
}

TEST(Sanitize, AsciiTerminalsGetAscii) {
  EXPECT_EQ(safe_text("Gr\u00fc\u00dfe \U0001F600", Charset::kAscii),
            "Gr\\u00fc\\u00dfe \\ud83d\\ude00");
}

TEST(Sanitize, OneLine) {
  EXPECT_EQ(safe_line("  a\n\n b\t\tc\r\n"), "a b c");
  EXPECT_EQ(safe_line("\n \t"), "");
}

RC_GTEST_PROP(Sanitize, AnyBytesBecomeSafe, (const std::string& content)) {
  const std::string safe = safe_text(content);
  RC_ASSERT(why_unsafe(safe) == "");
  RC_ASSERT(safe_text(safe) == safe);
  RC_ASSERT(why_unsafe(safe_line(content)) == "");
}

TEST(Columns, WideAndCombining) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("日本"), 4u);
  EXPECT_EQ(columns_of("e\u0301"), 1u);
  EXPECT_EQ(columns_of("\U0001F600"), 2u);
  EXPECT_EQ(columns_of(""), 0u);
}

TEST(Columns, CutNeverExceeds) {
  const std::string text = "日本語 and ascii e\u0301";
  for (std::size_t columns = 0; columns < 30; ++columns) {
    EXPECT_LE(columns_of(cut(text, columns, "…")), columns);
    EXPECT_LE(columns_of(cut_start(text, columns, "...")), columns);
  }
  EXPECT_EQ(cut("hello", 5, "…"), "hello");
  EXPECT_EQ(cut("hello", 4, "…"), "hel…");
  EXPECT_EQ(cut("日本語", 4, "…"), "日…");
  EXPECT_EQ(cut_start("/home/me/project", 8, "…"), "…project");
}

TEST(Columns, Wrap) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(wrap("a\n\nb", 10), (Lines{"a", "", "b"}));
  EXPECT_EQ(wrap("日本語", 4), (Lines{"日本", "語"}));
  EXPECT_EQ(wrap("a\tb", 10), (Lines{"a   b"}));
  EXPECT_EQ(wrap("long line stays", 0), (Lines{"long line stays"}));
  EXPECT_EQ(wrap("日", 1), (Lines{"日"})) << "one character at least, or it would never end";
}

TEST(Columns, WrapMeanings) {
  EXPECT_EQ(wrap_meanings("  --one N   says what it is\n", 18),
            "  --one N\n"
            "      says what it\n"
            "      is\n");
  EXPECT_EQ(wrap_meanings("  -a    says what it is\nplain text\n", 20),
            "  -a    says what it\n"
            "        is\n"
            "plain text\n");
  EXPECT_EQ(wrap_meanings("A title that goes on\n\nEnd", 10), "A title\nthat goes\non\n\nEnd\n");
  EXPECT_EQ(wrap_meanings("  -a    as it   is\n", 0), "  -a    as it   is\n");
}

RC_GTEST_PROP(Columns, WrapFitsAndLosesNoLetter, (const std::string& content)) {
  const std::string text = safe_text(content);
  std::string letters, wrapped;
  for (const std::string& line : wrap(text, 7)) {
    RC_ASSERT(columns_of(line) <= 7u);
    wrapped += line;
  }
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
  letters = text;
  std::erase_if(letters, is_space);
  std::erase_if(wrapped, is_space);
  RC_ASSERT(letters == wrapped);
}

}  // namespace
}  // namespace quipu::cli
