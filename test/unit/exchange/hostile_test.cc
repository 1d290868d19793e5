// Sources as no agent should leave them, on a real file system: a report, no crash, and
// nothing is written to a source.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "quipu/conversation.h"
#include "quipu/export.h"
#include "quipu/import.h"

namespace quipu {
namespace {

namespace stdfs = std::filesystem;

std::string header(const std::string& id, const std::string& cwd = "/data") {
  return R"({"type":"session","version":3,"id":")" + id +
         R"(","timestamp":"2026-03-01T09:30:00.000Z","cwd":")" + cwd + "\"}\n";
}

std::string message(const std::string& id, const std::string& parent, const std::string& text) {
  return R"({"type":"message","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":")" + text +
         "\"}}\n";
}

class Hostile : public testing::Test {
 protected:
  Hostile() {
    std::string pattern = testing::TempDir() + "quipu-hostile-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    stdfs::create_directory(root_ + "/in");
    StoreOptions options;
    options.create = true;
    store_.emplace(Store::open("file:" + root_ + "/store", options).value());
  }
  ~Hostile() override {
    stdfs::permissions(root_ + "/in", stdfs::perms::owner_all);
    stdfs::remove_all(root_);
  }

  std::string at(const std::string& name) const { return root_ + "/in/" + name; }
  void write(const std::string& name, std::string_view text) {
    stdfs::create_directories(stdfs::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << text;
  }

  /// Everything below `in`, as an import of it finds it.
  std::vector<ImportReport> import(const std::string& path = {}) {
    Importer importer(*store_);
    auto found = importer.find({.agents = {"pi"}, .paths = {path.empty() ? root_ + "/in" : path}});
    EXPECT_TRUE(found.ok());
    problems_.clear();
    for (const ImportProblem& problem : found->problems) problems_.insert(problem.what);
    std::vector<ImportReport> reports;
    EXPECT_TRUE(importer
                    .run(found->sources, {},
                         [&](const ImportReport& report) {
                           reports.push_back(report);
                           return true;
                         })
                    .ok());
    return reports;
  }

  std::string given_back(const std::string& session) {
    std::string text;
    const auto given = export_session(*store_, session, {.to = "pi"},
                                      [&](const std::string&, std::string_view bytes) {
                                        text += bytes;
                                        return Result<void>();
                                      });
    EXPECT_TRUE(given.ok()) << given.error().message();
    return text;
  }

  std::string root_;
  std::optional<Store> store_;
  std::set<std::string> problems_;
};

TEST_F(Hostile, LinksFifosAndSocketsAreReportedAndNotOpened) {
  write("real.jsonl", header("real"));
  stdfs::create_symlink(at("real.jsonl"), at("link.jsonl"));
  stdfs::create_directory_symlink(root_ + "/in", at("loop"));
  ASSERT_EQ(::mkfifo(at("fifo.jsonl").c_str(), 0600), 0);  // would wait for ever
  const auto reports = import();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].session_id, "pi.real");
  EXPECT_EQ(problems_, (std::set<std::string>{"symbolic link: not followed", "no regular file"}));
}

TEST_F(Hostile, ALinkThatIsNamedIsMeant) {
  write("real.jsonl", header("real"));
  stdfs::create_directory_symlink(root_ + "/in", root_ + "/named");
  EXPECT_EQ(import(root_ + "/named").size(), 1u);
}

// Root may read everything: there the file is read.
TEST_F(Hostile, WhatMayNotBeReadIsReportedAndHidesNoOther) {
  write("good.jsonl", header("good"));
  write("secret.jsonl", header("secret"));
  write("closed/inner.jsonl", header("inner"));
  ::chmod(at("secret.jsonl").c_str(), 0);
  ::chmod(at("closed").c_str(), 0);
  const bool may_all = ::access(at("secret.jsonl").c_str(), R_OK) == 0;
  const auto reports = import();
  ::chmod(at("closed").c_str(), 0700);
  EXPECT_EQ(reports.size(), may_all ? 3u : 1u);
  EXPECT_EQ(problems_.empty(), may_all);
}

