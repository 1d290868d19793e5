// memory and knowledge, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

using Ids = std::vector<std::string>;

class RecallCommands : public CliTest {
 protected:
  RecallCommands() { EXPECT_EQ(0, quipu({"init"}).code); }

  std::string answer(std::vector<std::string> args, std::string input = {}) const {
    const Outcome outcome = quipu(std::move(args), std::move(input));
    EXPECT_EQ(0, outcome.code) << outcome.err;
    return outcome.out;
  }
  static Ids ids_of(const std::string& json) {
    Ids ids;
    const JsonView items = JsonView(json).member("items");
    for (const JsonView& item : items.elements()) ids.push_back(item.member("id").string());
    return ids;
  }

  static constexpr const char* kNodes =
      R"({"id":"m1","kind":"long","text":"Ada prefers tabs","agentId":"coder","meta":{"n":1}})"
      "\n\n"
      R"({"id":"m2","kind":"short","text":"Bob prefers spaces","context":"style","agentId":"other"})"
      "\n";
};

TEST_F(RecallCommands, NodesAreAddedAndFound) {
  EXPECT_EQ("2 added, 0 replaced, 0 unchanged\n", answer({"memory", "add", "-"}, kNodes));
  EXPECT_EQ("0 added, 0 replaced, 2 unchanged\n", answer({"memory", "add"}, kNodes));
  const std::string hits = answer({"memory", "search", "who prefers tabs", "--json"});
  EXPECT_EQ((Ids{"m1", "m2"}), ids_of(hits));
  const JsonView first = JsonView(hits).member("items").elements()[0];
  EXPECT_EQ("Ada prefers tabs", first.member("text").string());
  EXPECT_EQ(R"({"n":1})", first.member("meta").raw());
  EXPECT_TRUE(first.member("score").exists());
  EXPECT_EQ("coder", first.member("agentId").string());
  EXPECT_EQ(Ids{"m2"},
            ids_of(answer({"memory", "search", "prefers", "--agent", "other", "--json"})));
  EXPECT_EQ(Ids{"m1"}, ids_of(answer({"memory", "search", "prefers", "--kind", "long", "--json"})));
  EXPECT_EQ(1u, ids_of(answer({"memory", "search", "prefers", "--limit", "1", "--json"})).size());
  EXPECT_THAT(answer({"memory", "search", "tabs"}), HasSubstr("Ada prefers **tabs**"));
}

TEST_F(RecallCommands, ManyQueriesAreAnsweredALineEach) {
  answer({"memory", "add", "-"}, kNodes);
  const std::string lines = answer({"memory", "search", "--queries", "-", "--limit", "5"},
                                   R"({"id":"q1","text":"prefers","agentId":"coder"})"
                                   "\n"
                                   R"({"id":"q2","text":"spaces"})"
                                   "\n");
  const std::size_t feed = lines.find('\n');
  const std::string one = lines.substr(0, feed);
  const std::string other = lines.substr(feed + 1);
  EXPECT_EQ("q1", JsonView(one).member("id").string());
  EXPECT_EQ(Ids{"m1"}, ids_of(one));
  EXPECT_EQ("q2", JsonView(other).member("id").string());
  EXPECT_EQ(Ids{"m2"}, ids_of(other));
}

TEST_F(RecallCommands, AQueryThatIsCutIsSaid) {
  quipu({"memory", "add", "-"}, R"({"id":"m","text":"a lake"})"
                                "\n");
  quipu({"knowledge", "add", "--jsonl", "-"}, R"({"id":"d","text":"a lake"})"
                                              "\n");
  std::string query = "lake";
  for (int i = 0; i < 100; ++i) query += " w" + std::to_string(i);
  for (const auto& [noun, verb] :
       {std::pair("memory", "search"), std::pair("knowledge", "query")}) {
    const Outcome cut = quipu({noun, verb, query, "--json"});
    EXPECT_EQ("true", JsonView(cut.out).member("queryIsCut").raw());
    EXPECT_EQ(1u, JsonView(cut.out).member("items").elements().size());
    EXPECT_THAT(quipu({noun, verb, query}).err, HasSubstr("left out"));
    EXPECT_FALSE(JsonView(quipu({noun, verb, "lake", "--json"}).out).member("queryIsCut").exists());
    EXPECT_THAT(quipu({noun, verb, "lake"}).err, Not(HasSubstr("left out")));
    const std::string line = R"({"id":"q","text":")" + query + "\"}\n";
    const Outcome many = quipu({noun, verb, "--queries", "-", "--json"}, line);
    EXPECT_EQ("true", JsonView(many.out).member("queryIsCut").raw());
  }
}

