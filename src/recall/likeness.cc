#include "recall/likeness.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/siphash.h"
#include "search/analyser.h"

namespace quipu::recall {
namespace {

constexpr std::size_t kRows = 3;  // in a band
constexpr SipKey kKey{.k0 = 0x6d656d6f7279, .k1 = 0x6c696b656c79};

// A bijection that leaves no trace of its argument's order (splitmix64).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Collector : public search::TokenSink {
 public:
  bool take(const search::Token& token) override {
    // The same words in another form say nothing new.
    if (token.same_place) return true;
    const std::uint64_t word = siphash(kKey, token.text);
    if (has_last_) parts.push_back(mixed(last_ ^ std::rotl(word, 17)));
    parts.push_back(word);
    order = mixed(order ^ word);
    last_ = word;
    has_last_ = true;
    return true;
  }

  std::vector<std::uint64_t> parts;
  std::uint64_t order = 0;

 private:
  std::uint64_t last_ = 0;
  bool has_last_ = false;
};

}  // namespace

Likeness likeness_of(std::string_view text, std::string_view scope) {
  Collector collector;
  search::analyse(text, collector);
  // Signs only: then they are the words.
  if (collector.parts.empty()) {
    collector.order = siphash(kKey, text);
    collector.parts.push_back(collector.order);
  }
  Likeness likeness;
  likeness.parts = std::move(collector.parts);
  std::sort(likeness.parts.begin(), likeness.parts.end());
  likeness.parts.erase(std::unique(likeness.parts.begin(), likeness.parts.end()),
                       likeness.parts.end());

  const std::uint64_t place = siphash(kKey, scope);
  likeness.words = static_cast<std::int64_t>(mixed(collector.order ^ place));
  for (std::size_t band = 0; band < kBands; ++band) {
    std::uint64_t sum = mixed(place + band);
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::uint64_t salt = mixed(band * kRows + row);
      std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
      for (const std::uint64_t part : likeness.parts) least = std::min(least, mixed(part ^ salt));
      sum = mixed(sum ^ least);
    }
    likeness.bands[band] = static_cast<std::int64_t>(sum);
  }
  likeness.bands[kBands] = likeness.words;
  return likeness;
}

double common_share(const Likeness& one, const Likeness& other) {
  std::size_t common = 0;
  auto a = one.parts.begin();
  auto b = other.parts.begin();
  while (a != one.parts.end() && b != other.parts.end()) {
    if (*a == *b) ++common;
    const bool step_a = *a <= *b;
    const bool step_b = *b <= *a;
    if (step_a) ++a;
    if (step_b) ++b;
  }
  const std::size_t all = one.parts.size() + other.parts.size() - common;
  return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
}

}  // namespace quipu::recall
