#include "recall/usefulness.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace quipu::recall {
namespace {

constexpr double kHalfLifeMs = 30.0 * 24 * 3600 * 1000;

}  // namespace

double usefulness(const Kept& node, std::int64_t now_ms) {
  const auto age = static_cast<double>(std::max<std::int64_t>(0, now_ms - node.touched_ms));
  return node.importance + std::exp2(-age / kHalfLifeMs) +
         std::log1p(static_cast<double>(node.hits));
}

std::vector<Kept> to_evict(std::vector<Kept> nodes, const EvictOptions& options,
                           std::int64_t now_ms) {
  const std::size_t all = nodes.size();
  std::erase_if(nodes, [](const Kept& node) { return node.pinned; });
  const auto has_expired = [&](const Kept& node) {
    return node.expires_ms && *node.expires_ms <= now_ms;
  };
  const auto is_too_old = [&](const Kept& node) {
    return options.max_age && now_ms - node.touched_ms > options.max_age->count();
  };
  struct Candidate {
    Kept node;
    int group = 0;  // 0 and 1 go whatever their number
    double use = 0;
  };
  std::vector<Candidate> order;
  for (Kept& node : nodes) {
    const int group = has_expired(node)  ? 0
                      : is_too_old(node) ? 1
                                         : 2 + static_cast<int>(node.kind);
    const double use = usefulness(node, now_ms);
    order.push_back({.node = std::move(node), .group = group, .use = use});
  }
  std::sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.group, a.use, a.node.ordinal) < std::tie(b.group, b.use, b.node.ordinal);
  });
  std::vector<Kept> going;
  for (Candidate& candidate : order) {
    const bool is_over = options.max_nodes && all - going.size() > *options.max_nodes;
    if (candidate.group >= 2 && !is_over) break;
    going.push_back(std::move(candidate.node));
  }
  return going;
}

}  // namespace quipu::recall
