// IndexBuilder: folds the lines of a log into an index and its state.
//
// Used for a rebuild (from the first byte), for catching up (from where an
// index ends) and for an append's own lines: one place decides what a line
// means, so an index is the same however it came to be.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/index.h"
#include "log/recover.h"
#include "quipu/result.h"

namespace quipu::log {

/// The id that an adopted line without one gets: stable, because lines never
/// move.
std::string adopted_id(std::uint64_t offset);

/// The id of an indexed line; a made-up one if its bytes are not those that were indexed.
std::string id_of(const Index& index, const IndexEntry& entry, std::string_view line);

/// Text of an indexed line, to compare ids.
using LineText = std::function<Result<std::string_view>(const IndexEntry&)>;

/// The first of the `count` indexed entries that has this id.
Result<std::optional<Ordinal>> find_by_id(const Index& index, Ordinal count, std::string_view id,
                                          const LineText& line_text);

class IndexBuilder : public LineSink {
 public:
  IndexBuilder(Index& index, IndexState& state, const Inherited* inherited, LineText line_text)
      : index_(index), state_(state), inherited_(inherited), line_text_(std::move(line_text)) {}

  void accept(const Line& line) override;
  void damaged(const Damage& damage) override;
  bool knows(std::string_view line) override;

  /// Adds an entry whose members are known already (an append's own).
  void add(std::uint64_t offset, std::size_t bytes, std::string_view id, const FoldInput& input);

  /// Entries that were added are not there after all.
  void take_back() { newest_.ordinal = kNone; }

  /// An entry the session can see, by its id.
  Result<std::optional<FoundEntry>> find(std::string_view id);

  /// The first thing that went wrong while lines were accepted.
  const std::optional<Error>& failure() const { return failure_; }
  const std::vector<Damage>& damages() const { return damages_; }

 private:
  void place(IndexEntry entry, std::string_view id, const FoldInput& input);
  void accept_renamed(const Line& line, IndexEntry entry, const Envelope& envelope,
                      const FoldInput& input);
  std::optional<FoundEntry> find_or_note(std::string_view id);

  Index& index_;
  IndexState& state_;
  const Inherited* inherited_;
  LineText line_text_;
  FindEntry find_entry_ = [this](std::string_view id) { return find_or_note(id); };
  // The newest node: the next one's parent, most of the time.
  std::string newest_id_;
  FoundEntry newest_;
  // The last number that an id was given: a line that comes a thousand times
  // must not be looked up a million times.
  std::unordered_map<std::string, Ordinal> last_number_;
  std::optional<Error> failure_;
  std::vector<Damage> damages_;
};

}  // namespace quipu::log
