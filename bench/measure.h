// Measuring on a noisy machine: contenders take turns in every round, the order
// turns with the rounds, and what is reported is the median of the rounds'
// ratios. A ratio of two medians would compare different moments.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "quipu/result.h"

namespace quipu::bench {

/// A wrong answer: a benchmark of it would mean nothing.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void check(bool holds, const std::string& what);

template <class T>
T must(Result<T> result, const std::string& what) {
  check(result.ok(), result.ok() ? what : what + ": " + result.error().message());
  return std::move(result).value();
}
inline void must(const Result<void>& result, const std::string& what) {
  check(result.ok(), result.ok() ? what : what + ": " + result.error().message());
}

class Stopwatch {
 public:
  double nanoseconds() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double median(std::vector<double> values);

/// Runs `count` operations and answers the median of their costs.
double median_cost(std::size_t count, const std::function<void(std::size_t)>& operation);

/// One turn of a contender; its cost in whatever unit the row uses.
using Turn = std::function<double(std::size_t round)>;

class Rounds {
 public:
  explicit Rounds(std::vector<std::vector<double>> costs) : costs_(std::move(costs)) {}
  double cost(std::size_t contender) const { return median(costs_[contender]); }
  /// The median over the rounds of `contender`'s cost in terms of `other`'s.
  double ratio(std::size_t contender, std::size_t other) const;

 private:
  std::vector<std::vector<double>> costs_;  // by contender, then round
};

/// One round more than asked for is run and the first one dropped: it pays for
/// page faults and cold caches.
Rounds take_turns(std::size_t rounds, const std::vector<Turn>& contenders);

/// Keeps the compiler from dropping work whose result nobody reads.
void consume(const void* result);

}  // namespace quipu::bench
