#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "log/recover.h"
#include "log/seal.h"
#include "quipu/store.h"
#include "support/history_store.h"

namespace quipu {
namespace {

namespace stdfs = std::filesystem;

std::string read_text(const stdfs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const stdfs::path kData = stdfs::path(QUIPU_SOURCE_DIR) / "test/compat/data/v1";

class FormatOne : public testing::Test {
 protected:
  FormatOne() {
    stdfs::create_directories(root_);
    stdfs::copy(kData, root_, stdfs::copy_options::recursive);
    auto opened = Store::open(root_.string());
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    if (opened.ok()) store_.emplace(std::move(opened).value());
  }

  /// "id<parent" of each entry, with marks for what is special about it.
  std::vector<std::string> shown(std::string_view session) {
    const auto entries = store_->sessions().load_session_entries(session);
    if (!entries.ok()) return {entries.error().message()};
    std::vector<std::string> lines;
    for (const Entry& entry : *entries) {
      std::string line = entry.id;
      if (!entry.is_fact) line += "<" + entry.parent_id.value_or("-");
      if (entry.adopted) line += " adopted";
      if (entry.inherited) line += " inherited";
      if (entry.redacted) line += " redacted";
      lines.push_back(line);
    }
    return lines;
  }
  std::string head(std::string_view session) {
    const auto summary = store_->sessions().describe_session(session);
    return summary.ok() ? summary->head : summary.error().message();
  }
  std::vector<std::string> problems(std::string_view session) {
    const auto report = store_->sessions().verify_session(session);
    if (!report.ok()) return {report.error().message()};
    std::vector<std::string> kinds;
    for (const Problem& problem : report->problems) kinds.push_back(problem.kind);
    return kinds;
  }
  stdfs::path log(const std::string& session) const {
    return root_ / "sessions" / (session + ".jsonl");
  }

  test::ScratchDir scratch_;
  stdfs::path root_ = stdfs::path(scratch_.path()) / "store";
  std::optional<Store> store_;
};

using Lines = std::vector<std::string>;

TEST_F(FormatOne, AllSessionsAreThere) {
  const auto ids = store_->sessions().session_ids();
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*ids, (Lines{"adopted", "branches", "fork", "plain", "redaction", "rotten", "torn"}));
  EXPECT_EQ(store_->id(), "0192f0c1-2b5e-7c3d-9a41-000000000001");
}

TEST_F(FormatOne, Plain) {
  EXPECT_EQ(shown("plain"), (Lines{"h-plain", "p1<-", "p2<p1", "p3<p2"}));
  EXPECT_EQ(head("plain"), "p3");
  EXPECT_EQ(problems("plain"), Lines{});
  const auto entries = store_->sessions().load_session_entries("plain");
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ((*entries)[3].payload,
            "{\"role\":\"user\",\"content\":\"caf\xc3\xa9 \\u00e9 1e400 \\ud83d\\ude00\"}");
  const auto summary = store_->sessions().describe_session("plain");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "Plain");
  EXPECT_EQ(summary->cwd, "/home/ada");
  EXPECT_EQ(summary->schema_version, 1);
}

TEST_F(FormatOne, Branches) {
  EXPECT_EQ(shown("branches"),
            (Lines{"h-branches", "b1<-", "b2<b1", "b3<b2", "b4<b1", "bh", "b5<b4", "bl", "bi"}));
  EXPECT_EQ(head("branches"), "b5");
  EXPECT_EQ(problems("branches"), Lines{});
  const auto summary = store_->sessions().describe_session("branches");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "Two ways");
  EXPECT_EQ(summary->tail, "bi");
}

TEST_F(FormatOne, Fork) {
  EXPECT_EQ(shown("fork"),
            (Lines{"b1<- inherited", "b2<b1 inherited", "b3<b2 inherited", "h-fork", "f1<b3"}));
  EXPECT_EQ(head("fork"), "f1");
  EXPECT_EQ(problems("fork"), Lines{});
}