TEST_F(Hostile, LinesOfManyMegabytesAreKeptWhole) {
  const std::string huge = message("big", "", std::string(std::size_t{52} << 20, 'x'));
  const std::string text = header("s") + huge + message("after", "", "hi");
  write("s.jsonl", text);
  const auto reports = import();
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_FALSE(reports[0].error);
  ASSERT_EQ(reports[0].problems.size(), 1u);
  EXPECT_EQ(reports[0].problems[0].what, "too_large");
  EXPECT_TRUE(given_back("pi.s") == text);
}

TEST_F(Hostile, TwoHundredThousandLines) {
  std::string text = header("s");
  for (int i = 0; i < 200'000; ++i) {
    text += message("m" + std::to_string(i), i == 0 ? "" : "m" + std::to_string(i - 1), "x");
  }
  write("s.jsonl", text);
  const auto reports = import();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].added, 200'001u);
  EXPECT_TRUE(given_back("pi.s") == text);
  EXPECT_EQ(read_conversation(*store_, "pi.s")->size(), 200'000u);
}

TEST_F(Hostile, CyclesDanglingParentsAndRepeatedIds) {
  const std::string text = header("s") + message("a", "b", "one") + message("b", "a", "two") +
                           message("c", "c", "three") + message("d", "nowhere", "four") +
                           message("a", "d", "again") + message("", "", "no id");
  write("s.jsonl", text);
  const auto reports = import();
  ASSERT_FALSE(reports[0].error) << reports[0].error->message();
  EXPECT_TRUE(given_back("pi.s") == text);
  EXPECT_TRUE(read_conversation(*store_, "pi.s").ok());
}

TEST_F(Hostile, LoneSurrogatesControlsAndBytesThatAreNoText) {
  const std::string text = header("s") + message("a", "", "\\ud83d half") +
                           message("b", "a", std::string("\xf0\x9f\x98", 3)) +
                           std::string("\0\0\0\0", 4) + "\n" + "{\"type\":\"message\"\n";
  write("s.jsonl", text);
  const auto reports = import();
  ASSERT_FALSE(reports[0].error);
  EXPECT_FALSE(reports[0].problems.empty());
  EXPECT_TRUE(given_back("pi.s") == text);
}

// Directories named by working directories lose what tells these apart.
TEST_F(Hostile, WorkingDirectoriesWhoseNamesCollide) {
  write("--a-b--/1_x.jsonl", header("x", "/a/b"));
  write("--a-b--/2_y.jsonl", header("y", "/a-b"));
  EXPECT_EQ(import().size(), 2u);
  EXPECT_EQ(store_->sessions().describe_session("pi.x")->cwd, "/a/b");
  EXPECT_EQ(store_->sessions().describe_session("pi.y")->cwd, "/a-b");
}

TEST_F(Hostile, SessionIdsThatAreNoNames) {
  for (const char* id : {"../../etc/passwd", "a/b", ".", "..", "con\\u0000trol", "x y"}) {
    static int number = 0;
    write(std::to_string(++number) + ".jsonl", header(id) + message("a", "", "hi"));
  }
  write("long.jsonl", header(std::string(5000, 'n')));
  for (const ImportReport& report : import()) {
    EXPECT_FALSE(report.error) << report.source << ": " << report.error->message();
  }
  for (const auto& file : stdfs::recursive_directory_iterator(root_)) {
    EXPECT_TRUE(file.path().string().starts_with(root_ + "/"));
  }
  EXPECT_FALSE(stdfs::exists(root_ + "/etc"));
}

TEST_F(Hostile, ASourceIsNeverWrittenTo) {
  write("s.jsonl", header("s") + message("a", "", "hi") + "torn");
  ::chmod(at("s.jsonl").c_str(), 0444);
  const auto before = stdfs::last_write_time(at("s.jsonl"));
  const auto directory = stdfs::last_write_time(root_ + "/in");
  import();
  import();
  EXPECT_EQ(stdfs::last_write_time(at("s.jsonl")), before);
  EXPECT_EQ(stdfs::last_write_time(root_ + "/in"), directory);
}

}  // namespace
}  // namespace quipu
