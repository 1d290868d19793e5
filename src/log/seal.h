// Sealed lines: the format of a log. docs/format.md is its prose.
//
//   line  = body  ,"_tx":"RRRR.CCCCCCCC"}  LF
//   body  = a JSON object without its final brace
//   RRRR  = lines of this batch still to come, lower-case hex; 0000 commits
//   C…    = CRC-32C, lower-case hex, of everything sealed so far: the previous
//           line's value extended by this line up to and including the dot. The
//           first line extends CRC-32C(session id); a line without a seal
//           (another program's, or damaged) is folded in whole, LF included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "quipu/limits.h"

namespace quipu::log {

inline constexpr std::string_view kSealStart = ",\"_tx\":\"";
inline constexpr std::size_t kRemainingDigits = 4;
inline constexpr std::size_t kCrcDigits = 8;
/// From the comma to the closing brace, without the line feed.
inline constexpr std::size_t kSealBytes = kSealStart.size() + kRemainingDigits + 1 + kCrcDigits + 2;
static_assert(kSealBytes == 23, ",\"_tx\":\"RRRR.CCCCCCCC\"}");
static_assert(kBatchEntriesMax == std::size_t{1} << (4 * kRemainingDigits));

struct Seal {
  std::uint32_t remaining = 0;
  std::uint32_t crc = 0;
};

/// The seal at the end of a line (given without its line feed), if its fixed
/// shape is there. Says nothing about whether the checksum is right.
std::optional<Seal> find_seal(std::string_view line);

/// What can still be read of the seal of a line whose end nearly has the shape
/// of one: such a line was sealed once and is damaged now, it is not another
/// program's. Nothing for every other line.
struct DamagedSeal {
  std::optional<std::uint32_t> remaining;
  std::optional<std::uint32_t> crc;
};
std::optional<DamagedSeal> find_damaged_seal(std::string_view line);

/// The line without its seal and closing brace; the line has one.
inline std::string_view body_of(std::string_view line) {
  return line.substr(0, line.size() - kSealBytes);
}

/// The value that a line's seal must have when `previous` stands before it.
std::uint32_t seal_crc(std::uint32_t previous, std::string_view line);

/// Whether a sealed line extends the one before it, given the bytes before it: `kSealBytes` and
/// the line feed, and one more, are enough. Nothing when that has no seal: to know what stood
/// there, all before it would have to be read.
std::optional<bool> extends_seal(std::string_view before, std::string_view line);

/// The same for many values that may stand before one line, which is read once.
class SealAfter {
 public:
  explicit SealAfter(std::string_view line);
  std::uint32_t crc(std::uint32_t previous) const { return shift_.of(previous) ^ own_; }

 private:
  Crc32cShift shift_;
  std::uint32_t own_;
};

/// How many lines a damaged line had still to come, if nothing but one digit of
/// that number was damaged: with the right one its checksum fits.
std::optional<std::uint32_t> mend_remaining(std::uint32_t previous, std::string_view line,
                                            Seal seal);

/// The chain's value after a whole line without a seal.
std::uint32_t fold_unsealed(std::uint32_t previous, std::string_view line);

/// The value before a log's first line.
std::uint32_t chain_seed(std::string_view session_id);

/// Appends a body and room for its seal and line feed.
void append_unsealed(std::string& out, std::string_view body);

/// Writes the seal into a line made by `append_unsealed` (given with its line
/// feed) and returns the chain's new value.
std::uint32_t write_seal(char* line, std::size_t size, std::uint32_t remaining,
                         std::uint32_t previous);

}  // namespace quipu::log
