// The commands about branches, runtime state and attachments, as a shell sees
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts_of(const JsonView& array) {
  std::vector<std::string> texts;
  for (const JsonView& one : array.elements()) texts.push_back(one.string());
  return texts;
}

// u1 - a1 - u2 - a2 (head), and u3 - a3 on a1.
class AgentCommands : public CliTest {
 protected:
  AgentCommands() { make_conversation(); }
  std::string head() const { return quipu({"head", "s"}).out; }
};

TEST_F(AgentCommands, BranchWithEntries) {
  const Outcome made = quipu({"branch", "s", "--at", "a1", "-", "--json"},
                             message("b1", "user", "else") + message("b2", "assistant", "yes"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(JsonView(made.out).member("head").string(), "b2");
  EXPECT_EQ(JsonView(made.out).member("from").string(), "a1");
  EXPECT_EQ(head(), "b2\n");
  EXPECT_EQ(quipu({"path", "s", "b2"}).out, "u1\na1\nb1\nb2\n");
}

TEST_F(AgentCommands, BranchMovesTheHead) {
  EXPECT_EQ(quipu({"branch", "s", "--at", "a3"}).out, "a3\n");
  EXPECT_EQ(head(), "a3\n");
  const Outcome noted = quipu({"branch", "s", "--at", "u2", "--summary", "u3 was a dead end"});
  EXPECT_EQ(noted.code, 0);
  EXPECT_THAT(quipu({"cat", "s"}).out, HasSubstr("u3 was a dead end"));
  EXPECT_EQ(head(), noted.out);
}

TEST_F(AgentCommands, BranchSaysWhatIsWrong) {
  EXPECT_EQ(quipu({"branch", "s"}).code, 2);
  EXPECT_EQ(quipu({"branch", "s", "--at", "nowhere"}).code, 3);
  EXPECT_EQ(quipu({"branch", "s", "--at", "a1", "--summary", "x", "-"}).code, 2);
  const Outcome bad =
      quipu({"branch", "s", "--at", "a1", "-"}, message("b1", "user", "x") + "\n{]\n");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("standard input: line 3"));
  EXPECT_EQ(head(), "a2\n") << "all or nothing";
}

TEST_F(AgentCommands, Diff) {
  const std::string json = quipu({"diff", "s", "a2", "a3", "--json"}).out;
  EXPECT_EQ(JsonView(json).member("commonAncestor").string(), "a1");
  EXPECT_THAT(texts_of(JsonView(json).member("onlyA")), ElementsAre("u2", "a2"));
  EXPECT_THAT(texts_of(JsonView(json).member("onlyB")), ElementsAre("u3", "a3"));
  const Outcome shown = quipu({"diff", "s", "a2", "a3"});
  EXPECT_THAT(shown.out, HasSubstr("- u2  user"));
  EXPECT_THAT(shown.out, HasSubstr("+ a3  assistant"));
}

TEST_F(AgentCommands, Labels) {
  EXPECT_EQ(quipu({"label", "s", "a3", "try"}).code, 0);
  const Outcome set = quipu({"label", "s", "a2", "good one", "--json"});
  const std::vector<JsonView> all = JsonView(set.out).elements();
  ASSERT_EQ(all.size(), 2u) << set.out;
  EXPECT_THAT(quipu({"label", "s", "--list"}).out, HasSubstr("good one"));
  EXPECT_EQ(quipu({"branch", "s", "--at", "try"}).out, "a3\n");
  EXPECT_EQ(JsonView(quipu({"diff", "s", "try", "good one", "--json"}).out)
                .member("commonAncestor")
                .string(),
            "a1");
  EXPECT_EQ(quipu({"head", "s", "good one"}).out, "a2\n");
  EXPECT_EQ(quipu({"path", "s", "try"}).out, "u1\na1\nu3\na3\n");
  EXPECT_EQ(quipu({"fork", "s", "--at", "try", "--id", "f"}).out, "f\n");
  EXPECT_EQ(quipu({"head", "f"}).out, "a3\n");
  EXPECT_EQ(quipu({"label", "s", "--remove", "try"}).code, 0);
  EXPECT_EQ(quipu({"label", "s", "--remove", "try"}).code, 3);
  EXPECT_EQ(quipu({"label", "s", "a1"}).code, 2);
  EXPECT_EQ(quipu({"label", "s", "a1", "x", "--list"}).code, 2);
  EXPECT_EQ(quipu({"label", "s", "a1", "u1"}).code, 1) << "the id of an entry";
}

TEST_F(AgentCommands, RedactHides) {
  const std::string before = quipu({"cat", "s"}).out;
  const Outcome redacted = quipu({"redact", "s", "u2", "--reason", "a key", "--json"});
  ASSERT_EQ(redacted.code, 0) << redacted.err;
  EXPECT_EQ(JsonView(redacted.out).member("redacted").string(), "u2");
  EXPECT_THAT(quipu({"show", "s", "--entry", "u2", "--json"}).out, HasSubstr("redacted"));
  EXPECT_THAT(quipu({"cat", "s"}).out, HasSubstr("a key"));
  EXPECT_EQ(quipu({"redact", "s", "nowhere"}).code, 3);
}

TEST_F(AgentCommands, QueueAndState) {
  const std::string id = quipu({"queue", "s", "add", "--text", "when you are done"}).out;
  EXPECT_EQ(quipu({"queue", "s", "add", "-", "--id", "q2"}, "{\"role\":\"user\"}\n").out, "q2\n");
  EXPECT_EQ(quipu({"queue", "s", "add", "-"}, "no json").code, 1);
  EXPECT_EQ(quipu({"queue", "s", "add"}).code, 2);
  EXPECT_EQ(quipu({"queue", "s", "remove"}).code, 2);
  EXPECT_EQ(quipu({"queue", "s", "shuffle"}).code, 2);
  const std::string listed = quipu({"queue", "s", "list", "--json"}).out;
  ASSERT_EQ(JsonView(listed).elements().size(), 2u);
  EXPECT_EQ(JsonView(listed).elements()[0].member("message").member("content").string(),
            "when you are done");
  const std::string state = quipu({"state", "s", "--json"}).out;
  EXPECT_EQ(JsonView(state).member("processing").raw(), "false");
  EXPECT_EQ(JsonView(state).member("head").string(), "a2");
  EXPECT_EQ(JsonView(state).member("queued").elements().size(), 2u);
  EXPECT_THAT(quipu({"state", "s"}).out, HasSubstr("queued      q2"));
  EXPECT_EQ(quipu({"queue", "s", "remove", "q2"}).code, 0);
  EXPECT_EQ(quipu({"queue", "s", "remove", "q2"}).code, 3);
  EXPECT_THAT(quipu({"queue", "s", "list"}).out, HasSubstr("when you are done"));
}

TEST_F(AgentCommands, RecoverListsAndApplies) {
  EXPECT_EQ(quipu({"recover", "--json"}).out, "[]\n");
  EXPECT_THAT(quipu({"recover", "s"}).out, HasSubstr("nothing was cut off"));
  quipu({"append", "s"}, R"({"type":"run_start","id":"r1","payload":{"generation":4}})");
  const std::string looked = quipu({"recover", "--json"}).out;
  const std::vector<JsonView> sessions = JsonView(looked).elements();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].member("applied").raw(), "false");
  EXPECT_EQ(sessions[0].member("cutOff").elements()[0].member("kind").string(), "run");
  EXPECT_EQ(sessions[0].member("cutOff").elements()[0].member("next").string(), "take_over");
  EXPECT_THAT(quipu({"state", "s"}).out, HasSubstr("working: run r1"));
  const std::string applied = quipu({"recover", "s", "--apply", "--json"}).out;
  EXPECT_EQ(JsonView(applied).elements()[0].member("applied").raw(), "true");
  const std::string state = quipu({"state", "s", "--json"}).out;
  EXPECT_EQ(JsonView(state).member("processing").raw(), "false");
  EXPECT_EQ(JsonView(state).member("generation").raw(), "5");
  EXPECT_EQ(quipu({"recover", "--json"}).out, "[]\n");
}

