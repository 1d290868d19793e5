#include "log/index.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::log {
namespace {

constexpr std::uint64_t kMagic = 0x3230'7864'6975'7071;  // "qpuidx02" in memory
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHeaderBytes = 512;
constexpr std::uint32_t kFirstLevelRecords = 74;
constexpr std::uint32_t kSecondLevelRecords = 256;
constexpr std::uint32_t kFlagAdopted = 1;
constexpr std::uint32_t kFlagRenamed = 2;
constexpr std::uint32_t kFlagOrphan = 4;
constexpr int kStateTries = 64;

struct Level {
  Ordinal first = 0;    // ordinal of its first record
  Ordinal records = 0;  // capacity
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  std::size_t slots_at = 0;  // within the level
  std::size_t records_at = 0;
  constexpr std::uint32_t slots() const { return records * 2; }
};

constexpr std::size_t kLevelsMax = 24;

constexpr std::array<Level, kLevelsMax + 1> make_geometry() {
  std::array<Level, kLevelsMax + 1> levels{};
  levels[0] = {.first = 0,
               .records = kFirstLevelRecords,
               .offset = 0,
               .bytes = kPage,
               .slots_at = kHeaderBytes,
               .records_at = kHeaderBytes + std::size_t{kFirstLevelRecords} * 2 * 8};
  Ordinal records = kSecondLevelRecords;
  for (std::size_t i = 1; i < levels.size(); ++i, records *= 2) {
    levels[i] = {.first = levels[i - 1].first + levels[i - 1].records,
                 .records = records,
                 .offset = levels[i - 1].offset + levels[i - 1].bytes,
                 .bytes = std::size_t{records} * 48,
                 .slots_at = 0,
                 .records_at = std::size_t{records} * 16};
  }
  return levels;
}

// One more than there can be: its first ordinal is the limit.
constexpr std::array<Level, kLevelsMax + 1> kGeometry = make_geometry();

const Level& level_geometry(std::size_t level) { return kGeometry[level]; }

// Every level but the first is as large as all between the first and it, and
// one more of the second.
std::size_t level_of(Ordinal own) {
  if (own < kFirstLevelRecords) return 0;
  return static_cast<std::size_t>(
      std::bit_width((own - kFirstLevelRecords) / kSecondLevelRecords + 1));
}

Error damaged_index(std::string_view what) {
  return {Code::kCorrupt, "offset index: " + std::string(what)};
}

// Nothing is wrong with it; it just cannot be believed here and now.
Error foreign_index(std::string_view what) {
  return {Code::kNotFound, "offset index: " + std::string(what)};
}

std::string_view bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

// Hash slots: ordinal + 1 (32 bits), a tag of the id's hash and a check (16
// bits each). The check covers the slot's own place.
std::uint64_t make_slot(Ordinal own, std::uint64_t id_hash, std::uint32_t at) {
  std::uint64_t slot = std::uint64_t{own} + 1;
  slot |= (id_hash & 0xffff) << 32;
  const std::array<std::uint64_t, 2> covered{slot, at};
  const std::uint32_t crc = crc32c(bytes_of(covered.data(), sizeof covered));
  return slot | std::uint64_t{(crc ^ crc >> 16) & 0xffff} << 48;
}

std::uint32_t first_slot(std::uint64_t id_hash, std::uint32_t slots) {
  return static_cast<std::uint32_t>((id_hash >> 32) * slots >> 32);
}

using AtomicWord = std::atomic_ref<std::uint64_t>;

}  // namespace

struct Index::Record {
  std::uint64_t id_hash;
  std::uint32_t offset_low;
  std::uint16_t offset_high;
  std::uint8_t type;
  std::uint8_t flags;
  std::uint32_t bytes;
  std::uint32_t parent;
  std::uint32_t depth;
  std::uint32_t crc;

  std::uint32_t check(Ordinal own) const {
    return crc32c_extend(own, bytes_of(this, offsetof(Record, crc)));
  }

  IndexEntry entry() const {
    IndexEntry made;
    made.offset = std::uint64_t{offset_high} << 32 | offset_low;
    made.bytes = bytes;
    made.adopted = flags & kFlagAdopted;
    made.renamed = flags & kFlagRenamed;
    made.id_hash = id_hash;
    made.place.parent = parent;
    made.place.depth = depth;
    made.place.type = static_cast<EntryType>(type);
    made.place.orphan = flags & kFlagOrphan;
    return made;
  }
};

