#include "measure.h"

#include <algorithm>

namespace quipu::bench {

void check(bool holds, const std::string& what) {
  if (!holds) throw CheckFailed(what);
}

double median(std::vector<double> values) {
  check(!values.empty(), "nothing was measured");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_cost(std::size_t count, const std::function<void(std::size_t)>& operation) {
  std::vector<double> costs;
  costs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Stopwatch watch;
    operation(i);
    costs.push_back(watch.nanoseconds());
  }
  return median(std::move(costs));
}

double Rounds::ratio(std::size_t contender, std::size_t other) const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < costs_[contender].size(); ++round) {
    ratios.push_back(costs_[contender][round] / costs_[other][round]);
  }
  return median(std::move(ratios));
}

Rounds take_turns(std::size_t rounds, const std::vector<Turn>& contenders) {
  std::vector<std::vector<double>> costs(contenders.size());
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t contender = (round + turn) % contenders.size();
      const double cost = contenders[contender](round);
      if (round > 0) costs[contender].push_back(cost);
    }
  }
  return Rounds(std::move(costs));
}

void consume(const void* result) { asm volatile("" : : "g"(result) : "memory"); }

}  // namespace quipu::bench
