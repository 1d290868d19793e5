// Hybrid: the list of the words and that of the vectors as one answer.
#pragma once

#include <span>
#include <vector>

#include "quipu/recall.h"
#include "recall/fusion.h"

namespace quipu::recall {

/// One place of an answer.
struct Ranked {
  std::int64_t key = 0;
  double score = 0;
  RankReason reason{};
};

/// The words alone.
std::vector<Ranked> by_words(std::span<const search::Match> lexical);
/// Both, fused as `ranking` says.
std::vector<Ranked> by_both(std::span<const search::Match> lexical,
                            std::span<const search::Match> vector, const Ranking& ranking);

}  // namespace quipu::recall