// One state slot, as words so that it can be copied while another process
// writes it.
struct Index::Slot {
  std::uint64_t sequence;
  std::uint64_t boot_id;
  std::uint64_t committed;
  std::uint64_t durable;
  std::uint32_t chain;
  std::uint32_t damaged;
  std::uint32_t tail_crc;
  std::uint32_t unused;
  std::uint32_t base;
  std::uint32_t count;
  std::uint32_t head;
  std::uint32_t head_depth;
  std::array<std::uint32_t, kFactTypeMax + 1> last_fact;
  std::uint32_t clean;
  std::uint32_t crc;

  std::uint32_t check() const { return crc32c_extend(1, bytes_of(this, offsetof(Slot, crc))); }
};

struct Index::Header {
  std::uint64_t magic;
  std::uint64_t key0;
  std::uint64_t key1;
  std::uint64_t device;
  std::uint64_t inode;
  std::uint32_t unused;
  std::uint32_t crc;
  std::array<std::array<std::uint64_t, 24>, 2> slots;

  std::uint32_t check() const { return crc32c_extend(2, bytes_of(this, offsetof(Header, crc))); }
};

std::shared_ptr<Index> Index::in_memory(SipKey key) {
  std::shared_ptr<Index> index(new Index);
  index->key_ = key;
  return index;
}

Result<std::shared_ptr<Index>> Index::create(std::unique_ptr<fs::File> file, IndexOwner owner,
                                             SipKey key) {
  std::shared_ptr<Index> index(new Index);
  index->file_ = std::move(file);
  index->owner_ = owner;
  index->key_ = key;
  index->shared_ = true;
  TRY(index->file_->allocate(0, kPage));
  TRY(index->map_level(0));
  auto* header = reinterpret_cast<Header*>(index->level_base(0));
  header->magic = kMagic;
  header->key0 = key.k0;
  header->key1 = key.k1;
  header->device = owner.log.device;
  header->inode = owner.log.inode;
  header->unused = 0;
  header->crc = header->check();
  return index;
}

Result<std::shared_ptr<Index>> Index::open(std::unique_ptr<fs::File> file, IndexOwner owner,
                                           fs::MapMode mode) {
  std::shared_ptr<Index> index(new Index);
  index->file_ = std::move(file);
  index->mode_ = mode;
  index->owner_ = owner;
  index->shared_ = mode == fs::MapMode::kShared;
  TRY_ASSIGN(const fs::Stat stat, index->file_->stat());
  if (stat.size < kPage) return damaged_index("too short");
  TRY(index->map_level(0));
  const auto* header = reinterpret_cast<const Header*>(index->level_base(0));
  if (header->magic != kMagic || header->crc != header->check()) {
    return damaged_index("not an index of this version");
  }
  if (header->device != owner.log.device || header->inode != owner.log.inode) {
    return foreign_index("made for another file");
  }
  index->key_ = {.k0 = header->key0, .k1 = header->key1};
  TRY_ASSIGN(const IndexState state, index->published());
  // All levels at once: readers share the index between threads and must find
  // nothing left to do.
  for (std::size_t level = 0; level <= level_of(std::max(state.fold.count, 1U) - 1); ++level) {
    const Level& geometry = level_geometry(level);
    if (stat.size < geometry.offset + geometry.bytes) return damaged_index("cut short");
    TRY(index->map_level(level));
  }
  return index;
}

std::byte* Index::level_base(std::size_t level) const {
  return levels_[level].load(std::memory_order_acquire);
}

Result<void> Index::map_level(std::size_t level) const {
  if (level_base(level) != nullptr) return {};
  if (!file_) return damaged_index("level missing");
  const Level& geometry = level_geometry(level);
  TRY_ASSIGN(mappings_[level], file_->map(geometry.offset, geometry.bytes, mode_));
  levels_[level].store(mappings_[level].data(), std::memory_order_release);
  return {};
}

void Index::make_level(std::size_t level) {
  const Level& geometry = level_geometry(level);
  if (shared_ && file_->allocate(geometry.offset, geometry.bytes).ok() && map_level(level).ok()) {
    return;
  }
  shared_ = false;
  memory_[level] = std::make_unique<std::byte[]>(geometry.bytes);
  levels_[level].store(memory_[level].get(), std::memory_order_release);
}

Index::Record* Index::record(Ordinal own) const {
  const std::size_t level = level_of(own);
  const Level& geometry = level_geometry(level);
  std::byte* base = level_base(level);
  if (base == nullptr) return nullptr;
  return reinterpret_cast<Record*>(base + geometry.records_at) + (own - geometry.first);
}

static_assert(kLevelsMax == Index::kLevels);

Result<IndexEntry> Index::entry(Ordinal own) const {
  if (own >= kGeometry[kLevels].first) return damaged_index("ordinal out of range");
  if (level_base(level_of(own)) == nullptr) TRY(map_level(level_of(own)));
  const Record& stored = *record(own);
  if (stored.crc != stored.check(own)) return damaged_index("bad record");
  return stored.entry();
}

