#include <algorithm>
#include <bit>

#include "store/usage_sums.h"
#include "view/usage_fold.h"

namespace quipu {
namespace {

using view::Request;
using view::RequestKey;
using view::RequestWalk;
using view::UsageRow;
using view::UsageRowPointer;

// Of a packed request, more or less.
constexpr std::size_t kRequestBytes = 40;

// The keys that were met. A table of our own, because all requests of a store pass through
// it for every answer.
class Met {
 public:
  explicit Met(std::size_t expected) { grow(2 * expected); }

  /// False: it was met before.
  bool insert(const RequestKey& key) {
    if (2 * (count_ + 1) > slots_.size()) grow(2 * slots_.size());
    RequestKey& slot = slots_[slot_of(key)];
    if (slot == key) return false;
    slot = key;
    ++count_;
    return true;
  }

 private:
  // No hash is all zeros.
  static bool is_empty(const RequestKey& key) { return key == RequestKey(); }

  // Where it is, or where it would go: half of the slots stay empty. Keys are hashes.
  std::size_t slot_of(const RequestKey& key) const {
    for (std::uint64_t at = key.low;; ++at) {
      const std::size_t slot = at & (slots_.size() - 1);
      if (is_empty(slots_[slot]) || slots_[slot] == key) return slot;
    }
  }

  void grow(std::size_t slots) {
    const std::vector<RequestKey> before = std::move(slots_);
    slots_.assign(std::bit_ceil(std::max<std::size_t>(slots, 2)), RequestKey());
    for (const RequestKey& key : before) {
      if (!is_empty(key)) slots_[slot_of(key)] = key;
    }
  }

  std::vector<RequestKey> slots_;
  std::size_t count_ = 0;
};

const UsageRow* find(const std::vector<UsageRowPointer>& rows, const std::string& session_id) {
  const auto at = std::lower_bound(
      rows.begin(), rows.end(), session_id,
      [](const UsageRowPointer& row, const std::string& id) { return row->session_id < id; });
  return at != rows.end() && (*at)->session_id == session_id ? at->get() : nullptr;
}

// Copies come after what they are copies of.
std::vector<const UsageRow*> oldest_first(const std::vector<UsageRowPointer>& rows) {
  std::vector<const UsageRow*> order;
  for (const UsageRowPointer& row : rows) {
    if (!row->problem.empty() || row->session_id == view::kUsageLog) continue;
    // The model's side of a conversation knows better what it took.
    const UsageRow* model_side =
        row->model_session.empty() ? nullptr : find(rows, row->model_session);
    if (model_side == nullptr || !model_side->problem.empty()) order.push_back(row.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const UsageRow* a, const UsageRow* b) {
    return a->created < b->created;  // by id already
  });
  return order;
}

// What was recorded outside of sessions.
class Recorded {
 public:
  explicit Recorded(const UsageRow* row) : row_(row) {
    if (row == nullptr) return;
    RequestWalk walk(*row);
    for (Request request; walk.next(request);) requests_.push_back({request, false});
    std::sort(requests_.begin(), requests_.end(),
              [](const One& a, const One& b) { return a.request.key < b.request.key; });
  }

  /// A session speaks of the same request: it is told what it does not say.
  void fill_in(Request& request) {
    const auto at = std::lower_bound(
        requests_.begin(), requests_.end(), request.key,
        [](const One& one, const RequestKey& key) { return one.request.key < key; });
    if (at == requests_.end() || at->request.key != request.key) return;
    at->is_counted = true;
    if (request.cost_nano_usd == Request::kUnknown)
      request.cost_nano_usd = at->request.cost_nano_usd;
    if (request.latency_ms == Request::kUnknown) request.latency_ms = at->request.latency_ms;
  }

  void count_rest(const std::vector<UsageRowPointer>& rows,
                  const std::function<void(const CountedRequest&)>& count) const {
    for (const One& one : requests_) {
      if (one.is_counted) continue;
      count({.request = one.request,
             .row = row_,
             .session_row = find(rows, row_->names[one.request.session])});
    }
  }

 private:
  struct One {
    Request request;
    bool is_counted = false;
  };
  const UsageRow* row_;
  std::vector<One> requests_;  // by key
};

}  // namespace

void count_once(const std::vector<UsageRowPointer>& rows,
                const std::function<void(const CountedRequest&)>& count) {
  Recorded recorded(find(rows, view::kUsageLog));
  const std::vector<const UsageRow*> order = oldest_first(rows);
  std::size_t bytes = 0;
  for (const UsageRow* row : order) bytes += row->requests.size();
  Met met(bytes / kRequestBytes);
  CountedRequest counted;
  for (const UsageRow* row : order) {
    counted.row = row;
    counted.session_row = row;
    RequestWalk walk(*row);
    while (walk.next(counted.request)) {
      if (!met.insert(counted.request.key)) continue;
      recorded.fill_in(counted.request);
      count(counted);
    }
  }
  recorded.count_rest(rows, count);
}

}  // namespace quipu
