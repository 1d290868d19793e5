#include "recall/chunker.h"

#include <gtest/gtest.h>

#include <sstream>

namespace quipu::recall {
namespace {

// "w0 w1 … ": so many words, numbered on.
std::string words(std::size_t count, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < from + count; ++i) text += "w" + std::to_string(i) + " ";
  return text;
}

std::string sentences(std::size_t count, std::size_t each) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += words(each - 1, i * each) + "end" + std::to_string(i) + ". ";
  }
  return text;
}

std::size_t count_words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::size_t count = 0;
  for (std::string word; in >> word;) ++count;
  return count;
}

std::string_view text_of(std::string_view text, const Chunk& chunk) {
  return text.substr(chunk.begin, chunk.end - chunk.begin);
}

// Every word is in a chunk, in order, and none is longer than it may be.
void expect_sound(std::string_view text, const std::vector<Chunk>& chunks) {
  ASSERT_FALSE(chunks.empty());
  std::size_t reached = 0;
  for (const Chunk& chunk : chunks) {
    ASSERT_LT(chunk.begin, chunk.end);
    ASSERT_LE(chunk.end, text.size());
    EXPECT_GT(chunk.end, reached) << "a chunk adds nothing";
    if (chunk.begin > reached) {
      const std::string_view gap = text.substr(reached, chunk.begin - reached);
      EXPECT_EQ(std::string_view::npos, gap.find_first_not_of(" \t\r\n")) << gap;
    }
    reached = chunk.end;
    EXPECT_LE(count_words(text_of(text, chunk)), kChunkWordsMax);
  }
  EXPECT_EQ(std::string_view::npos, text.substr(reached).find_first_not_of(" \t\r\n"));
}

TEST(Chunker, AShortTextIsOneChunk) {
  for (const std::string& text : {std::string(), std::string("one"), words(kChunkWordsMax),
                                  std::string("# Title\n\nSome words.\n\n## More\n\nOf them.")}) {
    const auto chunks = chunks_of(text);
    ASSERT_EQ(1u, chunks.size());
    EXPECT_EQ(0u, chunks[0].begin);
    EXPECT_EQ(text.size(), chunks[0].end);
  }
}

TEST(Chunker, ALongTextEndsWithSentencesAndRepeatsTheLast) {
  const std::string text = sentences(60, 15);
  const auto chunks = chunks_of(text);
  expect_sound(text, chunks);
  ASSERT_GE(chunks.size(), 4u);
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
    EXPECT_GE(count_words(text_of(text, chunks[i])), kChunkWordsMin) << i;
    EXPECT_TRUE(text_of(text, chunks[i]).ends_with(". ")) << i;
    // Two sentences of 15 words are what fits into 38.
    const std::size_t common = count_words(text_of(text, {chunks[i + 1].begin, chunks[i].end, {}}));
    EXPECT_EQ(30u, common) << i;
  }
}

TEST(Chunker, HeadingsBeginChunksAndAreTheirPath) {
  const std::string text = "# Guide\n\n" + sentences(10, 15) + "\n\n## Undo\n\n" +
                           sentences(10, 15) + "\n\nSetup\n=====\n\n" + sentences(10, 15);
  const auto chunks = chunks_of(text);
  expect_sound(text, chunks);
  ASSERT_EQ(3u, chunks.size());
  EXPECT_EQ("Guide", chunks[0].headings);
  EXPECT_EQ("Guide > Undo", chunks[1].headings);
  EXPECT_TRUE(text_of(text, chunks[1]).starts_with("## Undo")) << "nothing is repeated across it";
  EXPECT_EQ("Setup", chunks[2].headings);
}

TEST(Chunker, WhatIsFencedIsNoHeading) {
  const std::string text = "# Real\n\n```\n# comment\n```\n\n" + sentences(40, 15);
  for (const Chunk& chunk : chunks_of(text)) EXPECT_EQ("Real", chunk.headings);
}

TEST(Chunker, AParagraphWithoutStopsIsCutBetweenWords) {
  const std::string text = words(1000);
  const auto chunks = chunks_of(text);
  expect_sound(text, chunks);
  for (const Chunk& chunk : chunks) EXPECT_EQ('w', text[chunk.begin]);
}

TEST(Chunker, ChineseIsCountedByCharacters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "数据库是许多记录的集合。";  // eleven, and a stop
  const auto chunks = chunks_of(text);
  ASSERT_GE(chunks.size(), 4u);
  ASSERT_LE(chunks.size(), 8u);
  for (const Chunk& chunk : chunks) {
    EXPECT_LE(text_of(text, chunk).size(), 2 * kChunkWordsMax * 36 / 11);
    EXPECT_TRUE(text_of(text, chunk).ends_with("。"));
    EXPECT_TRUE(text_of(text, chunk).starts_with("数"));
  }
}

TEST(Chunker, DataWithoutWordsIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "é";
  const auto chunks = chunks_of(text);
  ASSERT_GE(chunks.size(), 4u);
  for (const Chunk& chunk : chunks) {
    EXPECT_EQ(0u, chunk.begin % 2);
    EXPECT_LE(chunk.end - chunk.begin, 8192u + 2);
  }
  const std::string no_utf8(100000, '\xff');
  EXPECT_GE(chunks_of(no_utf8).size(), 10u);
}

}  // namespace
}  // namespace quipu::recall
