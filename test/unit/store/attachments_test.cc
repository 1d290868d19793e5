// Attachments: content-addressed, shared, verified; inline data moved there.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/base64.h"
#include "base/sha256.h"
#include "support/agent_store.h"

namespace quipu::test {
namespace {

namespace stdfs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class AttachmentsTest : public AgentStore {
 protected:
  std::string file_of(const std::string& sha256) {
    return scratch_.path() + "/store/attachments/" + sha256;
  }
  void rot(const std::string& sha256) {
    stdfs::permissions(file_of(sha256), stdfs::perms::owner_write, stdfs::perm_options::add);
    std::ofstream(file_of(sha256), std::ios::trunc) << "rotten";
  }

  Attachments attachments_{*store_};
};

TEST_P(AttachmentsTest, TheSameBytesAreKeptOnce) {
  EXPECT_THAT(must(attachments_.list()), IsEmpty());
  const StoredAttachment first =
      must(attachments_.put("picture", {.media_type = "image/png", .name = "a.png"}));
  EXPECT_EQ(sha256_hex("picture"), first.sha256);
  EXPECT_EQ(7u, first.bytes);
  EXPECT_EQ(PartType::kAttachment, first.part.type);
  EXPECT_EQ("image/png", first.part.media_type);
  EXPECT_EQ("a.png", first.part.name);
  EXPECT_EQ(first.sha256, first.part.sha256);
  EXPECT_EQ(first.sha256, must(attachments_.put("picture")).sha256);
  const StoredAttachment empty = must(attachments_.put(""));
  ASSERT_EQ(2u, must(attachments_.list()).size());
  EXPECT_EQ("picture", must(attachments_.get(first.sha256)));
  EXPECT_EQ("", must(attachments_.get(empty.sha256)));
  EXPECT_EQ(7u, must(attachments_.stat(first.sha256)).bytes);
}

TEST_P(AttachmentsTest, WhatIsNotThere) {
  const std::string absent = sha256_hex("never put");
  EXPECT_EQ(Code::kNotFound, code_of(attachments_.get(absent)));
  EXPECT_EQ(Code::kNotFound, code_of(attachments_.stat(absent)));
  for (const std::string bad : {"", "abc", "../../../etc/passwd"}) {
    EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.get(bad)));
  }
  std::string upper = absent;
  upper[0] = 'A';
  EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.stat(upper)));
}

TEST_P(AttachmentsTest, NothingAfterClose) {
  const std::string sha256 = must(attachments_.put("picture")).sha256;
  must(store_->close());
  EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.get(sha256)));
  EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.put("x")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.list()));
}

