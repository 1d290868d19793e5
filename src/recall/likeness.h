// Likeness: whether two texts say the same, by their words alone.
//
// A text is the set of its words and of its pairs of neighbouring words, as the analyser
// gives them. How alike two are is the share of what they have in common (Jaccard). To
// find what is alike among many without comparing with all, a text has kBands numbers, made
// by min-hashing: two texts that have nine of ten in common share at least one of them with
// a probability of more than 99.8 %, two that have half in common with one of 49 %.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quipu::recall {

inline constexpr std::size_t kBands = 5;
inline constexpr double kAlike = 0.9;

struct Likeness {
  /// Hashes, sorted, each once.
  std::vector<std::uint64_t> parts{};
  /// The same for texts of the same words in the same order.
  std::int64_t words = 0;
  /// By min-hashing, and `words` behind them: where many texts share all the others, as those made
  /// from one form do, that one finds the same text among them.
  std::array<std::int64_t, kBands + 1> bands{};
};

/// `scope` is mixed into `words` and `bands`: texts of different scopes do not meet.
Likeness likeness_of(std::string_view text, std::string_view scope);

double common_share(const Likeness& one, const Likeness& other);

}  // namespace quipu::recall
