// The analyser's tokens as tests like to see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/analyser.h"

namespace quipu::search {

struct OwnedToken {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool same_place = false;
};

inline std::vector<OwnedToken> tokens_of(std::string_view text) {
  struct Collect : TokenSink {
    bool take(const Token& token) override {
      all.push_back({std::string(token.text), token.begin, token.end, token.same_place});
      return true;
    }
    std::vector<OwnedToken> all;
  };
  Collect collect;
  analyse(text, collect);
  return std::move(collect.all);
}

/// Places with a space between them, other forms in parentheses: "src (src/fs) fs".
inline std::string words_of(std::string_view text) {
  std::string words;
  for (const OwnedToken& token : tokens_of(text)) {
    if (!words.empty()) words += ' ';
    words += token.same_place ? "(" + token.text + ")" : token.text;
  }
  return words;
}

}  // namespace quipu::search
