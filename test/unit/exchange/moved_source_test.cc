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
