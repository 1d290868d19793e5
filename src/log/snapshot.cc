#include "log/snapshot.h"

#include <algorithm>

#include "base/try.h"
#include "log/seal.h"

namespace quipu::log {

Result<std::shared_ptr<const LogSnapshot>> LogSnapshot::open(
    fs::Fs& fs, const LogPaths& paths, SipKey key, std::shared_ptr<const Inherited> inherited) {
  std::shared_ptr<LogSnapshot> snapshot(new LogSnapshot);
  snapshot->key_ = key;
  snapshot->inherited_ = std::move(inherited);
  TRY(snapshot->load(fs, paths));
  return std::shared_ptr<const LogSnapshot>(std::move(snapshot));
}

Result<void> LogSnapshot::load(fs::Fs& fs, const LogPaths& paths) {
  TRY_ASSIGN(file_, fs.open(paths.log, fs::OpenMode::kRead));
  TRY_ASSIGN(stat_, file_->stat());
  TRY_ASSIGN(const std::string first, first_line(*file_, stat_.size));
  chain_id_ = chain_session_id(first, paths.session_id);
  auto opened = open_index(fs, paths);
  if (!opened.ok()) state_ = IndexState{};
  std::uint64_t limit = stat_.size;
  if (state_.committed != stat_.size) {
    TRY_ASSIGN(limit, settled_length(*file_, state_.committed, stat_.size));
  }
  TRY_ASSIGN(bytes_, file_->map(0, std::max<std::uint64_t>(limit, 1), fs::MapMode::kRead));
  if (opened.ok()) {
    auto extended = extend(**opened, state_, limit);
    if (extended.ok()) use(std::move(opened).value());
    if (extended.ok() || extended.error().code() != Code::kCorrupt) return extended;
  }
  auto index = Index::in_memory(key_);
  state_ = IndexState{};
  TRY(extend(*index, state_, limit));
  use(std::move(index));
  return {};
}

// An index that cannot be used is no error: the log says everything.
Result<std::shared_ptr<Index>> LogSnapshot::open_index(fs::Fs& fs, const LogPaths& paths) {
  TRY_ASSIGN(auto file, fs.open(paths.index, fs::OpenMode::kRead));
  TRY_ASSIGN(auto index,
             Index::open(std::move(file), {.log = stat_.identity, .boot_id = fs.boot_id()},
                         fs::MapMode::kPrivate));
  TRY_ASSIGN(state_, index->published());
  // A writer may have committed since the first look; the index is not to blame.
  if (state_.committed > stat_.size) {
    TRY_ASSIGN(stat_, file_->stat());
  }
  const Ordinal base = inherited_ ? inherited_->count() : 0;
  if (state_.committed > stat_.size || state_.fold.base != base) {
    return Error(Code::kCorrupt, "offset index: does not fit the log");
  }
  TRY_ASSIGN(const std::uint32_t crc, tail_crc(*file_, state_.committed));
  if (crc != state_.tail_crc) return Error(Code::kCorrupt, "offset index: does not fit the log");
  return index;
}

Result<void> LogSnapshot::extend(Index& index, IndexState& state, std::uint64_t limit) const {
  if (state.committed == 0) {
    state.fold = fold_start(inherited_ ? inherited_->count() : 0);
    state.chain = chain_seed(chain_id_);
  }
  IndexBuilder builder(
      index, state, inherited_.get(),
      [this](const IndexEntry& entry) -> Result<std::string_view> { return line(entry); });
  const std::string_view log(reinterpret_cast<const char*>(bytes_.data()), limit);
  const Recovered recovered =
      recover(log.substr(state.committed), state.committed, state.chain, builder);
  if (builder.failure()) return *builder.failure();
  state.committed = recovered.committed;
  state.chain = recovered.chain;
  return {};
}

const Index& LogSnapshot::use(std::shared_ptr<Index> index) const {
  MutexLock lock(mutex_);
  indexes_.push_back(std::move(index));
  index_.store(indexes_.back().get(), std::memory_order_release);
  return *indexes_.back();
}

Result<const Index*> LogSnapshot::rebuilt() const {
  auto index = Index::in_memory(key_);
  IndexState state;
  TRY(extend(*index, state, state_.committed));
  if (state.fold.count != size()) return Error(Code::kCorrupt, "the log changed under its reader");
  return &use(std::move(index));
}

std::string_view LogSnapshot::line(const IndexEntry& entry) const {
  if (entry.offset + entry.bytes > bytes_.size()) return {};
  return {reinterpret_cast<const char*>(bytes_.data()) + entry.offset, entry.bytes};
}

// The seal says what stood before the line: mostly the seal of the line before.
Result<bool> LogSnapshot::is_sound(const IndexEntry& entry) const {
  if (entry.adopted) return true;
  const std::string_view text = line(entry);
  const auto seal = find_seal(text);
  if (!seal) return false;
  if (entry.offset == 0) return seal_crc(chain_seed(chain_id_), text) == seal->crc;
  const std::string_view log(reinterpret_cast<const char*>(bytes_.data()), entry.offset);
  // What stands behind a line of another program is for `verify`.
  if (extends_seal(log, text).value_or(true)) return true;
  // This line is damaged, or the seal of the one before.
  return is_recovered(entry.offset);
}

Result<bool> LogSnapshot::is_recovered(std::uint64_t offset) const {
  MutexLock lock(mutex_);
  if (!recovered_) {
    auto index = Index::in_memory(key_);
    IndexState state;
    TRY(extend(*index, state, state_.committed));
    recovered_.emplace();
    for (Ordinal own = 0; own < state.fold.count; ++own) {
      TRY_ASSIGN(const IndexEntry entry, index->entry(own));
      recovered_->push_back(entry.offset);
    }
  }
  return std::binary_search(recovered_->begin(), recovered_->end(), offset);
}

Result<IndexEntry> LogSnapshot::entry(Ordinal own) const {
  auto entry = index().entry(own);
  if (entry.ok() || entry.error().code() != Code::kCorrupt) return entry;
  TRY_ASSIGN(const Index* fresh, rebuilt());
  return fresh->entry(own);
}

Result<std::vector<Placement>> LogSnapshot::places() const {
  std::vector<Placement> places(size());
  auto read = index().places(places);
  if (!read.ok() && read.error().code() == Code::kCorrupt) {
    TRY_ASSIGN(const Index* fresh, rebuilt());
    read = fresh->places(places);
  }
  if (!read.ok()) return std::move(read).error();
  return places;
}

Result<std::string> LogSnapshot::id(Ordinal own) const {
  TRY_ASSIGN(const IndexEntry found, entry(own));
  return id_of(index(), found, line(found));
}

Result<std::optional<Ordinal>> LogSnapshot::find(std::string_view id) const {
  const LineText text = [this](const IndexEntry& entry) -> Result<std::string_view> {
    return line(entry);
  };
  auto found = find_by_id(index(), size(), id, text);
  if (found.ok() || found.error().code() != Code::kCorrupt) return found;
  TRY_ASSIGN(const Index* fresh, rebuilt());
  return find_by_id(*fresh, size(), id, text);
}

}  // namespace quipu::log
