// Bytes that change under an index that knows their lines.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "quipu/copy.h"
#include "quipu/store.h"
#include "support/history_store.h"

namespace quipu::test {
namespace {

class Rot : public ::testing::Test {
 protected:
  Rot() {
    Store store = Store::open(place(), {.create = true}).value();
    EXPECT_TRUE(store.sessions().create_session({.id = "s"}).ok());
    // Alone, and the lines of a batch.
    for (const std::vector<std::string>& batch :
         std::vector<std::vector<std::string>>{{"a"}, {"b", "c", "d"}, {"e"}}) {
      std::vector<NewEntry> entries;
      for (const std::string& id : batch) {
        NewEntry& entry = entries.emplace_back();
        entry.id = id;
        entry.type = "message";
        entry.payload = R"({"role":"user","content":"said by )" + id + "\"}";
      }
      EXPECT_TRUE(store.sessions().append_session_entries("s", entries).ok());
    }
    EXPECT_TRUE(store.close().ok());
    std::ifstream file(log());
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
  }

  std::string place() const { return scratch_.path() + "/store"; }
  std::string log() const { return place() + "/sessions/s.jsonl"; }

  /// In place: whoever has the file open has it changed, too.
  void put(std::size_t offset, char byte) const {
    std::fstream file(log(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  /// This line is damaged, and no other.
  void expect_damaged(std::size_t line) const {
    Store store = Store::open(place()).value();
    auto reader = store.sessions().read_session("s").value();
    std::size_t at = 0;
    for (;; ++at) {
      const auto entry = reader.next();
      ASSERT_TRUE(entry.ok()) << entry.error().message();
      if (!*entry) break;
      const bool is_damaged = (*entry)->payload == R"({"damaged":true})";
      EXPECT_EQ(at == line, is_damaged) << (*entry)->payload;
    }
    EXPECT_EQ(lines_.size(), at) << "none is hidden by another's damage";
    EXPECT_EQ(1u, reader.damaged());
  }

  ScratchDir scratch_;
  std::vector<std::string> lines_;
};

TEST_F(Rot, AByteOfABodyCostsThatLineAndIsNotShown) {
  std::size_t start = 0;
  // Not the last one: a log that ends otherwise than its index says has a torn end.
  for (std::size_t line = 0; line + 1 < lines_.size(); ++line) {
    const std::size_t body = lines_[line].size() - 23;
    for (std::size_t at = 0; at < body; ++at) {
      SCOPED_TRACE("byte " + std::to_string(start + at));
      put(start + at, static_cast<char>(lines_[line][at] ^ 1));
      expect_damaged(line);
      put(start + at, lines_[line][at]);
      if (HasFailure()) return;
    }
    start += lines_[line].size() + 1;
  }
}

TEST_F(Rot, DamageIsNotCopiedAsSound) {
  const std::size_t at = lines_[0].size() + lines_[1].size() + 2 + lines_[2].find("said");
  put(at, 'S');
  Store from = Store::open(place()).value();
  Store to = Store::open("memory:").value();
  const auto report = copy_store(from, to, {});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(1u, report->problems.size());
  EXPECT_EQ(Code::kCorrupt, report->problems[0].error.code());
}

}  // namespace
}  // namespace quipu::test
