// The text that searches are measured on: conversations of made-up words.
//
// Words come from a vocabulary of 200,000 by Zipf's law, a third of the text is like code
// (names of several words in snake and camel case, paths, numbers), and one word in fifty is
// one that occurs nowhere else, as ids and hashes do. Entries have a median of 0.9 KB; a
// session has 500 of them: questions, answers, calls of tools and what they print.
// Everything follows from the number of the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"

namespace quipu::bench {

class SearchText {
 public:
  SearchText();

  static constexpr std::size_t kEntries = 500;  // of a session
  /// In one entry of a session in a hundred.
  static constexpr std::string_view kRareWord = "qorikancha";
  /// In most entries.
  const std::string& frequent_word() const { return words_[5]; }

  std::vector<NewEntry> session(std::uint32_t number);
  /// Bytes of text that were given out.
  std::uint64_t bytes() const { return bytes_; }

 private:
  using Random = std::mt19937_64;

  const std::string& word(Random& random) const;
  void add_prose(std::string& text, Random& random) const;
  void add_code(std::string& text, Random& random) const;
  std::string text(std::size_t bytes, bool is_code, Random& random) const;

  std::vector<std::string> words_;      // the commonest first
  std::vector<std::uint32_t> chances_;  // indices of words, each as often as it is likely
  std::uint64_t bytes_ = 0;
};

}  // namespace quipu::bench
