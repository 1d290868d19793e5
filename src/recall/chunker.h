// The chunker: a long text in pieces that are about one thing each.
//
// Units are sentences, list items and lines of code. Chunks are units in a row, filled
// up to kChunkWordsMax words; where a heading or a paragraph begins and enough words are
// there, a chunk ends early. The next one repeats the last units, up to kOverlapWords, so
// that what stands across a border is in one piece somewhere; not across a heading. A unit
// that is too long by itself is cut between words, at worst between characters.
//
// Headings are Markdown's, with # or underlined; nothing in a fenced block is one.
//
// A word is a run of characters that are no white space; in Chinese and Japanese two characters
// count as one, which is about what they say. Total, deterministic, linear. What it says is in the
// index: a change of it is a new kChunkerVersion.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quipu::recall {

inline constexpr int kChunkerVersion = 1;
inline constexpr std::size_t kChunkWordsMax = 256;
inline constexpr std::size_t kChunkWordsMin = 200;
inline constexpr std::size_t kOverlapWords = 38;  // 15 %

struct Chunk {
  /// Bytes of the text.
  std::size_t begin = 0;
  std::size_t end = 0;
  /// The headings that its first line is below, outermost first: "Guide > Undo".
  std::string headings{};
};

/// A text of at most kChunkWordsMax words is one chunk, also one without any.
std::vector<Chunk> chunks_of(std::string_view text);

}  // namespace quipu::recall
