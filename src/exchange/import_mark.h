// ImportMark: how far a source was read, and what it looked like then. The fact
// `fact.quipu.import`, stored after the records of a pass are on the disk; the catalogue has
// the newest of each session, so that a source that has not changed costs a look at
// its directory entry, and one that has grown is read from where it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/reader.h"
#include "fs/host_files.h"

namespace quipu::exchange {

inline constexpr std::string_view kMarkType = "fact.quipu.import";

struct ImportMark {
  fs::HostStat first;  // the source's first file
  /// A sum over names, sizes and times of everything else, and over what an index that
  /// sessions share says of this one.
  std::uint32_t others = 0;
  std::uint64_t offset = 0;   // read up to here; 0: read as a whole
  std::uint32_t before = 0;   // a sum over the bytes right before `offset`
  std::uint64_t records = 0;  // in the source, up to `offset`, and in the files beside it
  std::uint64_t beside = 0;   // those of these files: they are read whole each time
  std::uint64_t lost = 0;     // stored, and not in the source when all of it was read last
  /// Of a database's session that says when it changes: a sum over that.
  std::string part{};
  /// The name of the source when it was read again; empty: the one that its session has.
  std::string source{};

  /// Nothing has changed: `offset` and `before` do not count. Such a session may be
  /// the same although its database is not.
  bool is_same_state(const ImportMark& other) const {
    if (!part.empty() && !other.part.empty()) return part == other.part;
    return first == other.first && others == other.others;
  }
};

/// The state of a source now; `offset` 0. `first`: that of its first file, for who has
/// looked at it already.
Result<ImportMark> look_at(const dialect::Source& source, fs::HostFiles& files);
ImportMark look_at(const dialect::Source& source, const fs::HostStat& first, fs::HostFiles& files);

/// The sum of the bytes before an offset, for `ImportMark::before`.
Result<std::uint32_t> sum_before(const std::string& path, std::uint64_t offset,
                                 fs::HostFiles& files);
/// The same of the source that was read until now, at its position: most have the bytes
/// at hand.
Result<std::uint32_t> sum_before(const dialect::Reader& reader, const std::string& path,
                                 fs::HostFiles& files);

/// Where a pass may go on: the same file, grown, with the same bytes before.
/// The beginning otherwise.
dialect::ReadPosition position_after(const ImportMark& then, const ImportMark& now,
                                     const dialect::Source& source, fs::HostFiles& files);

std::string encode_mark(const ImportMark& mark);
std::optional<ImportMark> read_mark(std::string_view payload);

}  // namespace quipu::exchange
