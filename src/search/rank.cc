#include "search/rank.h"

#include <algorithm>
#include <cmath>

namespace quipu::search {
namespace {

constexpr double kSaturation = 1.2;    // k1
constexpr double kLengthShare = 0.75;  // b
constexpr double kWorthLeast = 1e-6;

}  // namespace

std::vector<double> worths(const Statistics& statistics) {
  std::vector<double> worths;
  worths.reserve(statistics.holders.size());
  for (const double holders : statistics.holders) {
    const double others = std::max(statistics.documents - holders, 0.0);
    worths.push_back(std::max(std::log((others + 0.5) / (holders + 0.5)), kWorthLeast));
  }
  return worths;
}

double share(double count, double length, double average_length) {
  const double relative = average_length > 0 ? length / average_length : 1;
  const double damping = kSaturation * (1 - kLengthShare + kLengthShare * relative);
  return count > 0 ? count * (kSaturation + 1) / (count + damping) : 0;
}

double bm25(std::span<const Occurrence> occurrences, std::span<const double> worth, double length,
            double average_length, double context_weight) {
  double score = 0;
  for (std::size_t i = 0; i < occurrences.size(); ++i) {
    const double count = occurrences[i].in_text + context_weight * occurrences[i].in_context;
    score += worth[i] * share(count, length, average_length);
  }
  return score;
}

}  // namespace quipu::search
