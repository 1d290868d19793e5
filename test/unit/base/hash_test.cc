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
