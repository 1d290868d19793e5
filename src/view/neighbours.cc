#include "view/neighbours.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace quipu::view {
namespace {

// Between two messages agents write down a thing or two: usage, state, progress.
constexpr Ordinal kReach = 3;
// Entries are read beside so many hits: the price of two pages, however large the store is.
constexpr std::size_t kStrong = 20;

bool are_near(const Found& a, const Found& b) {
  return a.session_id == b.session_id && b.own - a.own <= kReach;
}

void sort_by_score(std::vector<Found>& found) {
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.key > b.key;
  });
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
  sort_by_score(found);
}

namespace {

/// Entries beside hits, by where they are.
class Joining {
 public:
  Joining(std::span<const Found> found, const MayJoin& may_join) : may_join_(may_join) {
    for (const Found& one : found) found_.emplace(one.session_id, one.own);
  }

  /// Looks one way from a hit, for the nearest that counts.
  void look(const Found& hit, bool forward, double score) {
    for (Ordinal step = 1; step <= kReach && (forward || step <= hit.own); ++step) {
      const Ordinal own = forward ? hit.own + step : hit.own - step;
      if (found_.contains({hit.session_id, own})) return;
      const auto [place, is_new] = beside_.try_emplace({hit.session_id, own});
      std::optional<Found>& one = place->second;
      if (is_new && may_join_(hit.session_id, own)) {
        // Below zero, where no document is.
        const std::int64_t key = -(hit.key * (2 * kReach) + (forward ? kReach : 0) + step);
        one = {.session_id = hit.session_id, .own = own, .key = key, .is_neighbour = true};
      }
      if (!one) continue;
      one->score += score;
      return;
    }
  }

  std::vector<Found> take() {
    std::vector<Found> taken;
    for (auto& [place, one] : beside_) {
      if (one) taken.push_back(std::move(*one));
    }
    return taken;
  }

 private:
  using Place = std::pair<std::string_view, Ordinal>;

  const MayJoin& may_join_;
  std::set<Place> found_;
  std::map<Place, std::optional<Found>> beside_;  // nothing: it may not join
};

}  // namespace

std::vector<Found> neighbours_of_best(std::span<const Found> found, double weight,
                                      const MayJoin& may_join) {
  Joining joining(found, may_join);
  for (const Found& hit : found.first(std::min(found.size(), kStrong))) {
    joining.look(hit, false, weight * hit.score);
    joining.look(hit, true, weight * hit.score);
  }
  return joining.take();
}

void join(std::vector<Found>& found, std::vector<Found> joining) {
  std::move(joining.begin(), joining.end(), std::back_inserter(found));
  sort_by_score(found);
}

}  // namespace quipu::view
