#include "recall/embedding_answer.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

using Vectors = std::vector<std::vector<float>>;

std::string complaint(const std::string& answer, std::size_t count) {
  const auto read = read_embeddings(answer, count);
  if (read.ok()) return "";
  EXPECT_EQ(read.error().code(), Code::kIoError);
  const std::string& message = read.error().message();
  const std::string_view begin = "the answer is not one of an embeddings endpoint: ";
  const std::size_t at = message.find(begin);
  EXPECT_NE(at, std::string::npos) << message;
  return message.substr(0, at) + message.substr(at + begin.size());
}

TEST(EmbeddingAnswer, ArraysAndBase64) {
  const std::string base64 = base64_encode(vector_bytes(std::vector<float>{0.5F, -2}));
  const auto read = read_embeddings(
      R"({"object":"list","data":[{"index":1,"embedding":")" + base64 +
          R"("},{"embedding":[1, -2.5e0],"object":"embedding","index":0}],"model":"m"})",
      2);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read, (Vectors{{1, -2.5F}, {0.5F, -2}}));
}

TEST(EmbeddingAnswer, NumbersAsModelsWriteThem) {
  const auto read = read_embeddings(
      R"({"data":[{"index":0,"embedding":[-0.0, 1E+2, 3, 1e-60, 0.1234567890123456789]}]})", 1);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->at(0), (std::vector<float>{-0.0F, 100, 3, 0, 0.12345679F}));
}

TEST(EmbeddingAnswer, GarbageIsCalledWhatItIs) {
  EXPECT_NE(complaint("", 1), "");
  EXPECT_NE(complaint("<html>Welcome</html>", 1), "");
  EXPECT_NE(complaint(R"({"data":[{"index":0,"embedding":[1,2)", 1), "");
  EXPECT_NE(complaint(R"({"data":[{"index":0,"embedding":[NaN]}]})", 1), "");
  EXPECT_EQ(complaint("{}", 1), "it has no data");
  EXPECT_EQ(complaint(R"({"data":{}})", 1), "it has no data");
  EXPECT_EQ(complaint(R"({"data":[7]})", 1), "an element of data is no object");
  EXPECT_EQ(complaint(R"({"data":[{"index":0}]})", 1),
            "an element of data has no index or no embedding");
  EXPECT_EQ(complaint(R"({"data":[{"index":0,"embedding":null}]})", 1),
            "text 0: an embedding is neither an array nor a string");
  EXPECT_EQ(complaint(R"({"data":[{"index":0,"embedding":"AAA"}]})", 1),
            "text 0: an embedding is not base64 of floats");
  EXPECT_EQ(complaint(R"({"data":[{"index":0,"embedding":"AAAA"}]})", 1),
            "text 0: an embedding is not base64 of floats");
}

TEST(EmbeddingAnswer, ValuesMustBeFitForASearch) {
  const auto one = [](const std::string& embedding) {
    return complaint(R"({"data":[{"index":0,"embedding":)" + embedding + "}]}", 1);
  };
  EXPECT_EQ(one(R"([1,"2"])"), "text 0: component 1 is not a number");
  EXPECT_EQ(one("[1,1e39]"), "text 0: component 1 is not a number");
  EXPECT_EQ(one("[1,1e999]"), "text 0: component 1 is not a number");
  EXPECT_EQ(one("[]"), "text 0: the vector has no components");
  EXPECT_EQ(one("[0,0]"), "text 0: the vector is zero in all components");
  const std::string nan = base64_encode(std::string("\x00\x00\xc0\x7f", 4));
  EXPECT_EQ(one("\"" + nan + "\""), "text 0: the vector is NaN at component 0");
}

TEST(EmbeddingAnswer, EveryTextHasItsVectorOnce) {
  const auto item = [](int index) {
    return R"({"index":)" + std::to_string(index) + R"(,"embedding":[1,2]})";
  };
  const auto all = [](const std::string& items) { return R"({"data":[)" + items + "]}"; };
  EXPECT_EQ(complaint(all(item(0)), 2), "it has fewer than the 2 vectors asked for");
  EXPECT_EQ(complaint(all(item(0) + "," + item(1)), 1), "it has more than the 1 vectors asked for");
  EXPECT_EQ(complaint(all(item(0) + "," + item(0)), 2), "an index is there twice");
  EXPECT_EQ(complaint(all(item(0) + "," + item(2)), 2), "an index is not one of a text");
  EXPECT_EQ(complaint(all(item(0) + "," + item(-1)), 2), "an index is not one of a text");
  EXPECT_EQ(complaint(all(item(0) + R"(,{"index":1,"embedding":[1]})"), 2),
            "its vectors differ in dimensions");
  EXPECT_EQ(complaint(all(R"({"index":0.0,"embedding":[1]})"), 1), "an index is not one of a text");
}

TEST(EmbeddingAnswer, ComplaintsAreOneShortLine) {
  EXPECT_EQ(read_complaint(R"({"error":{"message":"too\nlong","type":"x"}})"), "too long");
  EXPECT_EQ(read_complaint(R"({"error":"no such model"})"), "no such model");
  EXPECT_EQ(read_complaint(R"({"message":"bad"})"), "bad");
  EXPECT_EQ(read_complaint(R"({"error":{"code":7}})"), R"({"error":{"code":7}})");
  EXPECT_EQ(read_complaint("Bad\r\nGateway"), "Bad  Gateway");
  EXPECT_EQ(read_complaint(""), "");
  std::string umlauts;
  for (int i = 0; i < 400; ++i) umlauts += "ä";
  const std::string cut = read_complaint("x" + umlauts);
  EXPECT_TRUE(cut.ends_with("ä…"));
  EXPECT_LE(cut.size(), 303U);
}

}  // namespace
}  // namespace quipu::recall