TEST_F(RecallCommands, ABadLineIsNamed) {
  const Outcome outcome =
      quipu({"memory", "add", "-"}, std::string(kNodes) + R"({"id":"m3","text":7})" + "\n");
  EXPECT_EQ(1, outcome.code);
  EXPECT_THAT(outcome.err, HasSubstr("line 4: text is no text"));
  EXPECT_THAT(quipu({"memory", "add", "-"}, "{\"id\":").err, HasSubstr("line 1"));
  const Outcome vector =
      quipu({"memory", "add", "-"}, R"({"id":"a","text":"x","embedding":[1,2]})"
                                    "\n"
                                    R"({"id":"b","text":"y","embedding":[1,2,3]})");
  EXPECT_EQ(1, vector.code);
  EXPECT_THAT(vector.err, HasSubstr("(b)"));
}

TEST_F(RecallCommands, DuplicatesAreSaidAndCanBeLeftOut) {
  answer({"memory", "add", "-"}, kNodes);
  const std::string twin =
      R"({"id":"m9","kind":"long","text":"ADA prefers tabs!","agentId":"coder"})";
  EXPECT_EQ(
      R"({"added":0,"replaced":0,"unchanged":0,"skipped":1,"duplicates":[{"id":"m9","of":"m1","likeness":1}]})"
      "\n",
      answer({"memory", "add", "-", "--duplicates", "skip", "--json"}, twin));
  EXPECT_THAT(quipu({"memory", "add", "-"}, twin).err, HasSubstr("m9 says what m1 says"));
}

TEST_F(RecallCommands, IdsThatWereMadeAreTold) {
  const char* nodes = R"({"text":"Ada prefers tabs"})"
                      "\n"
                      R"({"id":"m1","text":"Bob prefers spaces"})";
  const std::string report = answer({"memory", "add", "-", "--json"}, nodes);
  ASSERT_EQ(1u, JsonView(report).member("made").elements().size()) << report;
  const std::string made = JsonView(report).member("made").elements()[0].string();
  EXPECT_EQ((Ids{"m1", made}), ids_of(answer({"memory", "list", "--json"})));
  // One that is left out was not stored under any.
  EXPECT_THAT(answer({"memory", "add", "-", "--duplicates", "skip", "--json"}, nodes),
              Not(HasSubstr("made")));
  const std::string told = answer({"memory", "add", "-"}, R"({"text":"tea at four"})");
  EXPECT_EQ("1 forgotten\n", answer({"memory", "forget", told.substr(0, told.find('\n'))}));
}

TEST_F(RecallCommands, WhatIsNotThereCannotBeForgotten) {
  answer({"memory", "add", "-"}, kNodes);
  const Outcome outcome = quipu({"memory", "forget", "m1", "nobody", "m1"});
  EXPECT_EQ("1 forgotten\n", outcome.out);
  EXPECT_EQ(3, outcome.code);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 are not there"));
  EXPECT_THAT(quipu({"memory", "forget", "nobody"}).err, HasSubstr("there is no nobody"));
  EXPECT_EQ("1 forgotten\n", answer({"memory", "forget", "m2", "m2"}));
}

TEST_F(RecallCommands, ListEvictAndForget) {
  answer({"memory", "add", "-"}, kNodes);
  const std::string page = answer({"memory", "list", "--limit", "1", "--json"});
  EXPECT_EQ(Ids{"m2"}, ids_of(page));
  const std::string next = JsonView(page).member("next").string();
  EXPECT_EQ(Ids{"m1"}, ids_of(answer({"memory", "list", "--after", next, "--json"})));
  EXPECT_THAT(answer({"memory", "list"}), HasSubstr("Bob prefers spaces"));
  EXPECT_EQ(R"({"evicted":["m2"],"kept":1,"dryRun":true})"
            "\n",
            answer({"memory", "evict", "--max-nodes", "1", "--dry-run", "--json"}));
  EXPECT_EQ("m2\n", answer({"memory", "evict", "--max-nodes", "1"}));
  EXPECT_EQ("1 forgotten\n", answer({"memory", "forget", "m1"}));
  EXPECT_EQ(3, quipu({"memory", "forget", "m1"}).code);
  EXPECT_EQ(Ids{}, ids_of(answer({"memory", "list", "--json"})));
}