TEST_F(FormatOne, AdoptedLines) {
  const auto lines = shown("adopted");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "h-adopted");
  EXPECT_EQ(lines[1], "a1<-");
  EXPECT_TRUE(lines[2].starts_with("adopted-") && lines[2].ends_with("<a1 adopted")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("a1~2<adopted-")) << lines[3];
  EXPECT_EQ(lines[4], "a2<a1~2");
  EXPECT_EQ(problems("adopted"), Lines{});
  const auto entries = store_->sessions().load_session_entries("adopted");
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ((*entries)[2].payload, R"({"type":"user","uuid":"7","text":"theirs"})");
  EXPECT_EQ((*entries)[3].timestamp, "2026-03-01T09:30:00.000Z");
}

TEST_F(FormatOne, Redaction) {
  EXPECT_EQ(shown("redaction"), (Lines{"h-redaction", "r1<- redacted", "r2<r1", "rr"}));
  const auto entries = store_->sessions().load_session_entries("redaction");
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ((*entries)[1].payload, R"({"redacted":true})");
  EXPECT_EQ((*entries)[1].json.find("secret"), std::string::npos);
}

TEST_F(FormatOne, TornTail) {
  EXPECT_EQ(shown("torn"), (Lines{"h-torn", "t1<-"}));
  EXPECT_EQ(problems("torn"), Lines{"torn_tail"});
}

TEST_F(FormatOne, RottenLine) {
  EXPECT_EQ(shown("rotten"), (Lines{"h-rotten", "o1<-", "o3<o1", "o4<o3"}));
  const auto kinds = problems("rotten");
  EXPECT_NE(std::find(kinds.begin(), kinds.end(), "damaged_line"), kinds.end());
}

TEST_F(FormatOne, ReadingChangesNoLog) {
  for (const std::string id :
       {"adopted", "branches", "fork", "plain", "redaction", "rotten", "torn"}) {
    shown(id);
    problems(id);
    EXPECT_EQ(read_text(log(id)), read_text(kData / "sessions" / (id + ".jsonl"))) << id;
  }
}

TEST_F(FormatOne, EverySessionCanGoOn) {
  for (const std::string id :
       {"adopted", "branches", "fork", "plain", "redaction", "rotten", "torn"}) {
    auto expected = shown(id);
    const std::string old = read_text(log(id));
    const std::string_view line = R"({"id":"next","type":"message","payload":{}})";
    const std::string before = head(id);
    const auto appended = store_->sessions().append_session_lines(id, std::span(&line, 1));
    ASSERT_TRUE(appended.ok()) << id << ": " << appended.error().message();
    expected.push_back("next<" + before);
    EXPECT_EQ(shown(id), expected) << id;
    if (id != "torn") {
      EXPECT_TRUE(read_text(log(id)).starts_with(old)) << id;
    }
  }
}

/// The lines of the first fenced jsonl block under a heading.
std::vector<std::string> fenced_lines(const std::string& text, std::string_view heading) {
  std::vector<std::string> lines;
  const auto start = text.find("\n## " + std::string(heading) + "\n");
  const auto block = text.find("```jsonl\n", start);
  if (start == std::string::npos || block == std::string::npos) return lines;
  std::size_t at = block + std::string_view("```jsonl\n").size();
  for (;;) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos || text.compare(at, 3, "```") == 0) return lines;
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

TEST(FormatDocument, WorkedExampleIsWhatSealingGives) {
  const auto lines =
      fenced_lines(read_text(stdfs::path(QUIPU_SOURCE_DIR) / "docs/format.md"), "Worked example");
  ASSERT_GE(lines.size(), 6U);
  std::uint32_t chain = log::chain_seed("sess-1");
  std::size_t commits = 0;
  for (const std::string& line : lines) {
    const auto seal = log::find_seal(line);
    ASSERT_TRUE(seal) << line;
    std::string made;
    log::append_unsealed(made, log::body_of(line));
    chain = log::write_seal(made.data(), made.size(), seal->remaining, chain);
    EXPECT_EQ(made, line + "\n");
    commits += seal->remaining == 0 ? 1 : 0;
  }
  EXPECT_EQ(commits, 3U);
  EXPECT_EQ(lines.back(), R"({"id":"e","type":"message","_tx":"0000.9d65c4fe"})");
}

}  // namespace
}  // namespace quipu
