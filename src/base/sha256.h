// SHA-256 (FIPS 180-4), of bytes that come in pieces: what attachments are called by.
//
// Our own, because the library that has it takes every program 2 ms to load.
// Uses the CPU's instructions where there are any, chosen at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quipu {

using Sha256State = std::array<std::uint32_t, 8>;

/// Thread-safety: one thread at a time.
class Sha256 {
 public:
  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  Sha256State state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, 64> block_{};  // its first `bytes_ % 64` are waiting
  std::uint64_t bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

/// Takes in whole blocks of 64 bytes. The portable way is for machines without the
/// instructions and for the test that compares the two.
void sha256_blocks(Sha256State& state, const char* bytes, std::size_t blocks);
void sha256_blocks_portable(Sha256State& state, const char* bytes, std::size_t blocks);

/// Whether `text` has the form of `Sha256::finish`: nothing else may become a
/// part of a path.
bool is_sha256_hex(std::string_view text);

}  // namespace quipu
