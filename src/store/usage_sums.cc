#include "store/usage_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "store/calendar.h"

namespace quipu {
namespace {

using view::Request;

// Half of what fits, so that two of them can be added. Bytes from a disk may say anything.
constexpr std::int64_t kCostMax = std::numeric_limits<std::int64_t>::max() / 2;

void add_to(std::uint64_t& sum, std::uint64_t more) {
  sum = more > std::numeric_limits<std::uint64_t>::max() - sum
            ? std::numeric_limits<std::uint64_t>::max()
            : sum + more;
}
void add_to(std::int64_t& sum, std::int64_t more) {
  sum = more > kCostMax - sum ? kCostMax : sum + more;
}

/// A sum in the making.
struct Group {
  UsageSum sum;
  std::vector<std::uint64_t> latencies_ms;
  std::map<std::string, Group> parts;
};

struct Cost {
  std::int64_t nano_usd = 0;
  bool is_recorded = false;
};

void add(Group& group, const CountedRequest& counted, const std::optional<Cost>& cost) {
  const Request& request = counted.request;
  UsageSum& sum = group.sum;
  ++sum.requests;
  add_to(sum.tokens_in, request.tokens_in);
  add_to(sum.tokens_out, request.tokens_out);
  add_to(sum.cache_read, request.cache_read);
  add_to(sum.cache_write, request.cache_write);
  add_to(sum.reasoning, request.reasoning);
  if (!cost) {
    ++sum.unpriced;
  } else {
    add_to(cost->is_recorded ? sum.cost_recorded_nano_usd : sum.cost_computed_nano_usd,
           cost->nano_usd);
  }
  if (request.latency_ms != Request::kUnknown) {
    group.latencies_ms.push_back(static_cast<std::uint64_t>(request.latency_ms));
  }
}

std::vector<UsageGroup> finished(std::map<std::string, Group>&& groups);

UsageGroup finished(std::string name, Group&& group) {
  group.sum.latency = percentiles(group.latencies_ms);
  return {.name = std::move(name), .sum = group.sum, .parts = finished(std::move(group.parts))};
}

std::vector<UsageGroup> finished(std::map<std::string, Group>&& groups) {
  std::vector<UsageGroup> done;
  for (auto& [name, group] : groups) done.push_back(finished(name, std::move(group)));
  return done;
}

/// The days of requests, and what they are called. Requests next to each other are mostly
/// of the same hour and day, so the last answer is kept.
class Days {
 public:
  explicit Days(const UsageQuery& query) : query_(query) {}

  const std::string& name(std::optional<std::int64_t> time_ms, UsageBy by) {
    static const std::string kNone;
    if (!time_ms) return kNone;
    const std::int64_t day = day_of(*time_ms + offset(*time_ms));
    auto& names = by == UsageBy::kDay ? days_ : by == UsageBy::kWeek ? weeks_ : months_;
    const auto [at, is_new] = names.try_emplace(day);
    if (is_new) {
      at->second = by == UsageBy::kDay    ? day_name(day)
                   : by == UsageBy::kWeek ? week_name(day)
                                          : month_name(day);
    }
    return at->second;
  }

 private:
  // No zone changes its clocks but at a quarter of an hour.
  std::int64_t offset(std::int64_t time_ms) {
    constexpr std::int64_t kQuarterMs = std::int64_t{15} * 60 * 1000;
    if (!query_.utc_offset_ms) return 0;
    const std::int64_t quarter = time_ms / kQuarterMs;
    if (!offset_at_ || *offset_at_ != quarter) {
      offset_at_ = quarter;
      offset_ms_ = query_.utc_offset_ms(time_ms);
    }
    return offset_ms_;
  }

  const UsageQuery& query_;
  std::unordered_map<std::int64_t, std::string> days_;
  std::unordered_map<std::int64_t, std::string> weeks_;
  std::unordered_map<std::int64_t, std::string> months_;
  std::optional<std::int64_t> offset_at_;
  std::int64_t offset_ms_ = 0;
};

/// What requests cost. A price is looked for when model, provider or day are others than the
/// last time.
class Costs {
 public:
  explicit Costs(const PriceList* prices) : prices_(prices) {}

