// Sources that lie elsewhere than before.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

// What a name may have in it is no part of a database.
const std::string kHere = "/home/ada/.pi/agent/sessions/--c#--/2026_s1.jsonl";
const std::string kThere = "/home/ada/.pi/agent/sessions/--kept--/2026_s1.jsonl";
const std::string kText =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n"
    R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":"hello"}})"
    "\n";

class MovedSource : public testing::Test {
 protected:
  void SetUp() override {
    machine_.host.files[kHere] = kText;
    machine_.import("pi", kHere);
  }
  std::size_t entries() {
    return machine_.store.sessions().load_session_entries("pi.s1").value().size();
  }
  bool is_current(const std::string& path) {
    for (const ImportSource& source : machine_.find({.agents = {"pi"}, .paths = {path}}).sources) {
      if (source.path == path) return source.is_current;
    }
    ADD_FAILURE() << path << " was not found";
    return false;
  }

  ImportMachine machine_;
};

TEST_F(MovedSource, IsKnownWhereItIsNow) {
  machine_.host.files.erase(kHere);
  machine_.host.files[kThere] = kText;
  EXPECT_EQ(machine_.import("pi", kThere).added, 0U);
  const std::size_t before = entries();
  EXPECT_TRUE(is_current(kThere));
  machine_.import("pi", kThere);
  machine_.import("pi", kThere);
  EXPECT_EQ(entries(), before) << "importing again adds nothing";
}

TEST_F(MovedSource, ACopyAddsNothing) {
  machine_.host.files[kThere] = kText;
  const std::size_t before = entries();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(machine_.import("pi", kThere).added, 0U);
    EXPECT_EQ(machine_.import("pi", kHere).added, 0U);
  }
  EXPECT_EQ(entries(), before);
  EXPECT_TRUE(is_current(kHere));
}

std::string line(const std::string& id, const std::string& parent) {
  return R"({"type":"message","id":")" + id + R"(","parentId":")" + parent +
         R"(","timestamp":"2026-03-01T09:30:02.000Z","message":{"role":"user","content":"says )" +
         id + "\"}}\n";
}

// Both were gone on with: neither is the other.
TEST_F(MovedSource, ACopyThatWentItsOwnWayIsASessionOfItsOwn) {
  machine_.host.files[kThere] = kText + line("b", "a");
  machine_.host.files[kHere] += line("c", "a");
  const auto import_both = [&] {
    const FoundSources found = machine_.find({.agents = {"pi"}, .paths = {"/home/ada"}});
    EXPECT_EQ(found.sources.size(), 2u);
    return machine_.import_all(found.sources);
  };
  std::map<std::string, std::string> sessions;
  for (const ImportReport& report : import_both()) {
    EXPECT_TRUE(report.problems.empty());
    sessions[report.source] = report.session_id;
  }
  EXPECT_NE(sessions[kHere], sessions[kThere]);
  for (const auto& [path, session] : sessions) {
    EXPECT_EQ(machine_.give(session, "pi").begin()->second, machine_.host.files[path]);
    EXPECT_TRUE(is_current(path));
  }
  machine_.host.files[kThere] += line("d", "b");
  machine_.host.files[kHere] += line("e", "c");
  for (const ImportReport& report : import_both()) {
    EXPECT_EQ(report.added, 1u);
    EXPECT_EQ(report.total, 4u) << "only what is new was read";
    EXPECT_EQ(report.session_id, sessions[report.source]);
    EXPECT_TRUE(report.problems.empty());
  }
  for (const auto& [path, session] : sessions) {
    EXPECT_EQ(machine_.give(session, "pi").begin()->second, machine_.host.files[path]);
  }
  for (const ImportReport& report : import_both()) EXPECT_EQ(report.added, 0u);
}

TEST_F(MovedSource, ACopyThatIsAheadIsTheSame) {
  machine_.host.files[kThere] = kText + line("b", "a");
  EXPECT_EQ(machine_.import("pi", kThere).session_id, "pi.s1");
  EXPECT_EQ(machine_.said("pi.s1").size(), 2u);
  const ImportReport behind = machine_.import("pi", kHere);
  EXPECT_EQ(behind.session_id, "pi.s1");
  EXPECT_TRUE(behind.problems.empty()) << "what lags behind has lost nothing";
}

TEST_F(MovedSource, ItIsShownWhereItIsNow) {
  machine_.host.files.erase(kHere);
  machine_.host.files[kThere] = kText + line("b", "a");
  machine_.import("pi", kThere);
  EXPECT_EQ(machine_.store.sessions().describe_session("pi.s1")->source, kThere);
}

TEST_F(MovedSource, AParentThatIsNowhereIsReported) {
  machine_.host.files[kHere] +=
      R"({"type":"message","id":"b","parentId":"nowhere","timestamp":"2026-03-01T09:30:02.000Z","message":{"role":"user","content":"who"}})"
      "\n";
  const ImportReport report = machine_.import("pi", kHere);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].what, "parent_missing");
}

}  // namespace
}  // namespace quipu
