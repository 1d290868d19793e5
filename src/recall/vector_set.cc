#include "recall/vector_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

#include "base/try.h"
#include "recall/vector.h"
#include "recall/vector_scan.h"

namespace quipu::recall {
namespace {

/// Few enough that their products stay in the nearest cache.
constexpr std::size_t kBlockRows = 256;
constexpr std::size_t kCandidatesPerAnswer = 4;
/// Small questions look at more: it costs nothing.
constexpr std::size_t kCandidatesMin = 64;

struct FreeAligned {
  void operator()(std::int8_t* bytes) const {
    ::operator delete[](bytes, std::align_val_t{kRowAlignment});
  }
};
using Row = std::unique_ptr<std::int8_t[], FreeAligned>;

Row zeroed_rows(std::size_t bytes) {
  Row rows(static_cast<std::int8_t*>(::operator new[](bytes, std::align_val_t{kRowAlignment})));
  std::memset(rows.get(), 0, bytes);
  return rows;
}

// A component in two parts.
struct Steps {
  std::int8_t coarse;
  std::int16_t fine;
};
constexpr std::int32_t kFine = 65536;
/// Those of the largest component.
constexpr double kStepsMax = 127.0 * kFine;

Steps split(double exact) {
  const auto steps = static_cast<std::int32_t>(exact + std::copysign(0.5, exact));
  const std::int32_t coarse = (steps + kFine / 2) >> 16;
  return {static_cast<std::int8_t>(coarse), static_cast<std::int16_t>(steps - coarse * kFine)};
}

// In doubles, where the square of no float is too large or too small.
struct Extent {
  explicit Extent(std::span<const float> vector) {
    double square = 0;
    for (const double x : vector) {
      square += x * x;
      most = std::max(most, std::abs(x));
    }
    length = std::sqrt(square);
  }
  double steps_per_unit() const { return kStepsMax / most; }

  double length = 0;
  double most = 0;  // of its components
};

bool is_better(const search::Match& a, const search::Match& b) {
  return a.score != b.score ? a.score > b.score : a.key > b.key;
}

// The best of what it is offered; the worst of them is at hand.
class Best {
 public:
  explicit Best(std::size_t count) : count_(count) {}

  bool would_take(const search::Match& match) const {
    return heap_.size() < count_ || is_better(match, heap_.front());
  }
  void take(const search::Match& match, std::size_t slot) {
    if (heap_.size() == count_) {
      std::ranges::pop_heap(heap_, is_better);
      heap_.pop_back();
    }
    heap_.push_back({match, slot});
    std::ranges::push_heap(heap_, is_better);
  }

  struct Candidate : search::Match {
    std::size_t slot = 0;
  };
  const std::vector<Candidate>& candidates() const { return heap_; }

 private:
  std::size_t count_;
  std::vector<Candidate> heap_;
};

}  // namespace

struct VectorSet::Block {
  Block(std::size_t width, std::size_t dimensions)
      : coarse(zeroed_rows(kBlockRows * width)), fine(kBlockRows * dimensions) {}

  Row coarse;
  std::vector<std::int16_t> fine;
  std::array<double, kBlockRows> scales{};
  std::array<std::int64_t, kBlockRows> keys{};
};

VectorSet::VectorSet(std::size_t dimensions)
    : dimensions_(dimensions),
      width_((dimensions + kRowAlignment - 1) / kRowAlignment * kRowAlignment) {}

VectorSet::~VectorSet() = default;
VectorSet::VectorSet(VectorSet&&) noexcept = default;
VectorSet& VectorSet::operator=(VectorSet&&) noexcept = default;

VectorSet::Slot VectorSet::slot(std::size_t number) const {
  return {number / kBlockRows, number % kBlockRows};
}

Result<void> VectorSet::put(std::int64_t key, std::span<const float> vector) {
  TRY(check_vector(vector, dimensions_));
  const auto [found, is_new] = slots_.try_emplace(key, slots_.size());
  const Slot at = slot(found->second);
  if (at.block == blocks_.size()) blocks_.push_back(std::make_unique<Block>(width_, dimensions_));
  Block& block = *blocks_[at.block];
  const Extent extent(vector);
  std::int8_t* const coarse = block.coarse.get() + at.row * width_;
  std::int16_t* const fine = block.fine.data() + at.row * dimensions_;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    const Steps steps = split(vector[i] * extent.steps_per_unit());
    coarse[i] = steps.coarse;
    fine[i] = steps.fine;
  }
  block.scales[at.row] = 1 / (extent.steps_per_unit() * extent.length);
  block.keys[at.row] = key;
  return {};
}

