// The offset index of one log (sessions/<id>.idx): disposable, memory-mapped.
//
// One fixed record an entry: where its line is, the hash of its id, its place
// in the tree. With it the tail, any id, any path and the head are found
// without parsing the log. Everything in it can be computed from the log, and
// is, when it is missing, old or damaged.
//
// Layout (native byte order; a file of another byte order has another magic):
//
//   level 0   header (512 bytes: identity, then two state slots),
//             148 hash slots, 74 records                        = one page
//   level k   512·2^(k-1) hash slots, 256·2^(k-1) records       = 3·2^(k-1) pages
//
// Levels double: an append touches one page of the newest one at random, so that
// one must not be much larger than what is in it.
//
// Invariants:
//   1. Records and hash slots below the published count never change, so a
//      reader needs no lock. A level is never moved: growing adds the next one.
//   2. The state is published in the slot that is not in force and carries a
//      checksum; the newest sound slot counts. A writer killed in between
//      leaves the old one.
//   3. Every record and every hash slot carries a check of its own, looked at
//      before it is believed. What fails gives `corrupt`, and the caller
//      computes the index anew.
//   4. Ids are hashed with a key of this index: nobody can choose ids that
//      collide.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/siphash.h"
#include "fs/fs.h"
#include "model/fold.h"
#include "quipu/result.h"

namespace quipu::log {

/// One entry, as callers see it.
struct IndexEntry {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;  // the line without its line feed
  bool adopted = false;
  /// The id is not the one in the line (missing, or taken): see `adopted_id`.
  bool renamed = false;
  std::uint64_t id_hash = 0;
  Placement place;
};

/// Everything about a log that is not per entry.
struct IndexState {
  std::uint64_t committed = 0;  // bytes of the log that are indexed
  std::uint64_t durable = 0;    // bytes known to survive a power cut
  std::uint32_t chain = 0;
  std::uint32_t damaged = 0;   // lines passed over
  std::uint32_t tail_crc = 0;  // of the last bytes below `committed`
  FoldState fold;
};

/// What an index file must say to be believed for a log.
struct IndexOwner {
  fs::Identity log;
  std::uint64_t boot_id = 0;
};

class Index {
 public:
  static constexpr std::size_t kLevels = 24;

  /// An index in memory, for a log whose index cannot be used or written.
  static std::shared_ptr<Index> in_memory(SipKey key);

  /// A new index file. The caller renames it into place when it is filled.
  static Result<std::shared_ptr<Index>> create(std::unique_ptr<fs::File> file, IndexOwner owner,
                                               SipKey key);

  /// Opens an index file: shared, for the writer who holds the session's lock,
  /// or private, for readers (who may add to their copy). `not_found` when it
  /// belongs to another file or was left by another boot without a clean close,
  /// `corrupt` when it is damaged.
  static Result<std::shared_ptr<Index>> open(std::unique_ptr<fs::File> file, IndexOwner owner,
                                             fs::MapMode mode);

  /// The newest published state. Lock-free.
  Result<IndexState> published() const;

  /// The entry `own` (own ordinal). `corrupt` when its check fails.
  Result<IndexEntry> entry(Ordinal own) const;

  /// The places of the first entries, all at once.
  Result<void> places(std::span<Placement> into) const;

  /// Own ordinals below `count` whose id may be the one with this hash, first
  /// one first. The caller compares the ids.
  Result<std::optional<Ordinal>> find(std::uint64_t id_hash, Ordinal count,
                                      const std::function<Result<bool>(Ordinal)>& is_it) const;

  std::uint64_t hash(std::string_view id) const { return siphash(key_, id); }

  /// Adds the entry `own`, which is the number of entries so far. Not visible
  /// to others before `publish`. Space is made as needed; when the disk will not
  /// give any, the index goes on in memory and is not published any more.
  void add(Ordinal own, const IndexEntry& entry);
  /// Takes back the entries from `first` up to `count`, last one first.
  void take_back(Ordinal first, Ordinal count);

  void publish(const IndexState& state);
  /// Nobody published anything since the last call of `publish`.
  bool newest_is_own() const;

  /// In memory, or no longer published: others do not see it.
  bool is_private() const { return !shared_; }

  /// Syncs everything, then marks it clean, so that it is believed after the
  /// next start of the machine. Best effort.
  Result<void> close_clean(const IndexState& state);

 private:
  struct Slot;
  struct Record;
  struct Header;

  Index() = default;
  Result<void> map_level(std::size_t level) const;
  void make_level(std::size_t level);
  std::byte* level_base(std::size_t level) const;
  Record* record(Ordinal own) const;
  void find_newest_slot();
  void write_state(const IndexState& state, bool clean);
  Result<IndexState> read_state() const;

  std::unique_ptr<fs::File> file_;  // null: in memory
  fs::MapMode mode_ = fs::MapMode::kShared;
  IndexOwner owner_;
  SipKey key_;
  bool shared_ = false;  // still published
  bool overfull_ = false;
  std::uint64_t sequence_ = 0;   // of the last state published here, 0: none
  std::size_t newest_slot_ = 0;  // where that is
  mutable std::array<std::atomic<std::byte*>, kLevels> levels_{};
  mutable std::array<fs::Mapping, kLevels> mappings_;
  std::array<std::unique_ptr<std::byte[]>, kLevels> memory_;
};

}  // namespace quipu::log
