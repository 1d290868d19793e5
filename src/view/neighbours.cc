#include "view/neighbours.h"

#include <algorithm>

namespace quipu::view {
namespace {

// Between two messages agents write down a thing or two: usage, state, progress.
constexpr Ordinal kReach = 3;

bool are_near(const Found& a, const Found& b) {
  return a.session_id == b.session_id && b.own - a.own <= kReach;
}

}  // namespace

void lift_by_neighbours(std::vector<Found>& found, double weight) {
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.session_id != b.session_id ? a.session_id < b.session_id : a.own < b.own;
  });
  std::vector<double> scores;
  scores.reserve(found.size());
  for (const Found& one : found) scores.push_back(one.score);
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    if (!are_near(found[i], found[i + 1])) continue;
    found[i].score += weight * scores[i + 1];
    found[i + 1].score += weight * scores[i];
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.key > b.key;
  });
}

}  // namespace quipu::view