  std::optional<Cost> of(const CountedRequest& counted) {
    const Request& request = counted.request;
    if (request.cost_nano_usd != Request::kUnknown) {
      return Cost{.nano_usd = request.cost_nano_usd, .is_recorded = true};
    }
    const ModelPrice* price = prices_ == nullptr ? nullptr : find(counted);
    if (price == nullptr) return std::nullopt;
    Usage usage;
    usage.tokens_in = request.tokens_in;
    usage.tokens_out = request.tokens_out;
    usage.cache_read = request.cache_read;
    usage.cache_write = request.cache_write;
    usage.reasoning = request.reasoning;
    const auto nano_usd = quipu::cost_nano_usd(*price, usage);
    if (!nano_usd) return std::nullopt;
    return Cost{.nano_usd = *nano_usd, .is_recorded = false};
  }

 private:
  // The day of a price is that of UTC, so that a cost does not depend on who asks.
  const ModelPrice* find(const CountedRequest& counted) {
    const auto& time_ms = counted.request.time_ms;
    const std::int64_t day = time_ms ? day_of(*time_ms) : kNoDay;
    if (model_ == &counted.model() && provider_ == &counted.provider() && day_ == day) {
      return price_;
    }
    model_ = &counted.model();
    provider_ = &counted.provider();
    day_ = day;
    const std::string name = day == kNoDay ? std::string() : day_name(day);
    price_ = prices_->find({.model = *model_, .provider = *provider_, .day = name});
    return price_;
  }

  static constexpr std::int64_t kNoDay = std::numeric_limits<std::int64_t>::min();
  const PriceList* prices_;
  const std::string* model_ = nullptr;
  const std::string* provider_ = nullptr;
  std::int64_t day_ = kNoDay;
  const ModelPrice* price_ = nullptr;
};

class Sums {
 public:
  explicit Sums(const UsageQuery& query) : query_(query), days_(query), costs_(query.prices) {}

  void count(const CountedRequest& counted) {
    if (!is_wanted(counted)) return;
    const std::optional<Cost> cost = costs_.of(counted);
    add(total_, counted, cost);
    Group& group = group_of(name_of(counted, query_.by));
    add(group, counted, cost);
    if (query_.then_by) add(group.parts[name_of(counted, *query_.then_by)], counted, cost);
    if (!cost) add(unpriced_[counted.model()], counted, cost);
  }

  UsageReport report() && {
    return {.groups = finished(std::move(groups_)),
            .total = finished({}, std::move(total_)).sum,
            .unpriced = finished(std::move(unpriced_))};
  }

 private:
  bool is_wanted(const CountedRequest& counted) {
    const auto& time_ms = counted.request.time_ms;
    if (query_.from_ms && (!time_ms || *time_ms < *query_.from_ms)) return false;
    if (query_.to_ms && (!time_ms || *time_ms >= *query_.to_ms)) return false;
    if (!query_.project.admits(counted.project())) return false;
    if (query_.agent && *query_.agent != counted.agent()) return false;
    return !query_.model || matches_pattern(*query_.model, counted.model());
  }

  const std::string& name_of(const CountedRequest& counted, UsageBy by) {
    switch (by) {
      case UsageBy::kAgent:
        return counted.agent();
      case UsageBy::kModel:
        return counted.model();
      case UsageBy::kProject:
        return counted.project();
      case UsageBy::kSession:
        return counted.session();
      case UsageBy::kDay:
      case UsageBy::kWeek:
      case UsageBy::kMonth:
        break;
    }
    return days_.name(counted.request.time_ms, by);
  }

  // Mostly that of the request before.
  Group& group_of(const std::string& name) {
    if (last_name_ != &name) last_group_ = &groups_[name];
    last_name_ = &name;
    return *last_group_;
  }

  const UsageQuery& query_;
  Days days_;
  Costs costs_;
  Group total_;
  std::map<std::string, Group> groups_;
  std::map<std::string, Group> unpriced_;
  const std::string* last_name_ = nullptr;
  Group* last_group_ = nullptr;
};

}  // namespace

UsageLatency percentiles(std::vector<std::uint64_t>& latencies_ms) {
  if (latencies_ms.empty()) return {};
  std::sort(latencies_ms.begin(), latencies_ms.end());
  const std::size_t count = latencies_ms.size();
  const auto at = [&](std::size_t percent) {
    return latencies_ms[(count * percent + 99) / 100 - 1];
  };
  return {.requests = count, .p50_ms = at(50), .p90_ms = at(90), .p99_ms = at(99)};
}

UsageReport sum_up(const std::vector<view::UsageRowPointer>& rows, const UsageQuery& query) {
  Sums sums(query);
  count_once(rows, [&](const CountedRequest& counted) { sums.count(counted); });
  return std::move(sums).report();
}

}  // namespace quipu
