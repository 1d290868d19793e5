// Importer::watch: what happens is scripted, nobody waits.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kPlace = "/home/ada/.pi/agent/sessions";
const std::string kPath = kPlace + "/--data--/2026_s1.jsonl";
const std::string kHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n";

std::string line(const std::string& id) {
  return R"({"type":"message","id":")" + id +
         R"(","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z",)"
         R"("message":{"role":"user","content":"hi"}})"
         "\n";
}

class Watch : public testing::Test {
 protected:
  /// The file has this text by now, and the system says so.
  void happens(const std::string& path, const std::string& text) {
    machine_.host.happenings.push_back([this, path, text] {
      machine_.host.files[path] = text;
      return fs::HostChanges{.files = {path}, .missed = false};
    });
  }
  void happens_unseen(const std::string& path, const std::string& text, bool missed) {
    machine_.host.happenings.push_back([this, path, text, missed] {
      machine_.host.files[path] = text;
      return fs::HostChanges{.files = {}, .missed = missed};
    });
  }

  /// "session +added problems", as they were reported.
  std::vector<std::string> watch(const FindOptions& find = {}) {
    std::vector<std::string> reports;
    const std::map<std::string, std::string> variables{{"HOME", "/home/ada"}};
    int quiet = 0;
    const auto done = Importer(machine_.store, &machine_.host, &variables)
                          .watch(
                              find, {.project_id = {}, .threads = 1},
                              [&](const ImportReport& report) {
                                std::string text =
                                    report.session_id + " +" + std::to_string(report.added);
                                for (const auto& problem : report.problems) {
                                  text += " " + problem.what;
                                }
                                reports.push_back(text);
                                return true;
                              },
                              [&] {
                                const auto& host = machine_.host;
                                return host.happened == host.happenings.size() && ++quiet > 3;
                              });
    EXPECT_TRUE(done.ok()) << done.error().message();
    return reports;
  }

  ImportMachine machine_;
};

using Reports = std::vector<std::string>;

TEST_F(Watch, WhatIsThereThenWhatGrowsThenWhatIsNew) {
  const std::string other = kPlace + "/--data--/2026_s2.jsonl";
  std::string header = kHeader;
  header.replace(header.find("s1"), 2, "s2");
  machine_.host.files[kPath] = kHeader;
  happens(kPath, kHeader + line("a"));
  happens(kPath, kHeader + line("a"));
  happens(kPath, kHeader + line("a") + line("b") + line("c"));
  happens(other, header + line("a"));
  EXPECT_EQ(watch(), (Reports{"pi.s1 +1", "pi.s1 +1", "pi.s1 +2", "pi.s2 +2"}));
  EXPECT_TRUE(machine_.host.watched.contains(kPlace));
}

TEST_F(Watch, ALineIsTakenWhenItIsWhole) {
  const std::string whole = kHeader + line("a");
  machine_.host.files[kPath] = kHeader;
  happens(kPath, whole.substr(0, whole.size() - 10));
  happens(kPath, whole);
  EXPECT_EQ(watch(), (Reports{"pi.s1 +1", "pi.s1 +1"}));
  EXPECT_EQ(machine_.give("pi.s1", "pi").begin()->second, whole);
}

// Who imports once takes everything, also what a watch left for later.
TEST_F(Watch, ALineThatNeverGetsWholeIsNotForgotten) {
  const std::string torn = kHeader + line("a") + "{\"type\":\"mess";
  happens(kPath, torn);
  EXPECT_EQ(watch(), (Reports{"pi.s1 +2"}));
  EXPECT_EQ(machine_.import("pi", kPath).added, 1u);
  EXPECT_EQ(machine_.give("pi.s1", "pi").begin()->second, torn);
}

TEST_F(Watch, TruncationAndRotationRemoveNothing) {
  machine_.host.files[kPath] = kHeader + line("a") + line("b");
  happens(kPath, kHeader);
  happens(kPath, kHeader + line("c"));
  EXPECT_EQ(watch(), (Reports{"pi.s1 +3", "pi.s1 +0 lost", "pi.s1 +1"}));
  EXPECT_EQ(machine_.store.sessions().describe_session("pi.s1")->counts.messages, 3u);
}

TEST_F(Watch, WhatTheSystemMissedIsFoundByLookingAtEverything) {
  machine_.host.files[kPath] = kHeader;
  happens_unseen(kPath, kHeader + line("a"), /*missed=*/true);
  EXPECT_EQ(watch(), (Reports{"pi.s1 +1", "pi.s1 +1"}));
}

// The mark that the watch knows is not the newest one then.
TEST_F(Watch, WhatSomebodyElseImportedMeanwhileIsNotTakenAgain) {
  const std::string grown = kHeader + line("a") + line("b");
  machine_.host.files[kPath] = kHeader + line("a");
  machine_.host.happenings.push_back([this, grown] {
    machine_.host.files[kPath] = grown;
    EXPECT_EQ(machine_.import("pi", kPath).added, 1u);
    return fs::HostChanges{};
  });
  happens(kPath, grown + line("c"));
  EXPECT_EQ(watch(), (Reports{"pi.s1 +2", "pi.s1 +1"}));
  EXPECT_EQ(machine_.give("pi.s1", "pi").begin()->second, grown + line("c"));
}

TEST_F(Watch, AnAgentThatIsUsedForTheFirstTime) {
  happens_unseen(kPath, kHeader + line("a"), /*missed=*/false);
  EXPECT_EQ(watch(), (Reports{"pi.s1 +2"}));
}

TEST_F(Watch, OnlyWhatWasNamed) {
  const std::string other = kPlace + "/--data--/2026_s2.jsonl";
  machine_.host.files[kPath] = kHeader;
  happens(other, kHeader + line("a"));
  happens(kPath, kHeader + line("b"));
  EXPECT_EQ(watch({.agents = {"pi"}, .paths = {kPath}}), (Reports{"pi.s1 +1", "pi.s1 +1"}));
}

}  // namespace
}  // namespace quipu
