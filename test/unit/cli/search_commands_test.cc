// search and reindex, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/columns.h"
#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

using Ids = std::vector<std::string>;

class SearchCommands : public CliTest {
 protected:
  SearchCommands() {
    EXPECT_EQ(quipu({"new", "--id", "one", "--title", "A trip"}).code, 0);
    EXPECT_EQ(quipu({"new", "--id", "two", "--agent", "scribe"}).code, 0);
    EXPECT_EQ(quipu({"append", "one"}, message("u1", "user", "Where is the guanaco today?") + "\n" +
                                           message("a1", "assistant", "A guanaco is at the lake."))
                  .code,
              0);
    EXPECT_EQ(quipu({"append", "two"}, message("u2", "user", "No guanaco here.")).code, 0);
  }

  Ids found(std::vector<std::string> args) const {
    args.insert(args.begin(), "search");
    args.emplace_back("--json");
    const Outcome outcome = quipu(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return ids_of(outcome.out);
  }
  static Ids ids_of(const std::string& json) {
    Ids ids;
    for (const JsonView& item : JsonView(json).member("items").elements()) {
      ids.push_back(item.member("id").string());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
};

TEST_F(SearchCommands, JsonHasWhatAProgramNeeds) {
  const Outcome outcome = quipu({"search", "lake", "--json", "--paths"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto items = JsonView(outcome.out).member("items").elements();
  ASSERT_EQ(1u, items.size());
  const JsonView& item = items[0];
  EXPECT_EQ("a1", item.member("id").string());
  EXPECT_EQ("a1", item.member("entryId").string());
  EXPECT_EQ("one", item.member("sessionId").string());
  EXPECT_EQ("A trip", item.member("title").string());
  EXPECT_EQ(R"(["assistant"])", item.member("roles").raw());
  EXPECT_EQ("A guanaco is at the lake.", item.member("snippet").string());
  EXPECT_EQ("[[20,24]]", item.member("marks").raw());
  EXPECT_EQ(R"(["u1","a1"])", item.member("path").raw());
  EXPECT_GT(std::stod(std::string(item.member("score").raw())), 0);
  EXPECT_EQ("null", JsonView(outcome.out).member("next").raw());
  EXPECT_EQ("1", JsonView(outcome.out).member("total").raw());
}

TEST_F(SearchCommands, OptionsNarrow) {
  EXPECT_EQ((Ids{"a1", "u1", "u2"}), found({"guanaco"}));
  EXPECT_EQ((Ids{"u1", "u2"}), found({"guanaco", "--role", "user"}));
  EXPECT_EQ((Ids{"u2"}), found({"guanaco", "--agent", "scribe"}));
  EXPECT_EQ((Ids{"a1", "u1"}), found({"guanaco", "--session", "one"}));
  EXPECT_EQ((Ids{"u1"}), found({"guanaco", "--session", "one", "--branch", "u1"}));
  EXPECT_EQ((Ids{}), found({"guanaco", "--tool", "bash"}));
  EXPECT_EQ((Ids{}), found({"guanaco", "--until", "2020-01-01"}));
  EXPECT_EQ((Ids{"a1", "u1", "u2"}), found({"guanaco", "--since", "1h"}));
}

TEST_F(SearchCommands, WhatStandsBesideTheHitsOfAQuestion) {
  EXPECT_EQ((Ids{"a1"}), found({"vicuna on the lake", "--neighbours", "0"}));
  EXPECT_EQ((Ids{"a1", "u1"}), found({"vicuna on the lake"}));
  const Outcome outcome = quipu({"search", "vicuna on the lake", "--json"});
  const auto items = JsonView(outcome.out).member("items").elements();
  ASSERT_EQ(2u, items.size());
  EXPECT_EQ("false", items[0].member("neighbour").raw());
  EXPECT_EQ("true", items[1].member("neighbour").raw());
  EXPECT_EQ("[]", items[1].member("marks").raw());
  EXPECT_EQ("Where is the guanaco today?", items[1].member("snippet").string());
  EXPECT_THAT(quipu({"search", "vicuna on the lake"}).out, HasSubstr("beside a hit"));
  EXPECT_THAT(quipu({"search", "lake"}).out, Not(HasSubstr("beside a hit")));
  for (const char* wrong : {"-1", "2", "x", "0.5x", "nan", ""}) {
    EXPECT_EQ(2, quipu({"search", "lake", std::string("--neighbours=") + wrong}).code) << wrong;
  }
}

TEST_F(SearchCommands, PagesGoOn) {
  const Outcome first = quipu({"search", "guanaco", "--limit", "2", "--json"});
  const std::string next = JsonView(first.out).member("next").string();
  ASSERT_FALSE(next.empty());
  Ids all = ids_of(first.out);
  for (const std::string& id : found({"guanaco", "--limit", "2", "--after", next})) {
    all.push_back(id);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ((Ids{"a1", "u1", "u2"}), all);
}

TEST_F(SearchCommands, UsageErrors) {
  EXPECT_EQ(quipu({"search"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--queries", "-"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--since", "never"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--role", "nobody"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--after", "nowhere"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--branch", "u1"}).code, 2);
  EXPECT_EQ(quipu({"search", "x", "--session", "nobody"}).code, 3);
}

TEST_F(SearchCommands, InAPipeMarksAreInTheText) {
  const Outcome outcome = quipu({"search", "lake"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("A guanaco is at the **lake**."));
  EXPECT_THAT(outcome.out, HasSubstr("A trip"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
}

TEST_F(SearchCommands, OnATerminalItIsColouredAndFits) {
  const std::string long_text =
      "Many words come before the huemul and many more words come after it, so that one line of a "
      "narrow terminal is not enough for all of them: 山羊 \\u001b[31m end";
  ASSERT_EQ(quipu({"append", "one"}, message("u9", "user", long_text)).code, 0);
  const Outcome outcome = quipu_on_terminal({"search", "huemul", "--no-pager"}, 60,
                                            {{"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\x1b[33mhuemul\x1b"));
  std::string plain = outcome.out;
  for (std::size_t at = 0; (at = plain.find("\x1b[", at)) != std::string::npos;) {
    plain.erase(at, plain.find('m', at) + 1 - at);
  }
  std::erase(plain, '\r');
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  for (const std::string& line : wrap(plain, 0)) EXPECT_LE(columns_of(line), 60u) << line;
}

TEST_F(SearchCommands, NothingFoundIsSaid) {
  const Outcome outcome = quipu({"search", "unicorn"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ("", outcome.out);
  EXPECT_THAT(outcome.err, HasSubstr("Nothing found"));
}

TEST_F(SearchCommands, ManyQueriesALineEach) {
  const Outcome outcome = quipu({"search", "--queries", "-"},
                                "{\"id\":\"q1\",\"text\":\"lake\"}\n\n"
                                "{\"id\":2,\"text\":\"guanaco\",\"session\":\"two\"}\n");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t feed = outcome.out.find('\n');
  const std::string first = outcome.out.substr(0, feed);
  const std::string second = outcome.out.substr(feed + 1);
  EXPECT_EQ("q1", JsonView(first).member("id").string());
  EXPECT_EQ((Ids{"a1"}), ids_of(first));
  EXPECT_EQ("2", JsonView(second).member("id").raw());
  EXPECT_EQ((Ids{"u2"}), ids_of(second));
  EXPECT_EQ(quipu({"search", "--queries", "-"}, "{}\n").code, 1);
}

TEST_F(SearchCommands, AQueryThatIsCutIsSaid) {
  std::string query = "lake";
  for (int i = 0; i < 100; ++i) query += " w" + std::to_string(i);
  const Outcome cut = quipu({"search", query, "--json", "--neighbours", "0"});
  EXPECT_EQ("true", JsonView(cut.out).member("queryIsCut").raw());
  EXPECT_EQ((Ids{"a1"}), ids_of(cut.out));
  EXPECT_THAT(quipu({"search", query}).err, HasSubstr("left out"));
  EXPECT_FALSE(JsonView(quipu({"search", "lake", "--json"}).out).member("queryIsCut").exists());
  EXPECT_THAT(quipu({"search", "lake"}).err, Not(HasSubstr("left out")));
}

TEST_F(SearchCommands, ALineOfManyMayNameAnySession) {
  std::filesystem::create_directories(path("engine/.git"));
  ASSERT_EQ(quipu({"new", "--id", "e1", "--cwd", path("engine")}).code, 0);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(path("engine"));
  const Outcome outcome = quipu({"search", "--queries", "-"},
                                "{\"id\":1,\"text\":\"guanaco\"}\n"
                                "{\"id\":2,\"text\":\"guanaco\",\"session\":\"tw\"}\n"
                                "{\"id\":3,\"text\":\"guanaco\",\"session\":\"nobody\"}\n"
                                "{\"id\":4,\"text\":\"guanaco\",\"session\":\"*\"}\n"
                                "{\"id\":5,\"text\":\"lake\",\"session\":\"one\"}\n");
  std::filesystem::current_path(before);
  ASSERT_EQ(outcome.code, 1) << "two questions were refused: " << outcome.err;
  const std::vector<std::string> lines = wrap(outcome.out, 0);
  ASSERT_EQ(6u, lines.size()) << "the last one is empty: " << outcome.out;
  EXPECT_EQ((Ids{}), ids_of(lines[0]));
  EXPECT_EQ((Ids{"u2"}), ids_of(lines[1]));
  EXPECT_EQ("3", JsonView(lines[2]).member("id").raw());
  EXPECT_EQ("not_found", JsonView(lines[2]).member("error").member("code").string());
  EXPECT_EQ("invalid_argument", JsonView(lines[3]).member("error").member("code").string());
  EXPECT_EQ((Ids{"a1"}), ids_of(lines[4]));
}

TEST_F(SearchCommands, AQuestionFindsWhatWasAppendedAfterTheOneBefore) {
  Conversation asking(with_store({"search", "--queries", "-"}));
  asking.send("{\"text\":\"huemul\"}\n");
  EXPECT_EQ((Ids{}), ids_of(asking.receive_line()));
  ASSERT_EQ(quipu({"append", "two"}, message("u7", "user", "A huemul!")).code, 0);
  asking.send("{\"text\":\"huemul\"}\n");
  EXPECT_EQ((Ids{"u7"}), ids_of(asking.receive_line()));
  EXPECT_EQ(0, asking.wait());
}

TEST_F(SearchCommands, RedactedWordsLeaveTheIndexAtOnce) {
  const auto index = [&] {
    std::string bytes = read_whole(store() + "/index.db");
    if (std::filesystem::exists(store() + "/index.db-wal")) {
      bytes += read_whole(store() + "/index.db-wal");
    }
    return bytes;
  };
  ASSERT_EQ((Ids{"a1"}), found({"lake"}));
  ASSERT_THAT(index(), HasSubstr("lake"));
  const Outcome outcome = quipu({"redact", "one", "a1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(index(), Not(HasSubstr("lake")));
}

TEST_F(SearchCommands, ARedactionMakesNoIndex) {
  ASSERT_EQ(quipu({"redact", "one", "a1"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(store() + "/index.db"));
  EXPECT_EQ((Ids{}), found({"lake"}));
}

TEST_F(SearchCommands, ReindexCountsAndChangesNothing) {
  const Ids before = found({"guanaco"});
  const Outcome outcome = quipu({"reindex", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ("2", JsonView(outcome.out).member("sessions").raw());
  EXPECT_EQ("4", JsonView(outcome.out).member("entries").raw()) << "three messages and a title";
  EXPECT_EQ(before, found({"guanaco"}));
  EXPECT_THAT(quipu({"reindex"}).out, HasSubstr("4 entries of 2 sessions"));
  EXPECT_EQ("0 nodes of memory\n", quipu({"reindex", "--only", "memory"}).out);
  EXPECT_EQ("0 documents\n", quipu({"reindex", "--only", "knowledge"}).out);
  EXPECT_THAT(quipu({"reindex", "--only", "sessions"}).out, Not(HasSubstr("documents")));
  EXPECT_EQ(
      "0", JsonView(quipu({"reindex", "--only", "memory", "--json"}).out).member("sessions").raw());
  EXPECT_EQ(quipu({"reindex", "--only", "nothing"}).code, 2);
}

TEST_F(SearchCommands, InsideAProjectOnlyItsSessions) {
  std::filesystem::create_directories(path("engine/.git"));
  ASSERT_EQ(quipu({"new", "--id", "e1", "--cwd", path("engine")}).code, 0);
  ASSERT_EQ(quipu({"append", "e1"}, message("u5", "user", "guanaco in the engine")).code, 0);
  EXPECT_EQ((Ids{"u5"}), found({"guanaco", "--project", "engine"}));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(path("engine"));
  const Ids here = found({"guanaco"});
  const Ids all = found({"guanaco", "--all"});
  const Outcome none = quipu({"search", "lake"});
  std::filesystem::current_path(before);
  EXPECT_EQ((Ids{"u5"}), here);
  EXPECT_EQ(4u, all.size());
  EXPECT_THAT(none.err, HasSubstr("--all"));
}

TEST_F(SearchCommands, ADamagedSessionDoesNotHideTheOthers) {
  write_whole(log_of("two"), "not json\n");
  EXPECT_EQ((Ids{"a1", "u1"}), found({"guanaco"}));
}

}  // namespace
}  // namespace quipu::cli
