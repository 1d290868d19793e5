// CRC-32C (Castagnoli, reflected, as in iSCSI): the checksum of seals and index.
//
// `crc32c_extend(crc32c(a), b) == crc32c(a ++ b)`. Uses the CPU's instruction
// where there is one, chosen at run time; the table gives the same answers.
#pragma once

#include <cstdint>
#include <string_view>

namespace quipu {

std::uint32_t crc32c_extend(std::uint32_t crc, std::string_view bytes);
inline std::uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }

/// The portable implementation, for machines without the instruction and for
/// the test that compares the two.
std::uint32_t crc32c_extend_table(std::uint32_t crc, std::string_view bytes);

}  // namespace quipu
