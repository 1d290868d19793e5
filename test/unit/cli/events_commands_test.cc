// The log of events, as a shell sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EventsCommands : public CliTest {
 protected:
  EventsCommands() { make_conversation(); }

  std::vector<std::string> lines(const std::string& text) const {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  std::vector<std::string> members(const std::string& text, std::string_view name) const {
    std::vector<std::string> all;
    for (const std::string& line : lines(text)) all.push_back(JsonView(line).member(name).string());
    return all;
  }
};

TEST_F(EventsCommands, AppendAndTail) {
  const Outcome stored = quipu({"events", "append", "-"},
                               "{\"type\":\"a\",\"id\":\"1\",\"payload\":{\"n\": 1}}\n\n"
                               "{\"type\":\"b\",\"source\":\"me\"}\n");
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(JsonView(stored.out).member("appendedCount").raw(), "2");
  const Outcome again =
      quipu({"events", "append"}, "{\"type\":\"a\",\"id\":\"1\",\"payload\":{\"n\": 1}}\n");
  EXPECT_EQ(JsonView(again.out).member("alreadyPresent").raw(), "1");

  const Outcome all = quipu({"events", "tail", "--json"});
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(quipu({"events", "tail", "--jsonl"}).out, all.out);
  const auto types = members(all.out, "type");
  ASSERT_GT(types.size(), 8u);
  EXPECT_EQ(types[0], "a");
  EXPECT_EQ(types[1], "b");
  EXPECT_EQ(types[2], "quipu.session_created");
  EXPECT_EQ(JsonView(lines(all.out)[0]).member("payload").raw(), "{\"n\": 1}");
  EXPECT_EQ(JsonView(lines(all.out)[0]).member("source").raw(), "null");
  EXPECT_EQ(JsonView(lines(all.out)[1]).member("source").string(), "me");

  const auto cursors = members(all.out, "cursor");
  const Outcome rest = quipu({"events", "tail", "--jsonl", "--after", cursors[3]});
  EXPECT_EQ(lines(rest.out).size(), cursors.size() - 4);
  EXPECT_EQ(quipu({"events", "tail", "--after", cursors.back()}).out, "");
}

TEST_F(EventsCommands, TailForPeople) {
  quipu({"events", "append"}, "{\"type\":\"a\\u001b[31m\",\"payload\":{\"x\":\"y\"}}\n");
  const Outcome all = quipu({"events", "tail", "--limit", "3"});
  ASSERT_EQ(lines(all.out).size(), 3u);
  EXPECT_THAT(all.out, HasSubstr("{\"x\":\"y\"}"));
  EXPECT_THAT(all.out, HasSubstr("quipu.session_created"));
  EXPECT_THAT(all.out, HasSubstr("s #1 message"));
  EXPECT_EQ(all.out.find('\x1b'), std::string::npos);
}

TEST_F(EventsCommands, Filters) {
  quipu({"new", "--id", "other"});
  quipu({"events", "append"}, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n");
  EXPECT_THAT(members(quipu({"events", "tail", "--jsonl", "--types", "a,c"}).out, "type"),
              ElementsAre("a", "c"));
  const Outcome session = quipu({"events", "tail", "--jsonl", "--session", "oth"});
  EXPECT_THAT(members(session.out, "type"), ElementsAre("quipu.session_created"));
  EXPECT_EQ(quipu({"events", "tail", "--now"}).out, "");
}

TEST_F(EventsCommands, Follow) {
  Conversation tail(with_store({"events", "tail", "-f", "--now", "--jsonl", "--limit", "2"}));
  // Written until the tail tells of it: what was there before it began to look is not given, and
  // nobody knows when it begins.
  for (int i = 0; !tail.has_answer(100); ++i) {
    ASSERT_LT(i, 1000);
    const std::string id = "n" + std::to_string(i);
    ASSERT_EQ(quipu({"append", "s"}, message(id, "user", "x")).code, 0);
  }
  const std::string first = tail.receive_line();
  EXPECT_EQ(JsonView(first).member("type").string(), "quipu.entry_appended");
  const JsonView payload = JsonView(first).member("payload");
  EXPECT_EQ(payload.member("session").string(), "s");
}

TEST_F(EventsCommands, SayWhatIsWrong) {
  EXPECT_EQ(quipu({"events"}).code, 2);
  EXPECT_EQ(quipu({"events", "prune"}).code, 2);
  EXPECT_EQ(quipu({"events", "prune", "--older", "soon"}).code, 2);
  const Outcome cursor = quipu({"events", "tail", "--after", "x"});
  EXPECT_EQ(cursor.code, 1);
  EXPECT_THAT(cursor.err, HasSubstr("not a cursor of events"));
  quipu({"events", "append"}, "{\"type\":\"a\"}\n");
  std::string lost = members(quipu({"events", "tail", "--jsonl"}).out, "cursor").at(0);
  lost.replace(lost.rfind('.'), std::string::npos, ".00000001");
  const Outcome gone = quipu({"events", "tail", "--after", lost});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, HasSubstr("  the oldest cursor is "));
  EXPECT_EQ(quipu({"events", "tail", "--session", "nowhere"}).code, 3);
  for (const char* line : {"{]", "[]", "{\"id\":\"x\"}", "{\"type\":1}",
                           "{\"type\":\"a\",\"payload\":1}", "{\"type\":\"a\",\"more\":1}",
                           "{\"type\":\"a\",\"type\":\"b\"}", "{\"type\":\"quipu.pruned\"}"}) {
    const Outcome bad =
        quipu({"events", "append"}, "{\"type\":\"good\"}\n" + std::string(line) + "\n");
    EXPECT_EQ(bad.code, 1) << line;
    EXPECT_THAT(bad.err, HasSubstr("standard input: line 2: ")) << line;
    EXPECT_THAT(bad.out, IsEmpty());
  }
  EXPECT_EQ(quipu({"events", "tail", "--types", "good"}).out, "") << "all or nothing";
}

TEST_F(EventsCommands, Prune) {
  quipu({"events", "append"}, "{\"type\":\"a\"}\n");
  const Outcome kept = quipu({"events", "prune", "--older", "30d", "--dry-run"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.out, "1 segment kept\n");
  const Outcome json = quipu({"events", "prune", "--bytes", "1", "--json"});
  EXPECT_THAT(JsonView(json.out).member("removed").elements(), IsEmpty());
  EXPECT_EQ(JsonView(json.out).member("kept").elements().size(), 1u);
}

}  // namespace
}  // namespace quipu::cli