TEST_F(AgentCommands, RecoverGoesOnPastADamagedSession) {
  quipu({"append", "s"}, R"({"type":"run_start","id":"r1","payload":{}})");
  quipu({"new", "--id", "fork-of-nothing"});
  write_whole(log_of("orphan"),
              R"({"id":"h","type":"session_header","payload":{"version":1,"sessionId":"orphan",)"
              R"("parentSession":{"sessionId":"gone","entryId":"e"}}})"
              "\n");
  const Outcome recovered = quipu({"recover", "--json"});
  EXPECT_NE(recovered.code, 0);
  EXPECT_THAT(recovered.err, HasSubstr("orphan"));
  EXPECT_EQ(JsonView(recovered.out).elements().size(), 1u);
}

TEST_F(AgentCommands, Attachments) {
  const std::string bytes("\x00\xff picture", 10);
  write_whole(path("a.png"), bytes);
  const std::string put =
      quipu({"attach", "put", path("a.png"), "--type", "image/png", "--json"}).out;
  const std::string sha256 = JsonView(put).member("sha256").string();
  EXPECT_EQ(sha256.size(), 64u);
  EXPECT_EQ(JsonView(put).member("name").string(), "a.png");
  EXPECT_EQ(JsonView(put).member("mediaType").string(), "image/png");
  EXPECT_EQ(quipu({"attach", "put", "-"}, bytes).out, sha256 + "\n");
  EXPECT_EQ(quipu({"attach", "get", sha256}).out, bytes);
  EXPECT_EQ(quipu({"attach", "get", sha256.substr(0, 8)}).out, bytes);
  EXPECT_EQ(JsonView(quipu({"attach", "list", "--json"}).out).elements().size(), 1u);
  EXPECT_THAT(quipu({"attach", "list"}).out, HasSubstr(sha256));
  EXPECT_EQ(quipu({"attach", "get", "0000"}).code, 3);
  EXPECT_EQ(quipu({"attach", "put"}).code, 2);
  EXPECT_EQ(quipu({"attach", "put", path("absent")}).code, 3);
  EXPECT_NE(quipu_on_terminal({"attach", "get", sha256}, 80).code, 0);
  const std::string file = store() + "/attachments/" + sha256;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  write_whole(file, "rotten");
  EXPECT_EQ(quipu({"attach", "get", sha256}).code, 5);
}

}  // namespace
}  // namespace quipu::cli
