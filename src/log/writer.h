// LogWriter: the one write path of a log.
//
// Invariants:
//   1. Everything here happens under the session's lock (session_lock.h), one
//      thread at a time.
//   2. At most one batch in the file is not durable (in commit mode): before a
//      new one is written, whatever was found unsynced is synced. Recovery
//      rests on this.
//   3. A torn tail is copied to quarantine, cut off and the cut synced before
//      anything is written behind it.
//   4. Bytes below the committed length never change.
//   5. Nothing allocates between the write and its publication.
//   6. After a failed sync nothing is known about the file, so the writer
//      refuses every further batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "log/builder.h"
#include "log/index.h"
#include "log/log_file.h"
#include "model/door.h"
#include "quipu/result.h"

namespace quipu::log {

struct WriterContext {
  fs::Fs& fs;
  Clock& clock;
  SipKey key;  // of an index made anew
};

class LogWriter {
 public:
  /// Opens a log for appending: finds its end by the index, or reads all of it
  /// when there is no index to believe; cuts off a torn tail. `unsupported` for
  /// a log of a newer version.
  static Result<std::unique_ptr<LogWriter>> open(WriterContext context, LogPaths paths,
                                                 std::shared_ptr<const Inherited> inherited);

  /// First thing under the lock, every time: sees what others did meanwhile.
  /// False: another file has this name now, open it instead.
  Result<bool> refresh();

  // The session as it stands, staged entries included.
  const IndexState& state() const { return state_; }
  Result<std::optional<FoundEntry>> find(std::string_view id) { return builder_->find(id); }
  /// A stored or staged line of the own log and its id, by visible ordinal.
  /// Valid until the next call of this writer. `corrupt` for a line that is not the one that
  /// was sealed: the index must be computed anew, without it.
  Result<std::string_view> line(Ordinal visible);
  Result<std::string_view> id(Ordinal visible);

  /// Adds an entry to the batch in the making. `parent` is the `"parentId":…,`
  /// text to put in, empty when the draft has its own or needs none.
  void stage(const Draft& draft, std::string_view parent, const FoldInput& input);
  std::size_t staged_lines() const { return staged_.size(); }
  std::size_t staged_bytes() const { return staging_.size(); }
  /// Forgets what is staged.
  void drop_staged();

  /// Seals and writes what is staged as one batch; with `sync` everything in the
  /// log is durable afterwards, also when nothing was staged. On an error nothing is
  /// staged any more, and the batch is absent, unless the code is
  /// `durability_unknown`.
  Result<void> commit(bool sync);

  /// Syncs what relaxed appends left, and marks the index clean.
  Result<void> close();

  /// Computes the index anew from the log.
  Result<void> rebuild_index();
  /// What opening or refreshing took out of the log since the last call.
  std::vector<std::string> take_quarantined() { return std::exchange(quarantined_, {}); }

 private:
  LogWriter(WriterContext context, LogPaths paths, std::shared_ptr<const Inherited> inherited)
      : context_(context), paths_(std::move(paths)), inherited_(std::move(inherited)) {}

  Result<void> load();
  Result<void> open_index();
  Result<bool> fits_the_log(std::uint64_t size);
  Result<void> catch_up(std::uint64_t size);
  Result<void> cut_torn_tail(std::uint64_t bytes);
  Result<void> sync_earlier();
  Result<void> write_batch(bool sync);
  Result<void> find_written(const Result<std::uint64_t>& end, bool synced);
  Result<void> take_back_staged();
  Error other_program_writes() const;
  void use_index(std::shared_ptr<Index> index);
  Result<std::string_view> line_text(const IndexEntry& entry);
  Result<bool> is_sound(const IndexEntry& entry);
  std::uint64_t staged_from() const { return state_.committed; }

  WriterContext context_;
  LogPaths paths_;
  std::shared_ptr<const Inherited> inherited_;
  std::unique_ptr<fs::File> file_;
  fs::Identity identity_;
  std::string chain_id_;
  std::optional<LogBytes> bytes_;
  std::shared_ptr<Index> index_;
  IndexState state_;
  std::optional<IndexBuilder> builder_;

  std::string staging_;                                      // what one write will append
  std::vector<std::pair<std::size_t, std::size_t>> staged_;  // start and size of its lines
  FoldState before_;                                         // as it was before staging
  // The last id that was staged or asked for: the next one's parent, most of the
  // time.
  Ordinal known_ = kNone;
  std::string known_id_;

  std::optional<Error> refused_;  // invariant 6
  bool dirty_ = false;            // something to do in close()
  bool is_recovered_ = false;     // the index was computed here: its lines were all looked at
  std::vector<std::string> quarantined_;
};

}  // namespace quipu::log
