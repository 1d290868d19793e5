// The limits at the door: what one append through the API may carry.
//
// Lines that other programs wrote into a log are read whatever their size.
#pragma once

#include <cstddef>

namespace quipu {

inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;   // one entry, as JSON
inline constexpr std::size_t kBatchBytesMax = std::size_t{64} << 20;  // one append
inline constexpr std::size_t kBatchEntriesMax = 65'536;               // one append
inline constexpr std::size_t kJsonDepthMax = 128;                     // nesting of one entry
inline constexpr std::size_t kEntryIdBytesMax = 256;
inline constexpr std::size_t kSessionIdBytesMax = 64;

}  // namespace quipu
