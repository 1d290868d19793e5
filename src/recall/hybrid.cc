#include "recall/hybrid.h"

namespace quipu::recall {

std::vector<Ranked> by_words(std::span<const search::Match> lexical) {
  std::vector<Ranked> ranked;
  for (const search::Match& match : lexical) {
    ranked.push_back({.key = match.key,
                      .score = match.score,
                      .reason = {.lexical_rank = ranked.size() + 1,
                                 .vector_rank = 0,
                                 .lexical_score = match.score,
                                 .vector_score = 0}});
  }
  return ranked;
}

std::vector<Ranked> by_both(std::span<const search::Match> lexical,
                            std::span<const search::Match> vector, const Ranking& ranking) {
  const Fusion fusion = ranking.fusion == quipu::Fusion::kMinMax ? Fusion::kScores : Fusion::kRanks;
  std::vector<Ranked> ranked;
  for (const Fused& fused :
       fuse(fusion, lexical, vector,
            {.lexical = ranking.lexical_weight, .vector = ranking.vector_weight})) {
    ranked.push_back({.key = fused.key,
                      .score = fused.score,
                      .reason = {.lexical_rank = fused.lexical.rank,
                                 .vector_rank = fused.vector.rank,
                                 .lexical_score = fused.lexical.score,
                                 .vector_score = fused.vector.score}});
  }
  return ranked;
}

}  // namespace quipu::recall
