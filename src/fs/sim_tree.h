// The directories of the simulated disk: names as every process sees them,
// names as the medium has them, and the operations in between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs/sim_crash.h"

namespace quipu::fs::sim {

/// Where a name leads: a slot in the table of inodes or of directories.
struct Target {
  std::uint32_t slot = 0;
  bool directory = false;
  friend bool operator==(const Target&, const Target&) = default;
};

struct Entry {
  std::string name;
  Target target;
};

using Entries = std::vector<Entry>;

/// A value; copies share what they can. Directories are numbered; 0 is the root.
class Tree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  Tree();

  const Entries& entries(std::uint32_t directory) const { return *directories_[directory].current; }
  const Entries& durable(std::uint32_t directory) const { return *directories_[directory].durable; }
  const Target* find(std::uint32_t directory, std::string_view name) const;
  /// Whether a power cut could change names.
  bool dirty() const { return !ops_.empty(); }

  void add(std::uint32_t directory, std::string_view name, Target target);
  void remove(std::uint32_t directory, std::string_view name);
  /// `from` must exist; what `to` led to is replaced.
  void rename(std::uint32_t from, std::string_view from_name, std::uint32_t to,
              std::string_view to_name);
  /// A new directory, without a name yet.
  std::uint32_t make_directory();
  void sync(std::uint32_t directory);
  void sync_all();

  /// The names after a power cut.
  Tree crash(NameLoss loss, Chooser& chooser) const;

  /// Marks the inode slots that are or could become reachable.
  void mark(std::vector<bool>& slots) const;

 private:
  // Entries are never changed in place: other disks may share them.
  struct Directory {
    std::shared_ptr<const Entries> current;
    std::shared_ptr<const Entries> durable;
  };
  struct Place {
    std::uint32_t directory = 0;
    std::string name;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Op {
    enum class Kind : std::uint8_t { kAdd, kRemove, kRename } kind;
    Place place;
    Place to;  // of a rename; otherwise equal to `place`
    Target target;
  };
  using Side = std::shared_ptr<const Entries> Directory::*;

  static bool touches(const Op& a, const Op& b);
  void apply(const Op& op, Side side);
  void perform(Op op);

  std::vector<Directory> directories_;
  std::vector<Op> ops_;
};

}  // namespace quipu::fs::sim
