#include "log/seal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log_text.h"

namespace quipu::log {
namespace {

// Batches of 1, 2 and 3 lines in session sess-1.
const std::vector<std::string> kVectors = {
    R"({"id":"h","type":"session_header","_tx":"0000.951b3c5b"})",
    R"({"id":"a","type":"message","_tx":"0001.027f8eba"})",
    R"({"id":"b","type":"message","_tx":"0000.87bc95da"})",
    R"({"id":"c","type":"message","_tx":"0002.060e0eb6"})",
    R"({"id":"d","type":"message","_tx":"0001.9f04dff2"})",
    R"({"id":"e","type":"message","_tx":"0000.9d65c4fe"})",
};

TEST(Seal, VectorsByteForByte) {
  LogText log("sess-1");
  log.batch({R"({"id":"h","type":"session_header")"});
  log.batch({R"({"id":"a","type":"message")", R"({"id":"b","type":"message")"});
  log.batch({R"({"id":"c","type":"message")", R"({"id":"d","type":"message")",
             R"({"id":"e","type":"message")"});
  std::string expected;
  for (const std::string& line : kVectors) expected += line + "\n";
  EXPECT_EQ(log.bytes(), expected);
  EXPECT_EQ(log.chain(), 0x9d65c4feU);
}

TEST(Seal, EachVectorExtendsTheOneBefore) {
  std::uint32_t chain = chain_seed("sess-1");
  for (const std::string& line : kVectors) {
    const auto seal = find_seal(line);
    ASSERT_TRUE(seal) << line;
    EXPECT_EQ(seal_crc(chain, line), seal->crc) << line;
    chain = seal->crc;
  }
}

TEST(Seal, AnotherSessionHasOtherValues) {
  EXPECT_NE(seal_crc(chain_seed("sess-2"), kVectors[0]), find_seal(kVectors[0])->crc);
}

TEST(Seal, FindsItsNumbers) {
  const auto seal = find_seal(R"({"a":1,"_tx":"0a1f.deadbeef"})");
  ASSERT_TRUE(seal);
  EXPECT_EQ(seal->remaining, 0x0a1fU);
  EXPECT_EQ(seal->crc, 0xdeadbeefU);
}

TEST(Seal, BodyIsWhatStandsBefore) {
  EXPECT_EQ(body_of(kVectors[1]), R"({"id":"a","type":"message")");
}

TEST(Seal, MalformedShapesAreNoSeal) {
  for (const std::string line : {
           R"()",
           R"({})",
           R"(,"_tx":"0000.951b3c5b"})",         // nothing before it
           R"({"a":1,"_tx":"0000.951b3c5b")",    // no brace
           R"({"a":1,"_tx":"0000.951b3c5b"} )",  // something behind it
           "{\"a\":1,\"_tx\":\"0000.951b3c5b\"}\r",
           "{\"a\":1,\"_tx\":\"0000.951b3c5b\"}\n",
           R"({"a":1,"_tx":"0000.951b3c5b"}})",
           R"({"a":1,"_tx":"0000.951B3C5B"})",  // upper case
           R"({"a":1,"_tx":"000A.951b3c5b"})",
           R"({"a":1,"_tx":"000.951b3c5b"})",    // too few digits
           R"({"a":1,"_tx":"00000.951b3c5b"})",  // too many
           R"({"a":1,"_tx":"0000.951b3c5"})",
           R"({"a":1,"_tx":"0000.951b3c5bb"})",
           R"({"a":1,"_tx":"0000,951b3c5b"})",
           R"({"a":1,"_tx":"0000-951b3c5b"})",
           R"({"a":1,"_tx":"0000.951b3c5g"})",
           R"({"a":1,"_tx":"+000.951b3c5b"})",
           R"({"a":1,"_tx":"0x00.951b3c5b"})",
           R"({"a":1,"_tx":" 000.951b3c5b"})",
           R"({"a":1, "_tx":"0000.951b3c5b"})",
           R"({"a":1,"_tx": "0000.951b3c5b"})",
           R"({"a":1,"_TX":"0000.951b3c5b"})",
           R"({"a":1,"_tX":"0000.951b3c5b"})",
           R"({"a":1,"\u005ftx":"0000.951b3c5b"})",
           R"({"a":1,"_tx":0000.951b3c5b"})",
           R"({"a":1,"_tx":'0000.951b3c5b'})",
       }) {
    EXPECT_FALSE(find_seal(line)) << line;
  }
}

TEST(Seal, EveryByteOfItsShapeCounts) {
  const std::string line = kVectors[2];
  for (std::size_t i = line.size() - kSealBytes; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] = '\xff';
    EXPECT_FALSE(find_seal(changed)) << i;
    EXPECT_FALSE(find_seal(line.substr(0, i))) << i;
  }
}

TEST(Seal, ChecksumCoversBodyAndCount) {
  const std::string line = kVectors[2];
  const std::uint32_t chain = find_seal(kVectors[1])->crc;
  for (std::size_t i = 0; i < line.size() - kCrcDigits - 2; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = line;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_NE(seal_crc(chain, changed), find_seal(line)->crc) << i;
    }
  }
}

TEST(Seal, UnsealedLineIsFoldedInWithItsLineFeed) {
  // CRC-32C of "sess-1" extended by the bytes, computed in one go.
  EXPECT_EQ(fold_unsealed(chain_seed("sess-1"), R"({"x":1})"), chain_seed("sess-1{\"x\":1}\n"));
}

TEST(Seal, LargestCountFits) {
  std::string line;
  append_unsealed(line, R"({"a":1)");
  write_seal(line.data(), line.size(), 0xffff, 7);
  const auto seal = find_seal(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(seal);
  EXPECT_EQ(seal->remaining, 0xffffU);
}

}  // namespace
}  // namespace quipu::log
