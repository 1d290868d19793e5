#include "fs/sim_crash.h"

#include <limits>

namespace quipu::fs {
namespace {

const char* data_name(DataLoss loss) {
  switch (loss) {
    case DataLoss::kKilled:
      return "killed";
    case DataLoss::kNothing:
      return "nothing";
    case DataLoss::kPrefix:
      return "prefix";
    case DataLoss::kBlocks512Zero:
      return "blocks512-zero";
    case DataLoss::kBlocks512Stale:
      return "blocks512-stale";
    case DataLoss::kBlocks512Random:
      return "blocks512-random";
    case DataLoss::kBlocks4096Zero:
      return "blocks4096-zero";
    case DataLoss::kBlocks4096Stale:
      return "blocks4096-stale";
    case DataLoss::kBlocks4096Random:
      return "blocks4096-random";
    case DataLoss::kSizeWithoutData:
      return "size-without-data";
    case DataLoss::kDataWithoutSize:
      return "data-without-size";
    case DataLoss::kEverything:
      return "everything";
  }
  return "?";
}

// The splitmix64 step: every seed gives a good series, also 0, 1, 2 ...
std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::string name(CrashPolicy policy) {
  std::string text = data_name(policy.data);
  if (policy.data == DataLoss::kKilled) return text;
  switch (policy.names) {
    case NameLoss::kNone:
      return text + "/names-kept";
    case NameLoss::kAll:
      return text + "/names-lost";
    case NameLoss::kSome:
      return text + "/names-some";
  }
  return text;
}

const std::vector<CrashPolicy>& all_crash_policies() {
  static const auto* const policies = [] {
    auto* list = new std::vector<CrashPolicy>{{DataLoss::kKilled, NameLoss::kNone}};
    for (int data = static_cast<int>(DataLoss::kNothing);
         data <= static_cast<int>(DataLoss::kEverything); ++data) {
      for (const NameLoss names : {NameLoss::kAll, NameLoss::kNone, NameLoss::kSome}) {
        list->push_back({static_cast<DataLoss>(data), names});
      }
    }
    return list;
  }();
  return *policies;
}

namespace sim {

std::uint64_t Chooser::choose(std::uint64_t count) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  variants_ = variants_ > kMax / count ? kMax : variants_ * count;
  if (numbered_) {
    const std::uint64_t digit = state_ % count;
    state_ /= count;
    return digit;
  }
  return splitmix(state_) % count;
}

std::uint64_t Chooser::noise() { return splitmix(noise_); }

}  // namespace sim
}  // namespace quipu::fs
