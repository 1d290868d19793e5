#include "fs/zstd_file.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>

namespace quipu::fs {
namespace {

class TextFile final : public HostFile {
 public:
  explicit TextFile(std::string text) : text_(std::move(text)) {}
  HostStat stat() const override {
    HostStat stat;
    stat.size = text_.size();
    return stat;
  }
  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    if (offset >= text_.size()) return std::size_t{0};
    return text_.copy(into.data(), into.size(), offset);
  }

 private:
  std::string text_;
};

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string numbers(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text;
}

Result<std::string> read_all(HostFile& file, std::size_t step) {
  std::string all;
  std::string buffer(step, '\0');
  for (;;) {
    auto got = file.read_at(std::span(buffer), all.size());
    if (!got.ok()) return std::move(got).error();
    if (*got == 0) return all;
    all += buffer.substr(0, *got);
  }
}

TEST(ZstdFile, ReadsWhatWasCompressed) {
  const std::string text = numbers(3'000'000);
  for (const std::size_t step : {777u, 65'536u, 5'000'000u}) {
    auto file = decompressed(std::make_unique<TextFile>(compressed(text)));
    EXPECT_TRUE(read_all(*file, step).value() == text);
  }
  auto empty = decompressed(std::make_unique<TextFile>(""));
  EXPECT_EQ(read_all(*empty, 10).value(), "");
}

TEST(ZstdFile, GoesBackAndForth) {
  const std::string text = numbers(500'000);
  auto file = decompressed(std::make_unique<TextFile>(compressed(text)));
  for (const std::uint64_t at : {400'000u, 10u, 10u, 300'000u, 0u, 499'999u}) {
    std::string buffer(100, '\0');
    const std::size_t got = file->read_at(std::span(buffer), at).value();
    EXPECT_TRUE(std::string_view(text).substr(at, 100) == buffer.substr(0, got)) << at;
  }
  std::string buffer(100, '\0');
  EXPECT_EQ(file->read_at(std::span(buffer), 10'000'000).value(), 0u);
}

TEST(ZstdFile, SeveralFramesAreOneFile) {
  auto file = decompressed(std::make_unique<TextFile>(compressed("one\n") + compressed("two\n")));
  EXPECT_EQ(read_all(*file, 3).value(), "one\ntwo\n");
}

TEST(ZstdFile, DamageIsAnError) {
  const std::string good = compressed(numbers(200'000));
  auto cut = decompressed(std::make_unique<TextFile>(good.substr(0, good.size() / 2)));
  EXPECT_EQ(read_all(*cut, 1000).error().code(), Code::kCorrupt);
  auto foreign = decompressed(std::make_unique<TextFile>("this is no zstd"));
  EXPECT_EQ(read_all(*foreign, 1000).error().code(), Code::kCorrupt);
}

TEST(ZstdFile, NamesSayWhatIsCompressed) {
  EXPECT_TRUE(is_compressed("/a/b.jsonl.zst"));
  EXPECT_FALSE(is_compressed("/a/b.jsonl"));
}

}  // namespace
}  // namespace quipu::fs