TEST_P(AttachmentsTest, StreamedBothWays) {
  std::string large;
  for (int i = 0; i < 100'000; ++i) large += std::to_string(i);
  std::string_view rest = large;
  const ReadBytes read = [&](std::span<char> into) -> Result<std::size_t> {
    const std::size_t count = rest.copy(into.data(), std::min<std::size_t>(into.size(), 1000));
    rest.remove_prefix(count);
    return count;
  };
  const StoredAttachment stored = must(attachments_.put(read));
  EXPECT_EQ(sha256_hex(large), stored.sha256);
  AttachmentReader reader = must(attachments_.open(stored.sha256));
  std::string back;
  std::array<char, 777> piece;
  while (const std::size_t count = must(reader.read(piece))) back.append(piece.data(), count);
  EXPECT_EQ(large, back);
  EXPECT_EQ(0u, must(reader.read(piece)));
}

TEST_P(AttachmentsTest, AReaderThatFailsLeavesNothing) {
  int pieces = 0;
  const auto failed = attachments_.put([&](std::span<char> into) -> Result<std::size_t> {
    into[0] = 'x';
    if (++pieces == 3) return Error(Code::kIoError, "the pipe broke");
    return std::size_t{1};
  });
  EXPECT_EQ(Code::kIoError, code_of(failed));
  EXPECT_THAT(must(attachments_.list()), IsEmpty());
}

TEST_P(AttachmentsTest, RottenBytesAreFoundAndReplaced) {
  if (!GetParam()) return;  // memory does not rot
  const std::string sha256 = must(attachments_.put("picture")).sha256;
  rot(sha256);
  EXPECT_EQ(Code::kCorrupt, code_of(attachments_.get(sha256)));
  AttachmentReader reader = must(attachments_.open(sha256));
  std::array<char, 64> piece;
  EXPECT_EQ(6u, must(reader.read(piece)));
  EXPECT_EQ(Code::kCorrupt, code_of(reader.read(piece)));
  EXPECT_EQ(Code::kCorrupt, code_of(reader.read(piece))) << "not good the second time";
  must(attachments_.put("picture"));
  EXPECT_EQ("picture", must(attachments_.get(sha256)));
  const std::string aside = scratch_.path() + "/store/quarantine/attachment-" + sha256 + ".1";
  EXPECT_TRUE(stdfs::exists(aside)) << "nothing vanishes";
}

TEST_P(AttachmentsTest, OtherFilesInTheDirectoryAreNone) {
  if (!GetParam()) return;
  must(attachments_.put("picture"));
  std::ofstream(file_of(".tmp-1")) << "x";
  std::ofstream(file_of("README")) << "x";
  EXPECT_EQ(1u, must(attachments_.list()).size());
}

TEST_P(AttachmentsTest, InlineDataMoves) {
  const std::string bytes(100, '\xfe');
  const std::string data = base64_encode(bytes);
  const std::string payload =
      R"({"role": "user", "content":[{"type":"text","text":"see"},)"
      R"({"type":"attachment","mediaType":"image/png","data":")" +
      data +
      R"(","x":1.0},)"
      R"({"type":"tool_result","toolUseId":"c","content":[{"type":"attachment","data":")" +
      data + R"("}]},{"type":"attachment","data":"QUJD"},{"type":"other","data":")" + data +
      R"("}]})";
  const std::string moved = must(attachments_.move_inline(payload, 50));
  const std::string sha = "\"sha256\":\"" + sha256_hex(bytes) + "\"";
  EXPECT_EQ(R"({"role":"user","content":[{"type":"text","text":"see"},)"
            R"({"type":"attachment","mediaType":"image/png",)" +
                sha +
                R"(,"x":1.0},)"
                R"({"type":"tool_result","toolUseId":"c","content":[{"type":"attachment",)" +
                sha + R"(}]},{"type":"attachment","data":"QUJD"},{"type":"other","data":")" + data +
                R"("}]})",
            moved);
  EXPECT_EQ(bytes, must(attachments_.get(sha256_hex(bytes))));
  EXPECT_EQ(1u, must(attachments_.list()).size());
  EXPECT_EQ(payload, must(attachments_.move_inline(payload, 1000))) << "nothing to move";
  EXPECT_EQ(Code::kInvalidArgument,
            code_of(attachments_.move_inline(
                R"({"content":[{"type":"attachment","data":"not base64!!"}]})", 0)));
  EXPECT_EQ(Code::kInvalidArgument, code_of(attachments_.move_inline("[]")));
}

TEST_P(AttachmentsTest, MovedDataHasOneHash) {
  const std::string data = base64_encode(std::string(100, 'x'));
  const std::string moved = must(attachments_.move_inline(
      R"({"content":[{"type":"attachment","sha256":"0","data":")" + data + R"("}]})", 50));
  EXPECT_EQ(R"({"content":[{"type":"attachment","sha256":")" + sha256_hex(std::string(100, 'x')) +
                R"("}]})",
            moved);
}

INSTANTIATE_TEST_SUITE_P(Store, AttachmentsTest, testing::Bool(), backend_name);

}  // namespace
}  // namespace quipu::test
