// Where each id of a batch stands, in one piece of memory: a node an id would
// cost a batch more than looking at its entries.
#pragma once

#include <bit>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace quipu {

class IdTable {
 public:
  IdTable() = default;
  /// With room for so many ids, and no more.
  explicit IdTable(std::size_t count) : slots_(std::bit_ceil(2 * count)) {}

  /// Notes the place of an id, which is not empty and must outlive the table.
  /// False: it has one already.
  bool insert(std::string_view id, std::size_t place) {
    Slot& slot = slots_[slot_of(id)];
    if (!slot.id.empty()) return false;
    slot = {.id = id, .place = place};
    return true;
  }

  std::optional<std::size_t> find(std::string_view id) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[slot_of(id)];
    return slot.id.empty() ? std::nullopt : std::optional(slot.place);
  }

 private:
  struct Slot {
    std::string_view id;  // empty: none
    std::size_t place = 0;
  };

  // Where the id is, or where it would go: half of the slots stay empty.
  std::size_t slot_of(std::string_view id) const {
    std::size_t at = std::hash<std::string_view>()(id);
    for (;; ++at) {
      at &= slots_.size() - 1;
      if (slots_[at].id.empty() || slots_[at].id == id) return at;
    }
  }

  std::vector<Slot> slots_;
};

}  // namespace quipu
