// CRC-32C (Castagnoli, reflected, as in iSCSI): the checksum of seals and index.
//
// `crc32c_extend(crc32c(a), b) == crc32c(a ++ b)`. Uses the CPU's instruction
// where there is one, chosen at run time; the table gives the same answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quipu {

std::uint32_t crc32c_extend(std::uint32_t crc, std::string_view bytes);
inline std::uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }

/// What bytes that follow do to a checksum, but for what they are:
/// `crc32c_extend(crc, b) == Crc32cShift(b.size()).of(crc) ^ crc32c(b)`. For who compares
/// many values before one long text, which is then read once.
class Crc32cShift {
 public:
  explicit Crc32cShift(std::size_t bytes);
  std::uint32_t of(std::uint32_t crc) const;

 private:
  std::uint32_t factor_;
};

/// The portable implementation, for machines without the instruction and for
/// the test that compares the two.
std::uint32_t crc32c_extend_table(std::uint32_t crc, std::string_view bytes);

}  // namespace quipu
