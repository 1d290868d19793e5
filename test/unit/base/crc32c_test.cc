#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace quipu {
namespace {

// Bit by bit from the definition: slow, and right by inspection.
std::uint32_t reference(std::uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

std::string random_bytes(std::size_t size, std::mt19937& random) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Crc32cTest, KnownVectors) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string up;
  for (char c = 0; c < 32; ++c) up.push_back(c);
  EXPECT_EQ(crc32c(up), 0x46dd794eu);
  EXPECT_EQ(crc32c(std::string(up.rbegin(), up.rend())), 0x113fdb5cu);
}

TEST(Crc32cTest, TableGivesKnownVectors) {
  EXPECT_EQ(crc32c_extend_table(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c_extend_table(0, std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32cTest, AllLengthsAndAlignmentsAgree) {
  std::mt19937 random(20260301);
  const std::string bytes = random_bytes(4200, random);
  for (std::size_t size = 0; size <= 4000; size += size < 900 ? 1 : 37) {
    const std::string_view view = std::string_view(bytes).substr(size % 17, size);
    const std::uint32_t start = random();
    const std::uint32_t want = reference(start, view);
    ASSERT_EQ(crc32c_extend(start, view), want) << "size " << size;
    ASSERT_EQ(crc32c_extend_table(start, view), want) << "size " << size;
  }
}

TEST(Crc32cTest, LongTextsAgree) {
  std::mt19937 random(7);
  for (const std::size_t size : {65536u, 65537u, 100'003u, 1'000'000u}) {
    const std::string bytes = random_bytes(size, random);
    EXPECT_EQ(crc32c(bytes), reference(0, bytes)) << size;
    EXPECT_EQ(crc32c_extend_table(0, bytes), reference(0, bytes)) << size;
  }
}

TEST(Crc32cTest, ExtendIsConcatenation) {
  std::mt19937 random(8);
  const std::string bytes = random_bytes(3000, random);
  const std::string_view view = bytes;
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 13) {
    EXPECT_EQ(crc32c_extend(crc32c(view.substr(0, cut)), view.substr(cut)), crc32c(view)) << cut;
  }
}

TEST(Crc32cTest, ShiftIsWhatFollowingBytesDo) {
  std::mt19937 random(9);
  for (const std::size_t size : {0u, 1u, 2u, 7u, 8u, 63u, 64u, 255u, 4096u, 70'001u, 1'048'577u}) {
    const std::string bytes = random_bytes(size, random);
    const Crc32cShift shift(size);
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t before = random();
      EXPECT_EQ(shift.of(before) ^ crc32c(bytes), crc32c_extend(before, bytes)) << size;
    }
  }
}

// The seal of a line is the CRC of everything up to the dot in front of it,
// continued from the seal before; the first continues from the session id.
TEST(Crc32cTest, SealVectors) {
  struct Line {
    std::string_view sealed;  // the bytes the checksum covers
    std::uint32_t crc;
  };
  constexpr Line kLines[] = {
      {R"({"id":"h","type":"session_header","_tx":"0000.)", 0x951b3c5b},
      {R"({"id":"a","type":"message","_tx":"0001.)", 0x027f8eba},
      {R"({"id":"b","type":"message","_tx":"0000.)", 0x87bc95da},
      {R"({"id":"c","type":"message","_tx":"0002.)", 0x060e0eb6},
      {R"({"id":"d","type":"message","_tx":"0001.)", 0x9f04dff2},
      {R"({"id":"e","type":"message","_tx":"0000.)", 0x9d65c4fe},
  };
  std::uint32_t crc = crc32c("sess-1");
  for (const Line& line : kLines) {
    crc = crc32c_extend(crc, line.sealed);
    EXPECT_EQ(crc, line.crc) << line.sealed;
  }
}

}  // namespace
}  // namespace quipu
