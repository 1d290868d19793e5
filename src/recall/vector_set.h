// VectorSet: vectors in memory, and which of them are nearest to another one, by cosine.
//
// Every vector is looked at: with up to a million of them that is as fast as an index would need to
// be, needs no building, and misses nothing. A vector is scaled to length 1 and kept as whole
// numbers of 24 bits with a scale of its own, each in two parts that lie apart:
//
//   component = scale * (65536 * coarse + fine)      coarse: 8 bits, fine: 16 bits
//
// The scan reads the coarse parts only, one byte a component. The best of it, four times as many
// as asked for, are computed again from both parts, which together are as exact as the floats that
// they were made from. So three bytes a component do what a byte and a float would do with five;
// with a byte and a 16-bit float, also three, neighbours that differ in the fifth digit change
// places.
//
// Answers depend on what is in the set, not on the order in which it came, nor on the machine.
//
// Thread-safety: const calls from every thread, as long as nobody changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "quipu/result.h"
#include "search/text_index.h"

namespace quipu::recall {

/// Whether a key counts. Asked only for those that would be among the best so far.
using KeyFilter = std::function<bool(std::int64_t key)>;

class VectorSet {
 public:
  /// All its vectors have so many components, 1 to kDimensionsMax.
  explicit VectorSet(std::size_t dimensions);
  ~VectorSet();
  VectorSet(VectorSet&&) noexcept;
  VectorSet& operator=(VectorSet&&) noexcept;

  /// Adds it, or replaces what the key had. `invalid_argument` as check_vector says it.
  Result<void> put(std::int64_t key, std::span<const float> vector);
  /// False: there is none.
  bool remove(std::int64_t key);
  bool contains(std::int64_t key) const { return slots_.contains(key); }

  std::vector<std::int64_t> keys() const;
  std::size_t size() const { return slots_.size(); }
  std::size_t dimensions() const { return dimensions_; }
  /// Memory that it takes.
  std::size_t bytes() const;

  /// The `count` nearest, best first, of equals the greater key; `score` is the cosine.
  /// `invalid_argument` as check_vector says it of the query.
  Result<std::vector<search::Match>> nearest(std::span<const float> query, std::size_t count,
                                             const KeyFilter& filter = {}) const;

 private:
  struct Block;
  struct Slot {
    std::size_t block = 0;
    std::size_t row = 0;
  };
  Slot slot(std::size_t number) const;
  /// Of the query and a vector of length 1.
  double product(Slot slot, std::span<const float> query) const;

  std::size_t dimensions_;
  std::size_t width_;  // of a row, with what fills it up
  /// The last one alone may have free rows, at its end.
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unordered_map<std::int64_t, std::size_t> slots_;  // numbered through all blocks
};

}  // namespace quipu::recall