TEST_F(RecallCommands, WordsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(2, quipu({"memory", "search"}).code);
  EXPECT_EQ(2, quipu({"knowledge", "add", "-"}).code);
  EXPECT_EQ(2, quipu({"memory", "forget"}).code);
  EXPECT_EQ(2, quipu({"memory", "list", "x"}).code);
  EXPECT_EQ(2, quipu({"memory", "list", "--kind", "huge"}).code);
  EXPECT_EQ(2, quipu({"memory", "search", "x", "--since", "whenever"}).code);
  EXPECT_EQ(2, quipu({"knowledge", "add"}).code);
  EXPECT_EQ(2, quipu({"knowledge", "query"}).code);
  EXPECT_EQ(2, quipu({"knowledge", "query", "x", "--filter", "y"}).code);
  EXPECT_EQ(0, quipu({"memory", "search", ""}).code) << "every text is a query";
}

TEST_F(RecallCommands, FilesAreAddedFoundAndRemoved) {
  write_whole(path("guide.md"), "# Guide\n\nPress the left key to undo.\n");
  EXPECT_EQ("1 added, 0 replaced, 0 unchanged\n", answer({"knowledge", "add", path("guide.md")}));
  EXPECT_EQ("0 added, 0 replaced, 1 unchanged\n", answer({"knowledge", "add", path("guide.md")}));
  const std::string hits = answer({"knowledge", "query", "how to undo", "--json"});
  EXPECT_EQ(Ids{path("guide.md")}, ids_of(hits));
  const JsonView hit = JsonView(hits).member("items").elements()[0];
  EXPECT_EQ("guide.md", hit.member("title").string());
  EXPECT_THAT(hit.member("chunk").member("text").string(), HasSubstr("left key"));
  EXPECT_THAT(answer({"knowledge", "list"}), HasSubstr("guide.md"));
  EXPECT_EQ("1 removed\n", answer({"knowledge", "remove", path("guide.md")}));
  EXPECT_EQ(Ids{}, ids_of(answer({"knowledge", "query", "undo", "--json"})));
  write_whole(path("binary"), "\xff\xfe");
  EXPECT_EQ(1, quipu({"knowledge", "add", path("binary")}).code);
  EXPECT_EQ(3, quipu({"knowledge", "add", path("nowhere")}).code);
}

TEST_F(RecallCommands, DocumentsComeAsLines) {
  answer({"knowledge", "add", "--jsonl", "-"},
         R"({"id":"d1","text":"cats purr","title":"Pets","embedding":[1,0],"meta":{"lang":"en"}})"
         "\n"
         R"({"id":"d2","text":"dogs bark","embedding":[0,1]})"
         "\n");
  EXPECT_EQ(Ids{"d1"}, ids_of(answer({"knowledge", "query", "cat", "--json"})));
  EXPECT_EQ(Ids{"d1"},
            ids_of(answer({"knowledge", "query", "pets", "--filter", "lang=en", "--json"})));
  const std::string by_words = answer({"knowledge", "query", "bark", "--hybrid", "--json"});
  EXPECT_EQ("false", JsonView(by_words).member("hybrid").raw());
  EXPECT_NE("", JsonView(by_words).member("note").string());
  const std::string line = answer({"knowledge", "query", "--queries", "-", "--hybrid"},
                                  R"({"id":"q","text":"kitten","embedding":[1,0.1]})");
  EXPECT_EQ("true", JsonView(line).member("hybrid").raw());
  EXPECT_EQ("d1", ids_of(line).at(0));
}

TEST_F(RecallCommands, ReindexMakesThemAnew) {
  answer({"memory", "add", "-"}, kNodes);
  EXPECT_THAT(answer({"reindex", "--json"}), HasSubstr(R"("memoryNodes":2,"documents":0)"));
  EXPECT_EQ(Ids{"m1"}, ids_of(answer({"memory", "search", "tabs", "--json"})));
}

}  // namespace
}  // namespace quipu::cli
