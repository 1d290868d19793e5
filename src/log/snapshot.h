// LogSnapshot: one log as it was at one moment, for readers. Takes no lock,
// writes nothing, never changes.
//
// It sees every batch that was whole when it was opened, also one whose writer
// was killed before it could say so. It uses the index file as far as it can be
// believed and works out the rest in memory; damage found later in the index
// makes it compute all of it anew. The answers are the same either way.
//
// Thread-safety: may be shared.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "log/builder.h"
#include "log/index.h"
#include "log/log_file.h"

namespace quipu::log {

class LogSnapshot {
 public:
  /// `not_found` when there is no such log.
  static Result<std::shared_ptr<const LogSnapshot>> open(
      fs::Fs& fs, const LogPaths& paths, SipKey key, std::shared_ptr<const Inherited> inherited);

  /// The file this was made from; equal identity and size mean that nothing
  /// has changed since.
  const fs::Stat& stat() const { return stat_; }
  const IndexState& state() const { return state_; }
  Ordinal size() const { return state_.fold.count; }
  const Inherited* inherited() const { return inherited_.get(); }

  Result<IndexEntry> entry(Ordinal own) const;
  /// The places of all entries.
  Result<std::vector<Placement>> places() const;
  /// The stored line, seal included, without its line feed; a view into the
  /// mapped log, valid as long as this snapshot.
  std::string_view line(const IndexEntry& entry) const;
  /// Whether that line is the one that was sealed: an index that knows a line says nothing of what
  /// has become of its bytes since. Lines of other programs have no seal, and are taken as they
  /// are, and so is the one behind them.
  Result<bool> is_sound(const IndexEntry& entry) const;
  Result<std::string> id(Ordinal own) const;
  /// An own entry by its id.
  Result<std::optional<Ordinal>> find(std::string_view id) const;

 private:
  LogSnapshot() = default;
  Result<void> load(fs::Fs& fs, const LogPaths& paths);
  Result<std::shared_ptr<Index>> open_index(fs::Fs& fs, const LogPaths& paths);
  Result<void> extend(Index& index, IndexState& state, std::uint64_t limit) const;
  Result<const Index*> rebuilt() const;
  const Index& index() const { return *index_.load(std::memory_order_acquire); }
  const Index& use(std::shared_ptr<Index> index) const;
  Result<bool> is_recovered(std::uint64_t offset) const;

  std::unique_ptr<fs::File> file_;
  fs::Stat stat_;
  fs::Mapping bytes_;
  std::string chain_id_;
  SipKey key_;
  std::shared_ptr<const Inherited> inherited_;
  IndexState state_;
  // Replaced at most a few times, when damage is met; readers of the old one may
  // still be at it, so all of them are kept.
  mutable std::atomic<const Index*> index_ = nullptr;
  mutable Mutex mutex_;
  mutable std::vector<std::shared_ptr<Index>> indexes_ GUARDED_BY(mutex_);
  // Of the lines that recovery believes; made when one is in doubt.
  mutable std::optional<std::vector<std::uint64_t>> recovered_ GUARDED_BY(mutex_);
};

}  // namespace quipu::log
