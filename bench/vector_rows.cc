#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "measure.h"
#include "recall/vector_set.h"
#include "rows.h"

namespace quipu::bench {
namespace {

constexpr std::size_t kDimensions = 384;
constexpr std::size_t kAnswers = 10;
constexpr std::size_t kClusters = 300;
constexpr double kBarNanoseconds = 8e6;

using Vector = std::array<float, kDimensions>;

// Vectors of length 1: in any direction, or around a few hundred centres, as texts about a few
// hundred subjects are.
class Source {
 public:
  explicit Source(bool is_clustered) {
    if (!is_clustered) return;
    for (std::size_t i = 0; i < kClusters; ++i) centres_.push_back(next(nullptr, 1));
  }
  Vector next() {
    if (centres_.empty()) return next(nullptr, 1);
    return next(&centres_[random_() % kClusters], 0.5F / std::sqrt(float{kDimensions}));
  }

 private:
  Vector next(const Vector* centre, float spread) {
    Vector vector{};
    if (centre != nullptr) vector = *centre;
    float square = 0;
    for (float& x : vector) {
      x += spread * normal_(random_);
      square += x * x;
    }
    for (float& x : vector) x /= std::sqrt(square);
    return vector;
  }

  std::mt19937_64 random_{20261116};
  std::normal_distribution<float> normal_;
  std::vector<Vector> centres_;
};

// The floats themselves: what the answers are compared with.
class FloatScan {
 public:
  explicit FloatScan(const std::vector<Vector>& vectors) : vectors_(vectors) {}

  std::set<std::int64_t> nearest(const Vector& query) {
    scores_.clear();
    for (std::size_t i = 0; i < vectors_.size(); ++i) {
      scores_.emplace_back(product(vectors_[i], query), static_cast<std::int64_t>(i));
    }
    const auto end = scores_.begin() + std::min(kAnswers, scores_.size());
    std::partial_sort(scores_.begin(), end, scores_.end(), std::greater<>());
    std::set<std::int64_t> keys;
    for (auto at = scores_.begin(); at != end; ++at) keys.insert(at->second);
    return keys;
  }

 private:
  static float product(const Vector& a, const Vector& b) {
    std::array<float, 16> sums{};
    for (std::size_t i = 0; i < kDimensions; i += sums.size()) {
      for (std::size_t lane = 0; lane < sums.size(); ++lane) {
        sums[lane] += a[i + lane] * b[i + lane];
      }
    }
    float sum = 0;
    for (const float part : sums) sum += part;
    return sum;
  }

  const std::vector<Vector>& vectors_;
  std::vector<std::pair<float, std::int64_t>> scores_;
};

std::vector<Row> rows_of(const std::string& kind, bool is_clustered, std::size_t count,
                         std::size_t rounds) {
  Source source(is_clustered);
  std::vector<Vector> vectors;
  vectors.reserve(count);
  recall::VectorSet set(kDimensions);
  for (std::size_t i = 0; i < count; ++i) {
    vectors.push_back(source.next());
    must(set.put(static_cast<std::int64_t>(i), vectors.back()), "put");
  }
  FloatScan floats(vectors);
  std::vector<Vector> queries;
  for (std::size_t i = 0; i <= rounds; ++i) queries.push_back(source.next());

  std::size_t found = 0;
  for (const Vector& query : queries) {
    const std::set<std::int64_t> expected = floats.nearest(query);
    for (const auto& match : must(set.nearest(query, kAnswers), "nearest")) {
      found += expected.count(match.key);
    }
  }
  const auto timed = [](const std::function<void()>& work) {
    const Stopwatch watch;
    work();
    return watch.nanoseconds();
  };
  const Rounds times = take_turns(
      rounds, {[&](std::size_t round) {
                 return timed([&] { must(set.nearest(queries[round], kAnswers), "nearest"); });
               },
               [&](std::size_t round) {
                 return timed([&] { check(!floats.nearest(queries[round]).empty(), "floats"); });
               }});
  const std::string what = std::to_string(count) + " x 384 vectors, " + kind;
  const double wanted = static_cast<double>(queries.size() * std::min(kAnswers, count));
  return {{.name = "nearest 10 of " + what + "; other: as floats",
           .ours = times.cost(0),
           .other = times.cost(1),
           .ratio = times.ratio(0, 1),
           .bar = Bar{Bar::Kind::kOursAtMost, kBarNanoseconds}},
          {.name = "of the 10 nearest by floats, found among " + what,
           .unit = Unit::kShare,
           .ours = static_cast<double>(found) / wanted,
           .bar = Bar{Bar::Kind::kOursAtLeast, 1}},
          {.name = "memory of " + what,
           .unit = Unit::kBytes,
           .ours = static_cast<double>(set.bytes())}};
}

}  // namespace

std::vector<Row> vector_rows(Fixture& fixture) {
  const Sizes& sizes = fixture.sizes();
  std::vector<Row> rows = rows_of("in any direction", false, sizes.vectors, sizes.vector_rounds);
  const std::vector<Row> clustered = rows_of("clustered", true, sizes.vectors, sizes.vector_rounds);
  rows.insert(rows.end(), clustered.begin(), clustered.end());
  return rows;
}

}  // namespace quipu::bench