bool VectorSet::remove(std::int64_t key) {
  const auto found = slots_.find(key);
  if (found == slots_.end()) return false;
  const Slot hole = slot(found->second);
  const Slot last = slot(slots_.size() - 1);
  Block& to = *blocks_[hole.block];
  const Block& from = *blocks_[last.block];
  slots_[from.keys[last.row]] = found->second;
  std::memmove(to.coarse.get() + hole.row * width_, from.coarse.get() + last.row * width_, width_);
  std::memmove(to.fine.data() + hole.row * dimensions_, from.fine.data() + last.row * dimensions_,
               dimensions_ * sizeof(std::int16_t));
  to.scales[hole.row] = from.scales[last.row];
  to.keys[hole.row] = from.keys[last.row];
  slots_.erase(found);
  if (last.row == 0) blocks_.pop_back();
  return true;
}

std::vector<std::int64_t> VectorSet::keys() const {
  std::vector<std::int64_t> keys;
  for (const auto& [key, slot] : slots_) keys.push_back(key);
  return keys;
}

std::size_t VectorSet::bytes() const {
  const std::size_t block = sizeof(Block) + kBlockRows * (width_ + dimensions_ * 2);
  // A node of the table: key, slot, the next node, and what malloc adds.
  const std::size_t table = slots_.size() * 48 + slots_.bucket_count() * sizeof(void*);
  return sizeof(*this) + blocks_.size() * block + table;
}

double VectorSet::product(Slot at, std::span<const float> query) const {
  const Block& block = *blocks_[at.block];
  const std::int8_t* const coarse = block.coarse.get() + at.row * width_;
  const std::int16_t* const fine = block.fine.data() + at.row * dimensions_;
  double sum = 0;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    sum += double{query[i]} * (coarse[i] * kFine + fine[i]);
  }
  return sum * block.scales[at.row];
}

Result<std::vector<search::Match>> VectorSet::nearest(std::span<const float> query,
                                                      std::size_t count,
                                                      const KeyFilter& filter) const {
  TRY(check_vector(query, dimensions_));
  std::vector<search::Match> answer;
  count = std::min(count, size());
  if (count == 0) return answer;

  const Extent extent(query);
  const Row coarse = zeroed_rows(width_);
  for (std::size_t i = 0; i < dimensions_; ++i) {
    coarse[i] = split(query[i] * extent.steps_per_unit()).coarse;
  }

  Best best(std::max(count * kCandidatesPerAnswer, kCandidatesMin));
  std::array<std::int32_t, kBlockRows> products;
  for (std::size_t first = 0; first < size(); first += kBlockRows) {
    const Block& block = *blocks_[first / kBlockRows];
    const std::size_t rows = std::min(kBlockRows, size() - first);
    scan_rows(coarse.get(), block.coarse.get(), width_, rows, products.data());
    for (std::size_t row = 0; row < rows; ++row) {
      const search::Match match{block.keys[row], products[row] * block.scales[row]};
      if (!best.would_take(match)) continue;
      if (!filter || filter(match.key)) best.take(match, first + row);
    }
  }
  for (const auto& candidate : best.candidates()) {
    const double cosine = product(slot(candidate.slot), query) / extent.length;
    answer.push_back({candidate.key, std::clamp(cosine, -1.0, 1.0)});
  }
  std::ranges::sort(answer, is_better);
  answer.resize(std::min(count, answer.size()));
  return answer;
}

}  // namespace quipu::recall
