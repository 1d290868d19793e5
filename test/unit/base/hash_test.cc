// SHA-256 and base64, on the examples of their standards.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/sha256.h"

namespace quipu {
namespace {

TEST(Sha256, ExamplesOfTheStandard) {
  EXPECT_EQ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", sha256_hex(""));
  EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sha256_hex("abc"));
  Sha256 in_pieces;
  in_pieces.update("a");
  in_pieces.update("");
  in_pieces.update("bc");
  EXPECT_EQ(sha256_hex("abc"), in_pieces.finish());
}

TEST(Sha256, LongerExamplesOfTheStandard) {
  EXPECT_EQ("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));
  EXPECT_EQ("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            sha256_hex(std::string(1'000'000, 'a')));
}

// Where blocks and their padding end: pieces of every size give what the whole gives.
TEST(Sha256, PiecesMakeTheWhole) {
  std::string text;
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string whole = sha256_hex(text);
    for (const std::size_t piece : {1, 7, 63, 64, 65, 128}) {
      Sha256 hash;
      for (std::size_t at = 0; at < size; at += piece) {
        hash.update(std::string_view(text).substr(at, piece));
      }
      ASSERT_EQ(whole, hash.finish()) << size << " bytes in pieces of " << piece;
    }
    text += static_cast<char>(size * 31);
  }
}

TEST(Sha256, EveryProcessorGivesTheSame) {
  std::string blocks(64 * 40, '\0');
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<char>(i * i / 7);
  Sha256State chosen{1, 2, 3, 4, 5, 6, 7, 8};
  Sha256State portable = chosen;
  for (std::size_t count = 0; count <= 8; ++count) {
    sha256_blocks(chosen, blocks.data() + 64 * count, count);
    sha256_blocks_portable(portable, blocks.data() + 64 * count, count);
    ASSERT_EQ(chosen, portable) << count << " blocks";
  }
}

TEST(Sha256, OnlyHashesAreNames) {
  const std::string hash = sha256_hex("abc");
  EXPECT_TRUE(is_sha256_hex(hash));
  EXPECT_FALSE(is_sha256_hex(hash.substr(1)));
  EXPECT_FALSE(is_sha256_hex(hash + "0"));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, '/')));
}

TEST(Base64, ExamplesOfTheStandard) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : examples) {
    EXPECT_EQ(encoded, base64_encode(plain));
    EXPECT_EQ(plain, base64_decode(encoded));
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(all, base64_decode(base64_encode(all)));
}

TEST(Base64, OneEncodingOnly) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v\n", "Zm 9",
                          "Zm9v====", "====", "Zm-_", "Zg==Zg==", "=m9v"}) {
    EXPECT_FALSE(base64_decode(bad)) << bad;
  }
}

}  // namespace
}  // namespace quipu