Result<void> Index::places(std::span<Placement> into) const {
  for (Ordinal own = 0; own < into.size();) {
    const std::size_t level = level_of(own);
    TRY(map_level(level));
    const Record* stored = record(own);
    const auto end = static_cast<Ordinal>(std::min<std::size_t>(
        into.size(), std::size_t{kGeometry[level].first} + kGeometry[level].records));
    for (; own < end; ++own, ++stored) {
      if (stored->crc != stored->check(own)) return damaged_index("bad record");
      into[own] = stored->entry().place;
    }
  }
  return {};
}

Result<std::optional<Ordinal>> Index::find(
    std::uint64_t id_hash, Ordinal count, const std::function<Result<bool>(Ordinal)>& is_it) const {
  if (overfull_) return damaged_index("no room left by killed writers");
  const std::size_t levels = count == 0 ? 0 : level_of(count - 1) + 1;
  for (std::size_t level = 0; level < levels; ++level) {
    if (level_base(level) == nullptr) TRY(map_level(level));
    // All levels are waited for together.
    const Level& geometry = level_geometry(level);
    __builtin_prefetch(level_base(level) + geometry.slots_at +
                       std::size_t{first_slot(id_hash, geometry.slots())} * sizeof(std::uint64_t));
  }
  std::optional<Ordinal> best;
  for (std::size_t level = 0; level < levels; ++level) {
    const Level& geometry = level_geometry(level);
    auto* slots = reinterpret_cast<std::uint64_t*>(level_base(level) + geometry.slots_at);
    std::uint32_t at = first_slot(id_hash, geometry.slots());
    for (std::uint32_t probes = 0; probes < geometry.slots(); ++probes) {
      const std::uint64_t slot = AtomicWord(slots[at]).load(std::memory_order_acquire);
      if (slot == 0) break;
      const auto own = static_cast<Ordinal>((slot & 0xffff'ffff) - 1);
      if (slot != make_slot(own, slot >> 32, at)) return damaged_index("bad hash slot");
      // An ordinal above `count` was added by somebody later.
      if ((slot >> 32 & 0xffff) == (id_hash & 0xffff) && own < count && (!best || own < *best)) {
        TRY_ASSIGN(const IndexEntry found, entry(own));
        if (found.id_hash == id_hash) {
          TRY_ASSIGN(const bool same, is_it(own));
          if (same) best = own;
        }
      }
      if (++at == geometry.slots()) at = 0;
    }
    if (best) return best;  // lower levels hold the older entries
  }
  return best;
}

void Index::add(Ordinal own, const IndexEntry& entry) {
  const std::size_t level = level_of(own);
  const Level& geometry = level_geometry(level);
  if (level_base(level) == nullptr && !(file_ && own > geometry.first && map_level(level).ok())) {
    make_level(level);
  }
  Record& stored = *record(own);
  stored.id_hash = entry.id_hash;
  stored.offset_low = static_cast<std::uint32_t>(entry.offset);
  stored.offset_high = static_cast<std::uint16_t>(entry.offset >> 32);
  stored.type = static_cast<std::uint8_t>(entry.place.type);
  stored.flags = static_cast<std::uint8_t>((entry.adopted ? kFlagAdopted : 0) |
                                           (entry.renamed ? kFlagRenamed : 0) |
                                           (entry.place.orphan ? kFlagOrphan : 0));
  stored.bytes = entry.bytes;
  stored.parent = entry.place.parent;
  stored.depth = entry.place.depth;
  stored.crc = stored.check(own);
  auto* slots = reinterpret_cast<std::uint64_t*>(level_base(level) + geometry.slots_at);
  std::uint32_t at = first_slot(entry.id_hash, geometry.slots());
  for (std::uint32_t probes = 0; probes < geometry.slots(); ++probes) {
    const std::uint64_t slot = AtomicWord(slots[at]).load(std::memory_order_relaxed);
    // A slot for this entry or a later one was left by a writer who was killed
    // before it published.
    if (slot == 0 || static_cast<Ordinal>((slot & 0xffff'ffff) - 1) >= own) {
      AtomicWord(slots[at]).store(make_slot(own, entry.id_hash, at), std::memory_order_release);
      return;
    }
    if (++at == geometry.slots()) at = 0;
  }
  overfull_ = true;
}

void Index::take_back(Ordinal first, Ordinal count) {
  for (Ordinal own = count; own-- > first;) {
    const Level& geometry = level_geometry(level_of(own));
    auto* slots = reinterpret_cast<std::uint64_t*>(level_base(level_of(own)) + geometry.slots_at);
    const std::uint64_t id_hash = record(own)->id_hash;
    std::uint32_t at = first_slot(id_hash, geometry.slots());
    for (std::uint32_t probes = 0; probes < geometry.slots(); ++probes) {
      if (AtomicWord(slots[at]).load(std::memory_order_relaxed) == make_slot(own, id_hash, at)) {
        AtomicWord(slots[at]).store(0, std::memory_order_release);
        break;
      }
      if (++at == geometry.slots()) at = 0;
    }
  }
}

Result<IndexState> Index::published() const {
  if (!file_) return damaged_index("not a file");
  // Two publications during one read would spoil both slots; then read again.
  for (int tries = 0; tries < kStateTries; ++tries) {
    auto state = read_state();
    if (state.ok() || state.error().code() == Code::kNotFound) return state;
  }
  return damaged_index("no sound state");
}

Result<IndexState> Index::read_state() const {
  auto* header = reinterpret_cast<Header*>(level_base(0));
  std::optional<Slot> newest;
  for (auto& words : header->slots) {
    static_assert(sizeof(Slot) <= sizeof words && sizeof(Slot) % 8 == 0);
    std::array<std::uint64_t, sizeof(Slot) / 8> copy;
    for (std::size_t i = 0; i < copy.size(); ++i) {
      copy[i] = AtomicWord(words[i]).load(std::memory_order_acquire);
    }
    Slot slot;
    std::memcpy(&slot, copy.data(), sizeof slot);
    if (slot.crc != slot.check()) continue;
    if (!newest || slot.sequence > newest->sequence) newest = slot;
  }
  if (!newest) return damaged_index("no sound state");
  if (newest->count > kGeometry[kLevels].first) return damaged_index("too many entries");
  if (newest->boot_id != owner_.boot_id && newest->clean == 0) {
    return foreign_index("left behind by another boot");
  }
  IndexState state;
  state.committed = newest->committed;
  state.durable = newest->boot_id == owner_.boot_id ? newest->durable : newest->committed;
  state.chain = newest->chain;
  state.damaged = newest->damaged;
  state.tail_crc = newest->tail_crc;
  state.fold.base = newest->base;
  state.fold.count = newest->count;
  state.fold.head = newest->head;
  state.fold.head_depth = newest->head_depth;
  state.fold.last_fact = newest->last_fact;
  return state;
}

void Index::publish(const IndexState& state) { write_state(state, false); }

bool Index::newest_is_own() const {
  static_assert(offsetof(Slot, sequence) == 0);
  auto* header = reinterpret_cast<Header*>(level_base(0));
  const auto sequence_in = [header](std::size_t slot) {
    return AtomicWord(header->slots[slot][0]).load(std::memory_order_acquire);
  };
  return sequence_ != 0 && sequence_in(newest_slot_) == sequence_ &&
         sequence_in(1 - newest_slot_) < sequence_;
}

void Index::find_newest_slot() {
  const auto* header = reinterpret_cast<const Header*>(level_base(0));
  sequence_ = 0;
  newest_slot_ = 1;
  for (std::size_t i = 0; i < header->slots.size(); ++i) {
    Slot slot;
    std::memcpy(&slot, header->slots[i].data(), sizeof slot);
    if (slot.crc != slot.check() || slot.sequence <= sequence_) continue;
    sequence_ = slot.sequence;
    newest_slot_ = i;
  }
}

void Index::write_state(const IndexState& state, bool clean) {
  if (!shared_) return;
  if (!newest_is_own()) find_newest_slot();
  newest_slot_ = 1 - newest_slot_;
  Slot slot{};
  slot.sequence = ++sequence_;
  slot.boot_id = owner_.boot_id;
  slot.committed = state.committed;
  slot.durable = state.durable;
  slot.chain = state.chain;
  slot.damaged = state.damaged;
  slot.tail_crc = state.tail_crc;
  slot.base = state.fold.base;
  slot.count = state.fold.count;
  slot.head = state.fold.head;
  slot.head_depth = state.fold.head_depth;
  slot.last_fact = state.fold.last_fact;
  slot.clean = clean ? 1 : 0;
  slot.crc = slot.check();
  std::array<std::uint64_t, sizeof(Slot) / 8> words;
  std::memcpy(words.data(), &slot, sizeof slot);
  auto* header = reinterpret_cast<Header*>(level_base(0));
  for (std::size_t i = 0; i < words.size(); ++i) {
    AtomicWord(header->slots[newest_slot_][i]).store(words[i], std::memory_order_release);
  }
}

Result<void> Index::close_clean(const IndexState& state) {
  if (!shared_) return {};
  // The mark must not reach the disk before what it vouches for.
  TRY(file_->sync());
  write_state(state, true);
  return file_->sync();
}

}  // namespace quipu::log
