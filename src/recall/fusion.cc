#include "recall/fusion.h"

#include <algorithm>
#include <unordered_map>

namespace quipu::recall {
namespace {

/// The constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion": how little the first
/// ranks differ.
constexpr double kRankOffset = 60;

using ByKey = std::unordered_map<std::int64_t, Fused>;

void enter(std::span<const search::Match> list, Standing Fused::*arm, ByKey& all) {
  if (list.empty()) return;
  const auto [worst, best] = std::ranges::minmax(list, {}, &search::Match::score);
  const double range = best.score - worst.score;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& [key, score] = list[i];
    Fused& fused = all[key];
    fused.key = key;
    fused.*arm = {i + 1, score, range > 0 ? (score - worst.score) / range : 1};
  }
}

double part(Fusion fusion, const Standing& standing, double weight) {
  if (standing.rank == 0) return 0;
  if (fusion == Fusion::kScores) return weight * standing.share;
  return weight / (kRankOffset + static_cast<double>(standing.rank));
}

}  // namespace

std::vector<Fused> fuse(Fusion fusion, std::span<const search::Match> lexical,
                        std::span<const search::Match> vector, const FusionWeights& weights) {
  ByKey all;
  enter(lexical, &Fused::lexical, all);
  enter(vector, &Fused::vector, all);
  std::vector<Fused> answer;
  answer.reserve(all.size());
  for (auto& [key, fused] : all) {
    fused.score =
        part(fusion, fused.lexical, weights.lexical) + part(fusion, fused.vector, weights.vector);
    answer.push_back(fused);
  }
  std::ranges::sort(answer, [](const Fused& a, const Fused& b) {
    return a.score != b.score ? a.score > b.score : a.key > b.key;
  });
  return answer;
}

}  // namespace quipu::recall
