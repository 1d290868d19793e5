// Sources as no agent should leave them, on a real file system: a report, no crash, and
// nothing is written to a source.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "quipu/conversation.h"
#include "quipu/export.h"
#include "quipu/import.h"
#include "support/memory_host.h"

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

constexpr const char* kUuid = "11111111-1111-4111-8111-111111111111";

std::string claude_line(const std::string& text) {
  return R"({"type":"user","message":{"role":"user","content":")" + text +
         R"("},"parentUuid":null,"uuid":"u","sessionId":")" + kUuid + "\"}\n";
}

std::string gemini_header(const std::string& directory = "/data") {
  return R"({"sessionId":"g","directories":[")" + directory + R"("],"projectHash":"h"})" + "\n";
}

/// "path: what" of each, the path without `root`.
std::set<std::string> complaints(const FoundSources& found, const std::string& root) {
  std::set<std::string> all;
  for (const ImportProblem& problem : found.problems) {
    all.insert(problem.path.substr(root.size()) + ": " + problem.what);
  }
  return all;
}

std::set<std::string> sessions(const FoundSources& found, const std::string& root) {
  std::set<std::string> all;
  for (const ImportSource& source : found.sources) all.insert(source.path.substr(root.size()));
  return all;
}

/// Some of its directories may not be looked into.
class LockedHost final : public MemoryHost {
 public:
  std::set<std::string> locked;

  bool exists(const std::string& path) override {
    return !is_locked(path) && MemoryHost::exists(path);
  }
  Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
    if (is_locked(path)) return refusal(path);
    return MemoryHost::read(path, bytes_max);
  }
  Result<fs::HostStat> stat(const std::string& path) override {
    if (is_locked(path)) return refusal(path);
    return MemoryHost::stat(path);
  }
  Result<std::vector<fs::HostName>> list(const std::string& path) override {
    if (is_locked(path + "/")) return refusal(path);
    return MemoryHost::list(path);
  }

 private:
  static Error refusal(const std::string& path) { return {Code::kNotAllowed, "no: " + path}; }
  bool is_locked(const std::string& path) const {
    return std::any_of(locked.begin(), locked.end(), [&](const std::string& directory) {
      return path.starts_with(directory + "/");
    });
  }
};

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

  /// What there is on a machine whose user has `in` as a home.
  FoundSources find_at_home() {
    const std::map<std::string, std::string> variables{{"HOME", root_ + "/in"}};
    auto found = Importer(*store_, nullptr, &variables).find({});
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : FoundSources();
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

// A file is opened by the name that its source has for good.
TEST_F(Hostile, ALinkToAFileIsReportedWhoeverNamesIt) {
  write("real.jsonl", header("real"));
  stdfs::create_symlink(at("real.jsonl"), root_ + "/named.jsonl");
  EXPECT_TRUE(import(root_ + "/named.jsonl").empty());
  EXPECT_EQ(problems_, std::set<std::string>{"symbolic link: not followed"});
  stdfs::remove(at("real.jsonl"));
  EXPECT_TRUE(import(root_ + "/named.jsonl").empty());
  EXPECT_EQ(problems_.size(), 1u);
  EXPECT_TRUE(problems_.begin()->ends_with("No such file or directory")) << *problems_.begin();
}

TEST_F(Hostile, AFirstLineThatIsLongHidesNoSession) {
  const std::string kilobytes(20 << 10, 'x');
  const std::string megabytes(3 << 20, 'x');
  const std::string session = R"(","sessionId":")" + std::string(kUuid) + "\"}\n";
  std::set<std::string> all;
  const auto add = [&](const std::string& name, const std::string& text) {
    write(name, text);
    all.insert("/" + name);
  };
  add(".claude/projects/-a/queue.jsonl",
      R"({"type":"queue-operation","operation":"enqueue","content":")" + kilobytes + session);
  add(".claude/projects/-a/prompt.jsonl",
      R"({"type":"last-prompt","lastPrompt":")" + megabytes + session);
  add(".claude/projects/-a/user.jsonl", claude_line(kilobytes) + claude_line("hi"));
  add(".gemini/tmp/p/chats/session-1.jsonl", gemini_header("/" + kilobytes));
  add(".gemini/tmp/p/chats/session-2.jsonl", gemini_header("/" + megabytes));
  const FoundSources found = find_at_home();
  EXPECT_EQ(sessions(found, root_ + "/in"), all);
  EXPECT_TRUE(found.problems.empty());
  ASSERT_TRUE(Importer(*store_)
                  .run(found.sources, {},
                       [](const ImportReport& report) {
                         EXPECT_FALSE(report.error) << report.error->message();
                         return true;
                       })
                  .ok());
}

TEST_F(Hostile, FirstLinesThatAreDamagedHideNoSession) {
  const std::string meta = R"({"type":"session_meta","payload":{"id":"c"}})"
                           "\n";
  const std::string craft = R"({"id":"k","workspaceRootPath":"/w"})"
                            "\n";
  const std::string unknown = R"({"type":"unheard-of","v":1})"
                              "\n";
  for (const std::string& damage : {std::string("\0\0\0\n", 4), std::string("\n \n"),
                                    std::string("\xef\xbb\xbf\n"), std::string("\xef\xbb\xbf"),
                                    std::string(R"({"type":"session","id":"to)"
                                                "\n"),
                                    std::string("garbage\n"), unknown}) {
    std::set<std::string> all;
    const auto add = [&](const std::string& name, const std::string& text) {
      write(name, damage + text);
      all.insert("/" + name);
    };
    add(".codex/sessions/2026/rollout-1.jsonl", meta);
    add(".codex/sessions/2026/other.jsonl", meta);
    add(".gemini/tmp/p/chats/session-1.jsonl", gemini_header());
    add(".craft-agent/workspaces/w/sessions/k/session.jsonl", craft);
    add(".pi/agent/sessions/--a--/1_p.jsonl", header("p"));
    std::set<std::string> said;
    if (damage == unknown) {  // to pi that is no session
      all.erase("/.pi/agent/sessions/--a--/1_p.jsonl");
      said.insert("/.pi/agent/sessions/--a--/1_p.jsonl: not recognised");
    }
    const FoundSources found = find_at_home();
    EXPECT_EQ(sessions(found, root_ + "/in"), all) << damage;
    EXPECT_EQ(complaints(found, root_ + "/in"), said) << damage;
  }
}

