// Names of threads, which lie in a file that all of them share.
#include "codex_rollout.h"
#include "laws.h"

namespace quipu::dialect::codex {
namespace {

const std::string kThread = "11111111-1111-7111-8111-111111111111";
const std::string kOther = "22222222-2222-7222-8222-222222222222";
const std::string kDay = "/home/ada/.codex/sessions/2026/01/02/";
const std::string kName = "rollout-2026-01-02T03-04-05-" + kThread + ".jsonl";
const std::string kIndexPath = "/home/ada/.codex/session_index.jsonl";

std::string named(const std::string& thread, const std::string& name) {
  return R"({"id":")" + thread + R"(","thread_name":")" + name + R"(","updated_at":"2026"})" + "\n";
}

std::string rollout(const std::string& thread) {
  return meta(thread) + turn("1", "What is there?", "Nothing.");
}

std::string title_of(ImportMachine& machine, const std::string& thread = kThread) {
  return machine.store.sessions().describe_session("codex." + thread)->title;
}

TEST(CodexIndex, AThreadIsCalledWhatItsLastLineSays) {
  const std::string index = named(kThread, "old") + named(kOther, "no") + "{broken\n" +
                            named(kThread, "Maps") + R"({"id":"torn)";
  const std::string text = rollout(kThread);
  const Session session{.agent = "codex",
                        .main = kDay + kName,
                        .there = {{kDay + kName, text}, {kIndexPath, index}},
                        .given = {{kName, text}, {"session_index.jsonl", named(kThread, "Maps")}}};
  expect_lossless_and_idempotent(session);
  expect_grows(session, text.size() - 3);
  ImportMachine machine;
  machine.host.files = session.there;
  import_found(machine, "codex");
  EXPECT_EQ(title_of(machine), "Maps");

  ImportMachine archived;
  archived.host.files = {{"/home/ada/.codex/archived_sessions/" + kName, text},
                         {kIndexPath, index}};
  import_found(archived, "codex");
  EXPECT_EQ(title_of(archived), "Maps");

  // What an export gave, wherever it lies.
  ImportMachine elsewhere;
  for (const auto& [name, bytes] : machine.give("codex." + kThread, "codex")) {
    elsewhere.host.files["/home/ada/" + name] = bytes;
  }
  import_found(elsewhere, "codex");
  EXPECT_EQ(title_of(elsewhere), "Maps");
}

TEST(CodexIndex, OnlyTheThreadThatWasNamedHasChanged) {
  ImportMachine machine;
  std::string& index = machine.host.files[kIndexPath];
  const std::string other = "rollout-2026-01-02T03-04-06-" + kOther + ".jsonl";
  machine.host.files[kDay + kName] = rollout(kThread);
  machine.host.files[kDay + other] = rollout(kOther);
  const FindOptions everywhere{.agents = {}, .paths = {"/home/ada/.codex"}, .since_ms = 0};
  machine.import_all(machine.find(everywhere).sources);
  EXPECT_EQ(title_of(machine), "What is there?");

  index = named("a third", "x");
  for (const ImportSource& one : machine.find(everywhere).sources) EXPECT_TRUE(one.is_current);

  index += named(kThread, "Maps");
  auto found = machine.find(everywhere).sources;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].is_current);
  EXPECT_TRUE(found[1].is_current);
  auto reports = machine.import_all(found);
  EXPECT_EQ(reports[0].added + reports[1].added, 1u);
  EXPECT_EQ(title_of(machine), "Maps");
  EXPECT_EQ(title_of(machine, kOther), "What is there?");

  index += named(kThread, "Maps of old") + named(kOther, "Ways");
  reports = machine.import_all(machine.find(everywhere).sources);
  EXPECT_EQ(reports[0].added, 1u);
  EXPECT_EQ(reports[1].added, 1u);
  EXPECT_EQ(title_of(machine), "Maps of old");
  EXPECT_EQ(title_of(machine, kOther), "Ways");
  index += named("a third", "y");
  for (const ImportSource& one : machine.find(everywhere).sources) EXPECT_TRUE(one.is_current);
}

}  // namespace
}  // namespace quipu::dialect::codex
