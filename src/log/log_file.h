// Where the files of one session are, and the bytes of its log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fs/fs.h"
#include "quipu/result.h"

namespace quipu::log {

struct LogPaths {
  std::string session_id;  // the file's stem
  std::string log;         // sessions/<id>.jsonl
  std::string index;       // sessions/<id>.idx
  std::string directory;   // sessions
  std::string quarantine;  // quarantine
};

/// The settled bytes of an open log, mapped. Grows with the log: the mapping
/// reaches beyond the end, and only settled bytes are ever touched.
class LogBytes {
 public:
  explicit LogBytes(fs::File& file) : file_(file) {}

  /// The bytes `[offset, offset + size)`, all below a settled length. Valid as
  /// long as this object and `keep_alive` live.
  Result<std::string_view> at(std::uint64_t offset, std::size_t size);

  /// Holds the present mapping, whatever becomes of this object.
  fs::Mapping keep_alive() const { return mapping_; }

 private:
  fs::File& file_;
  fs::Mapping mapping_;
};

/// The first line of a log, sealed or not, without its line feed.
Result<std::string> first_line(fs::File& log, std::uint64_t size);

/// How much of a log can be mapped without the lock, given that everything up to
/// `from` can: bytes above it may be a batch in the making, which its writer may
/// yet cut off; for readers they are not there. `size` was the file's length a
/// moment ago: it may have lost its unsettled end since.
Result<std::uint64_t> settled_length(fs::File& log, std::uint64_t from, std::uint64_t size);

inline constexpr std::size_t kTailCrcBytes = 64;

/// CRC of the last bytes below `committed`: ties an index to the log it was
/// made from.
Result<std::uint32_t> tail_crc(fs::File& log, std::uint64_t committed);

}  // namespace quipu::log
