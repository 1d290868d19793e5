#include <algorithm>
#include <bit>
#include <cstring>

#include "store/usage_sums.h"
#include "view/usage_fold.h"

namespace quipu {
namespace {

using view::Request;
using view::RequestKey;
using view::UsageRow;
using view::UsageRowPointer;

// Where each key was met first. A table of our own, because all requests of a store pass
// through it for every answer. Keys are hashes already.
class Places {
 public:
  explicit Places(std::size_t keys) : slots_(std::bit_ceil(2 * keys + 1)) {}

  /// The place of the key, which is `place` when it was not met before.
  std::uint32_t meet(const RequestKey& key, std::uint32_t place) {
    std::uint64_t at = 0;
    std::memcpy(&at, key.data(), sizeof at);
    for (;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.key == nullptr) slot = {.key = &key, .place = place};
      if (*slot.key == key) return slot.place;
    }
  }

 private:
  struct Slot {
    const RequestKey* key = nullptr;
    std::uint32_t place = 0;
  };
  std::vector<Slot> slots_;  // half of them empty
};

const UsageRow* find(const std::vector<UsageRowPointer>& rows, const std::string& session_id) {
  const auto at = std::lower_bound(
      rows.begin(), rows.end(), session_id,
      [](const UsageRowPointer& row, const std::string& id) { return row->session_id < id; });
  return at != rows.end() && (*at)->session_id == session_id ? at->get() : nullptr;
}

// Copies come after what they are copies of, usage that is in no session after all.
std::vector<const UsageRow*> oldest_first(const std::vector<UsageRowPointer>& rows) {
  std::vector<const UsageRow*> order;
  for (const UsageRowPointer& row : rows) {
    if (!row->problem.empty()) continue;
    // The model's side of a conversation knows better what it took.
    const UsageRow* model_side =
        row->model_session.empty() ? nullptr : find(rows, row->model_session);
    if (model_side == nullptr || !model_side->problem.empty()) order.push_back(row.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const UsageRow* a, const UsageRow* b) {
    const bool is_last = b->session_id == view::kUsageLog;
    if (a->session_id == view::kUsageLog || is_last) return is_last && a != b;
    return a->created != b->created ? a->created < b->created : a->session_id < b->session_id;
  });
  return order;
}

void fill_in(const Request& more, CountedRequest& counted) {
  if (counted.cost_nano_usd == Request::kUnknown) counted.cost_nano_usd = more.cost_nano_usd;
  if (counted.latency_ms == Request::kUnknown) counted.latency_ms = more.latency_ms;
}

}  // namespace

std::vector<CountedRequest> count_once(const std::vector<UsageRowPointer>& rows) {
  const std::vector<const UsageRow*> order = oldest_first(rows);
  std::size_t all = 0;
  for (const UsageRow* row : order) all += row->requests.size();
  Places places(all);
  std::vector<CountedRequest> counted;
  counted.reserve(all);
  for (const UsageRow* row : order) {
    const bool is_session = row->session_id != view::kUsageLog;
    for (const Request& request : row->requests) {
      const auto next = static_cast<std::uint32_t>(counted.size());
      const std::uint32_t place = places.meet(request.key, next);
      if (place != next) {
        if (!is_session) fill_in(request, counted[place]);
        continue;
      }
      const UsageRow* session = is_session ? row : find(rows, row->names[request.session]);
      counted.emplace_back(request, *row, session);
    }
  }
  return counted;
}

}  // namespace quipu