// The last to be asked takes nearly everything: it is not asked about the first lines alone.
TEST_F(Hostile, WhatSaysLateWhoseItIs) {
  std::string text = "damaged\n";
  for (int i = 0; i < 6; ++i) {
    text += R"({"id":"m)" + std::to_string(i) + R"(","type":"user","content":")" +
            std::string(1000, 'x') + "\"}\n";
  }
  write("talk.jsonl", text + gemini_header());
  const auto found = Importer(*store_).find({.agents = {}, .paths = {at("talk.jsonl")}});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->sources.size(), 1u);
  EXPECT_EQ(found->sources[0].agent, "gemini");
}

TEST_F(Hostile, WhatNobodyRecognisesInAnAgentsPlaceIsReported) {
  const std::string project = ".claude/projects/-a/";
  const std::string inner = project + kUuid;
  write(inner + ".jsonl", claude_line("hi"));
  for (const std::string& name :
       {project + "bad.jsonl", project + "agent-1.jsonl", inner + "/subagents/agent-2.jsonl",
        std::string(".codex/sessions/2026/rollout-1.jsonl"),
        std::string(".gemini/tmp/p/chats/session-1.jsonl"),
        std::string(".craft-agent/workspaces/w/sessions/k/session.jsonl"),
        std::string(".pi/agent/sessions/--a--/1_p.jsonl")}) {
    write(name, "damaged\n");
  }
  for (const std::string& name :
       {inner + "/tool-results/t.jsonl", inner + "/subagents/workflows/w/journal.jsonl",
        project + "sessions-index.json", std::string(".codex/history.jsonl"),
        std::string(".gemini/tmp/p/logs.json"), std::string(".gemini/tmp/p/t.jsonl"),
        std::string(".craft-agent/workspaces/w/sessions/k/data/d.jsonl")}) {
    write(name, "beside\n");
  }
  write(project + "empty.jsonl", "");
  const FoundSources found = find_at_home();
  EXPECT_EQ(found.sources.size(), 1u);
  const std::set<std::string> bad = {
      "/" + project + "bad.jsonl: not recognised",
      "/" + project + "agent-1.jsonl: not recognised",
      "/" + inner + "/subagents/agent-2.jsonl: not recognised",
      "/.codex/sessions/2026/rollout-1.jsonl: not recognised",
      "/.gemini/tmp/p/chats/session-1.jsonl: not recognised",
      "/.craft-agent/workspaces/w/sessions/k/session.jsonl: not recognised",
      "/.pi/agent/sessions/--a--/1_p.jsonl: not recognised"};
  EXPECT_EQ(complaints(found, root_ + "/in"), bad);
  // Who names a directory asks what is in it.
  EXPECT_TRUE(import(at(".claude")).empty());
  EXPECT_TRUE(problems_.empty());
}

TEST_F(Hostile, APlaceThatMayNotBeLookedAtIsReported) {
  LockedHost host;
  host.files["/h/.pi/agent/sessions/--a--/1_p.jsonl"] = header("p");
  host.files["/h/.codex/sessions/rollout-1.jsonl"] = "x";
  host.files["/h/.local/share/opencode/opencode.db"] = "x";
  host.files["/h/.craft-agent/config.json"] = "{}";
  host.locked = {"/h/.codex", "/h/.local/share/opencode", "/h/.craft-agent"};
  const std::map<std::string, std::string> variables{{"HOME", "/h"}};
  const auto found = Importer(*store_, &host, &variables).find({});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(sessions(*found, "/h"), std::set<std::string>{"/.pi/agent/sessions/--a--/1_p.jsonl"});
  std::set<std::string> paths;
  for (const ImportProblem& problem : found->problems) paths.insert(problem.path);
  EXPECT_EQ(paths,
            (std::set<std::string>{"/h/.codex/sessions", "/h/.codex/archived_sessions",
                                   "/h/.craft-agent/workspaces", "/h/.craft-agent/config.json",
                                   "/h/.local/share/opencode", "/h/.local/share/opencode/project",
                                   "/h/.local/share/opencode/storage/session"}));
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
