// Every command, as a shell sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/json_in.h"
#include "program.h"
#include "quipu/limits.h"

namespace quipu::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string rest = text;
  for (std::size_t feed; (feed = rest.find('\n')) != std::string::npos;) {
    lines.push_back(rest.substr(0, feed));
    rest.erase(0, feed + 1);
  }
  if (!rest.empty()) lines.push_back(rest);
  return lines;
}

std::vector<std::string> ids_of(const JsonView& array) {
  std::vector<std::string> ids;
  for (const JsonView& id : array.elements()) ids.push_back(id.string());
  return ids;
}

using Ids = std::vector<std::string>;

TEST_F(CliTest, BareProgramIsAUsageError) {
  const Outcome outcome = run_program({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("quipu new"));
}

TEST_F(CliTest, HelpAndVersion) {
  for (const std::string flag : {"-h", "--help"}) {
    const Outcome help = run_program({.args = {flag}});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("append"));
    EXPECT_EQ(help.err, "");
  }
  const Outcome command_help = run_program({.args = {"append", "--help"}});
  EXPECT_EQ(command_help.code, 0);
  EXPECT_THAT(command_help.out, HasSubstr("--expect-tail"));
  EXPECT_EQ(run_program({.args = {"--version"}}).out, run_program({.args = {"version"}}).out);
  EXPECT_EQ(run_program({.args = {"--json", "--version"}}).out,
            run_program({.args = {"version", "--json"}}).out);
  EXPECT_THAT(run_program({.args = {"version", "--json"}}).out,
              MatchesRegex("\\{\"version\":\"[0-9.]+\"\\}\n"));
}

TEST_F(CliTest, HelpIsAWordToo) {
  EXPECT_EQ(run_program({.args = {"help"}}).out, run_program({.args = {"--help"}}).out);
  EXPECT_EQ(run_program({.args = {"help", "new"}}).out,
            run_program({.args = {"new", "--help"}}).out);
  EXPECT_EQ(run_program({.args = {"help", "nonsense"}}).code, 2);
}

TEST_F(CliTest, DaysThatDoNotExistAreNoTimes) {
  quipu({"init"});
  for (const char* wrong : {"2026-13-01", "2026-02-30", "2026-00-10", "2026-03-00",
                            "2026-03-01T25:00:00Z", "2026-03-01T10:60:00Z"}) {
    EXPECT_EQ(quipu({"list", "--since", wrong}).code, 2) << wrong;
  }
  for (const char* right : {"2024-02-29", "2026-03-01T23:59:59Z", "2h"}) {
    EXPECT_EQ(quipu({"list", "--since", right}).code, 0) << right;
  }
}

// Also when the sessions that it would be taken for are not in the list.
TEST_F(CliTest, AnIdThatIsShownIsUnderstood) {
  quipu({"new", "--id", "agent-01a1-one", "--title", "Maps"});
  quipu({"new", "--id", "agent-01a1-two", "--title", "Ways"});
  const std::string table = quipu({"list", "--title", "Ways"}).out;
  const std::size_t at = table.find("agent-");
  ASSERT_NE(std::string::npos, at) << table;
  const std::string id = table.substr(at, table.find(' ', at) - at);
  EXPECT_EQ(quipu({"show", id}).code, 0) << id;
  quipu({"append", "agent-01a1-two"},
        message("entry-0001", "user", "crossroads") + message("entry-0002", "user", "bridges"));
  const std::string hit = quipu({"search", "--all", "crossroads"}).out;
  EXPECT_THAT(hit, HasSubstr(id + " entry-0001"));
}

TEST_F(CliTest, ADirectoryIsNoInput) {
  quipu({"new", "--id", "s1"});
  const Outcome refused = quipu({"append", "s1", path(".")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("is a directory"));
}

TEST_F(CliTest, UsageErrorsNameWhatWasMeant) {
  const Outcome command = quipu({"lst"});
  EXPECT_EQ(command.code, 2);
  EXPECT_THAT(command.err, HasSubstr("unknown command 'lst'"));
  EXPECT_THAT(command.err, HasSubstr("'list'"));
  const Outcome option = quipu({"append", "s", "--expect-tial", "x"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("'--expect-tail'"));
  const Outcome json = quipu({"list", "--jsn", "--json"});
  EXPECT_EQ(json.code, 2);
  EXPECT_THAT(json.err, StartsWith(R"({"error":{"code":"invalid_argument")"));
  EXPECT_EQ(quipu({"path", "s"}).code, 2) << "an argument is missing";
  EXPECT_EQ(quipu({"path", "s", "e", "more"}).code, 2);
  EXPECT_EQ(quipu({"append", "s", "--batch", "0"}).code, 2);
  EXPECT_EQ(quipu({"append", "s", "--durability", "maybe"}).code, 2);
}

// As in a script whose variable was not set: what is meant must not be guessed.
TEST_F(CliTest, EmptyWordsAreNotLeftOut) {
  quipu({"new", "--id", "s1"});
  EXPECT_THAT(quipu({"verify", ""}).err, HasSubstr("is empty"));
  EXPECT_EQ(quipu({"verify", ""}).code, 2);
  EXPECT_EQ(quipu({"new", "--id", ""}).code, 2);
  EXPECT_EQ(quipu({"list", "--since="}).code, 2);
  EXPECT_EQ(run_program({.args = {"list", "--store", ""}}).code, 2);
}

TEST_F(CliTest, NoStoreIsNotFound) {
  for (const std::string command : {"list", "verify", "repair", "migrate"}) {
    EXPECT_EQ(quipu({command}).code, 3) << command;
  }
  for (const std::string command : {"cat", "show", "tree", "fork", "head", "dump", "append"}) {
    EXPECT_EQ(quipu({command, "s"}).code, 3) << command;
  }
  EXPECT_THAT(quipu({"list"}).err, HasSubstr("quipu init"));
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(CliTest, InitTwice) {
  const Outcome first = quipu({"init", "--json"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(JsonView(first.out).member("created").raw(), "true");
  const Outcome second = quipu({"init", "--json"});
  EXPECT_EQ(JsonView(second.out).member("created").raw(), "false");
  EXPECT_EQ(JsonView(first.out).member("storeId").raw(),
            JsonView(second.out).member("storeId").raw());
  EXPECT_EQ(quipu({"list", "--json"}).out, "[]\n");
  EXPECT_EQ(quipu({"verify"}).code, 0);
}

TEST_F(CliTest, StoreComesFromOptionThenEnvironmentThenHome) {
  EXPECT_EQ(run_program({.args = {"init"}, .environment = {{"QUIPU_STORE", path("env")}}}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("env")));
  EXPECT_EQ(run_program({.args = {"init", "--store", path("option")},
                         .environment = {{"QUIPU_STORE", path("other")}}})
                .code,
            0);
  EXPECT_TRUE(std::filesystem::exists(path("option")));
  EXPECT_FALSE(std::filesystem::exists(path("other")));
  EXPECT_EQ(run_program({.args = {"new"}, .environment = {{"XDG_DATA_HOME", path("xdg")}}}).code,
            0);
  EXPECT_TRUE(std::filesystem::exists(path("xdg/quipu")));
  EXPECT_EQ(run_program({.args = {"new"}, .environment = {{"HOME", path("home")}}}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("home/.local/share/quipu")));
  EXPECT_EQ(run_program({.args = {"init", "--store", "file:" + path("url")}}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("url")));
  EXPECT_EQ(run_program({.args = {"init", "--store", "gopher:x"}}).code, 6);
}

TEST_F(CliTest, DirectoryThatIsNoStore) {
  std::filesystem::create_directory(store());
  write_whole(path("store/letter.txt"), "dear diary");
  const Outcome outcome = quipu({"new"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(read_whole(path("store/letter.txt")), "dear diary");
}

TEST_F(CliTest, NewMakesStoreAndSession) {
  const Outcome made = quipu({"new", "--title", "T", "--json"});
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string id = JsonView(made.out).member("sessionId").string();
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"));
  EXPECT_EQ(quipu({"new", "--id", "mine"}).out, "mine\n");
  const Outcome again = quipu({"new", "--id", "mine"});
  EXPECT_EQ(again.code, 4);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(quipu({"list", "--ids"}).out, HasSubstr("mine\n"));
  EXPECT_EQ(JsonView(quipu({"list", "--json"}).out).elements().size(), 2u);
}

TEST_F(CliTest, HostileSessionIds) {
  ASSERT_EQ(quipu({"init"}).code, 0);
  for (const std::string& id : std::vector<std::string>{
           "../x", "..", ".", "a/b", "/etc/passwd", "a..b", "CON", "nul", "-x", "a b", "a\nb",
           "\x1b[2J", "x.", "é", "a\\b", std::string(65, 'a')}) {
    const Outcome made = quipu({"new", "--id=" + id});
    EXPECT_EQ(made.code, 1) << id << made.err;
    EXPECT_EQ(made.out, "") << id;
    for (const char c : made.err) EXPECT_TRUE(c == '\n' || c >= 0x20 || c < 0) << id;
    const Outcome read = quipu({"cat", "--", id});
    EXPECT_TRUE(read.code == 1 || read.code == 3) << id << read.code;
  }
  EXPECT_EQ(quipu({"cat", ""}).code, 1);
  EXPECT_EQ(JsonView(quipu({"list", "--json"}).out).elements().size(), 0u);
}

TEST_F(CliTest, AppendAndCat) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  const std::string lines =
      message("e1", "user", "hi") + "\n  \n" + message("e2", "assistant", "yo");
  const Outcome stored = quipu({"append", "s"}, lines);
  EXPECT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(stored.out, R"({"sessionId":"s","lastAppendedEntryId":"e2","appendedCount":2,)"
                        R"("alreadyPresent":0,"durable":true})"
                        "\n");
  const Outcome repeated = quipu({"append", "s", "-"}, lines);
  EXPECT_EQ(repeated.code, 0);
  EXPECT_EQ(JsonView(repeated.out).member("alreadyPresent").raw(), "2");
  EXPECT_EQ(JsonView(repeated.out).member("appendedCount").raw(), "0");

  const auto entries = lines_of(quipu({"cat", "s"}).out);
  ASSERT_EQ(entries.size(), 3u) << "header and two messages";
  EXPECT_EQ(JsonView(entries[0]).member("type").string(), "session_header");
  EXPECT_EQ(JsonView(entries[2]).member("parentId").string(), "e1");
  for (const auto& entry : entries) EXPECT_FALSE(JsonView(entry).member("_tx").exists());
  const auto sealed = lines_of(quipu({"cat", "--sealed", "s"}).out);
  ASSERT_EQ(sealed.size(), 3u);
  EXPECT_EQ(quipu({"cat", "--sealed", "s"}).out, read_whole(log_of("s")));
}

TEST_F(CliTest, AppendFromFileAndWithoutFinalLineFeed) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  std::string line = message("e1", "user", "hi");
  line.pop_back();
  write_whole(path("in.jsonl"), line);
  EXPECT_EQ(quipu({"append", "s", path("in.jsonl")}).code, 0);
  EXPECT_EQ(quipu({"head", "s"}).out, "e1\n");
  EXPECT_EQ(quipu({"append", "s", path("missing.jsonl")}).code, 3);
}

TEST_F(CliTest, AppendOfNothing) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  for (const std::string nothing : {"", "\n\n", " \r\n"}) {
    const Outcome outcome = quipu({"append", "s"}, nothing);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(lines_of(quipu({"cat", "s"}).out).size(), 1u);
}

TEST_F(CliTest, AppendErrorsNameTheLineAndStoreNothing) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  const std::string before = read_whole(log_of("s"));
  const std::string good = message("e1", "user", "hi");
  const Outcome bad = quipu({"append", "s"}, good + "\n{\"type\":}\n" + good);
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, HasSubstr("line 3"));
  const Outcome orphan = quipu({"append", "s", "--json"}, message("e2", "user", "x", "nobody"));
  EXPECT_EQ(orphan.code, 1);
  EXPECT_THAT(orphan.err, HasSubstr("line 1"));
  const JsonView error = JsonView(orphan.err).member("error");
  EXPECT_EQ(error.member("code").string(), "unknown_parent");
  EXPECT_EQ(error.member("retryable").raw(), "false");
  EXPECT_FALSE(error.member("hint").string().empty());
  EXPECT_EQ(ids_of(error.member("entryIds")), Ids{"e2"});
  EXPECT_EQ(quipu({"append", "s"}, good + good).code, 1) << "the same id twice";
  EXPECT_EQ(quipu({"append", "s"}, "\xff\xfe\n").code, 1);
  EXPECT_EQ(read_whole(log_of("s")), before);
}

TEST_F(CliTest, OversizeInputIsRefused) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  const Outcome line = quipu({"append", "s", "--json"},
                             message("e1", "user", "hi") + std::string(kLineBytesMax + 10, 'x'));
  EXPECT_EQ(line.code, 1);
  EXPECT_EQ(JsonView(line.err).member("error").member("code").string(), "too_large");
  EXPECT_THAT(line.err, HasSubstr("line 2"));
  std::string many;
  for (std::size_t i = 0; i <= kBatchEntriesMax; ++i) many += "{\"type\":\"x\"}\n";
  const Outcome batch = quipu({"append", "s", "--json"}, many);
  EXPECT_EQ(batch.code, 1);
  EXPECT_EQ(JsonView(batch.err).member("error").member("code").string(), "too_large");
  EXPECT_EQ(lines_of(quipu({"cat", "s"}).out).size(), 1u);
}

TEST_F(CliTest, AnyUniquePrefixOfTheTailWillDo) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  ASSERT_EQ(quipu({"append", "s"}, message("long-id", "user", "x")).code, 0);
  EXPECT_EQ(quipu({"append", "s", "--expect-tail", "long"}, message("e2", "user", "x")).code, 0);
  EXPECT_EQ(quipu({"append", "s", "--expect-tail", "long"}, message("e3", "user", "x")).code, 4);
}

TEST_F(CliTest, Preconditions) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  ASSERT_EQ(quipu({"append", "s"}, message("e1", "user", "hi")).code, 0);
  const Outcome moved =
      quipu({"append", "s", "--expect-tail", "e0", "--json"}, message("e2", "user", "x"));
  EXPECT_EQ(moved.code, 4);
  const JsonView error = JsonView(moved.err).member("error");
  EXPECT_EQ(error.member("code").string(), "tail_moved");
  EXPECT_EQ(error.member("actualTail").string(), "e1");
  EXPECT_EQ(quipu({"append", "s", "--expect-tail", "e1"}, message("e2", "user", "x")).code, 0);

  const Outcome head =
      quipu({"append", "s", "--expect-head", "e1", "--json"}, message("e3", "user", "x"));
  EXPECT_EQ(head.code, 4);
  EXPECT_EQ(JsonView(head.err).member("error").member("actualHead").string(), "e2");
  const Outcome conflict = quipu({"append", "s"}, message("e1", "user", "other"));
  EXPECT_EQ(conflict.code, 4);
  const Outcome overlap =
      quipu({"append", "s", "--json"}, message("e2", "user", "x") + message("e9", "user", "y"));
  EXPECT_EQ(overlap.code, 4);
  EXPECT_EQ(JsonView(overlap.err).member("error").member("code").string(), "partial_overlap");
}

TEST_F(CliTest, BatchesAreAcknowledgedAsTheyArrive) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  Conversation writer(with_store({"append", "s", "--batch", "2"}));
  writer.send(message("e1", "user", "1") + message("e2", "user", "2") + message("e3", "user", "3"));
  EXPECT_EQ(JsonView(writer.receive_line()).member("lastAppendedEntryId").string(), "e2");
  // Durable and visible while the writer goes on; the third waits for its fellow.
  EXPECT_EQ(quipu({"head", "s"}).out, "e2\n");
  writer.send("\n" + message("e4", "user", "4"));
  EXPECT_EQ(JsonView(writer.receive_line()).member("lastAppendedEntryId").string(), "e4");
  writer.send(message("e5", "user", "5"));
  writer.end_input();
  EXPECT_EQ(JsonView(writer.receive_line()).member("appendedCount").raw(), "1");
  EXPECT_EQ(writer.wait(), 0);
}

TEST_F(CliTest, FailedBatchKeepsTheOnesBefore) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  const Outcome outcome =
      quipu({"append", "s", "--batch", "1", "--expect-tail", "wrong"}, message("e1", "user", "1"));
  EXPECT_EQ(outcome.code, 4);
  const Outcome second =
      quipu({"append", "s", "--batch", "1"}, message("e1", "user", "1") + "nonsense\n");
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(lines_of(second.out).size(), 1u);
  EXPECT_THAT(second.err, HasSubstr("line 2"));
  EXPECT_EQ(quipu({"head", "s"}).out, "e1\n");
}

TEST_F(CliTest, RelaxedSaysSo) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  const Outcome outcome =
      quipu({"append", "s", "--durability", "relaxed"}, message("e1", "user", "1"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(JsonView(outcome.out).member("durable").raw(), "false");
  EXPECT_EQ(quipu({"head", "s"}).out, "e1\n");
}

TEST_F(CliTest, TreeAndPath) {
  make_conversation();
  const Outcome json = quipu({"tree", "s", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const JsonView tree(json.out);
  EXPECT_EQ(ids_of(tree.member("entries")), (Ids{"u1", "a1", "u2", "a2", "u3", "a3"}));
  EXPECT_EQ(ids_of(tree.member("roots")), Ids{"u1"});
  EXPECT_EQ(ids_of(tree.member("leaves")), (Ids{"a2", "a3"}));
  EXPECT_EQ(ids_of(tree.member("branchPoints")), Ids{"a1"});
  EXPECT_EQ(ids_of(tree.member("heads")), Ids{"a2"});
  EXPECT_EQ(quipu({"tree", "s"}).out,
            "s\n"
            "* u1  user       Where was the quipu used?\n"
            "* a1  assistant  In the Andes.\n"
            "|-o u3  user       When?\n"
            "| o a3  assistant [leaf]  Until 1600.\n"
            "* u2  user       By whom?\n"
            "* a2  assistant [head]  By the Inca.\n"
            "6 nodes, 2 leaves, 1 branch point\n");
  EXPECT_EQ(quipu({"path", "s", "a3"}).out, "u1\na1\nu3\na3\n");
  EXPECT_EQ(quipu({"path", "s", "u2", "--json"}).out, "[\"u1\",\"a1\",\"u2\"]\n");
  EXPECT_EQ(quipu({"path", "s", "nobody"}).code, 3);

  ASSERT_EQ(quipu({"new", "--id", "empty"}).code, 0);
  const Outcome empty = quipu({"tree", "empty"});
  EXPECT_EQ(empty.code, 0);
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(quipu({"tree", "empty", "--json"}).out,
            R"({"entries":[],"roots":[],"leaves":[],"branchPoints":[],"heads":[]})"
            "\n");
}

TEST_F(CliTest, HeadMovesOnPurposeOnly) {
  make_conversation();
  EXPECT_EQ(quipu({"head", "s"}).out, "a2\n") << "a branch does not steal the session";
  EXPECT_EQ(quipu({"head", "s", "a3"}).out, "a3\n");
  EXPECT_EQ(quipu({"head", "s", "--json"}).out, "{\"sessionId\":\"s\",\"head\":\"a3\"}\n");
  const auto entries = lines_of(quipu({"cat", "s"}).out);
  EXPECT_EQ(JsonView(entries.back()).member("type").string(), "head");
  EXPECT_EQ(JsonView(entries.back()).member("payload").raw(), R"({"entryId":"a3"})");
  const std::string fact = JsonView(entries.back()).member("id").string();
  EXPECT_EQ(quipu({"head", "s", fact}).code, 1) << "a fact is no head";
  EXPECT_EQ(quipu({"path", "s", fact}).code, 1);

  ASSERT_EQ(quipu({"new", "--id", "empty"}).code, 0);
  EXPECT_EQ(quipu({"head", "empty"}).out, "");
  EXPECT_EQ(quipu({"head", "empty", "--json"}).out, "{\"sessionId\":\"empty\",\"head\":null}\n");
}

TEST_F(CliTest, Forks) {
  make_conversation();
  EXPECT_EQ(quipu({"fork", "s", "--id", "f1"}).out, "f1\n");
  EXPECT_EQ(quipu({"path", "f1", "a2"}).out, "u1\na1\nu2\na2\n");
  EXPECT_EQ(quipu({"fork", "s", "--at", "a1", "--id", "f2"}).code, 0);
  ASSERT_EQ(quipu({"append", "f2"}, message("u9", "user", "And then?")).code, 0);
  EXPECT_EQ(quipu({"path", "f2", "u9"}).out, "u1\na1\nu9\n");
  EXPECT_EQ(quipu({"fork", "f2", "--id", "f3", "--detach"}).code, 0);
  EXPECT_EQ(quipu({"path", "f3", "u9"}).out, "u1\na1\nu9\n");
  EXPECT_EQ(quipu({"fork", "s", "--id", "f1"}).code, 4);
  EXPECT_EQ(quipu({"fork", "s", "--at", "nobody"}).code, 3);
  const Outcome json = quipu({"fork", "s", "--json"});
  EXPECT_FALSE(JsonView(json.out).member("sessionId").string().empty());
  EXPECT_EQ(JsonView(json.out).member("schemaVersion").raw(), "1");

  ASSERT_EQ(quipu({"new", "--id", "empty"}).code, 0);
  const Outcome nothing = quipu({"fork", "empty"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("nothing to fork"));
}

TEST_F(CliTest, ListNewestFirst) {
  make_conversation();
  ASSERT_EQ(quipu({"new", "--id", "later", "--title", "L"}).code, 0);
  const Outcome json = quipu({"list", "--json"});
  const auto sessions = JsonView(json.out).elements();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].member("sessionId").string(), "later");
  EXPECT_EQ(sessions[1].member("sessionId").string(), "s");
  EXPECT_EQ(sessions[1].member("title").string(), "Knots");
  EXPECT_EQ(sessions[1].member("cwd").string(), "/tmp/knots");
  EXPECT_EQ(sessions[1].member("head").string(), "a2");
  EXPECT_EQ(sessions[1].member("tail").string(), "a3");
  EXPECT_EQ(sessions[1].member("entries").raw(), "7");
  EXPECT_EQ(sessions[1].member("damaged").raw(), "0");
  EXPECT_THAT(sessions[1].member("updated").string(),
              MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z"));
  const auto table = lines_of(quipu({"list"}).out);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_THAT(table[2], MatchesRegex("s      Knots         3       0  [a-z0-9 ]+ knots"));
}

TEST_F(CliTest, ShowConversation) {
  make_conversation();
  const Outcome shown = quipu({"show", "s"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("Title      Knots\n"));
  EXPECT_THAT(shown.out, HasSubstr("| By the Inca.\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("Until 1600."))) << "not on the head's path";
  EXPECT_THAT(quipu({"show", "s", "--entry", "a3"}).out, HasSubstr("| Until 1600.\n"));
  const JsonView json(quipu({"show", "s", "--json"}).out);
  const std::string text = quipu({"show", "s", "--json"}).out;
  EXPECT_EQ(JsonView(text).member("path").elements().size(), 4u);
  const std::string entry = quipu({"show", "s", "--json", "--entry", "a3"}).out;
  EXPECT_EQ(JsonView(entry).member("entry").member("id").string(), "a3");
}

TEST_F(CliTest, AnyUniquePrefixWillDo) {
  ASSERT_EQ(quipu({"new", "--id", "abc-1"}).code, 0);
  ASSERT_EQ(quipu({"new", "--id", "abc-2"}).code, 0);
  ASSERT_EQ(quipu({"new", "--id", "abc"}).code, 0);
  ASSERT_EQ(
      quipu({"append", "abc-1"}, message("entry-1", "user", "x") + message("entry-2", "user", "y"))
          .code,
      0);
  EXPECT_EQ(quipu({"head", "abc"}).out, "") << "an exact match wins";
  const Outcome ambiguous = quipu({"head", "abc-"});
  EXPECT_EQ(ambiguous.code, 3);
  EXPECT_THAT(ambiguous.err, HasSubstr("abc-1, abc-2"));
  ASSERT_EQ(quipu({"new", "--id", "zebra"}).code, 0);
  EXPECT_EQ(quipu({"head", "z", "--json"}).out, "{\"sessionId\":\"zebra\",\"head\":null}\n");
  EXPECT_EQ(quipu({"path", "abc-1", "entry-"}).code, 3);
  ASSERT_EQ(quipu({"append", "abc-1"}, message("third", "user", "z")).code, 0);
  EXPECT_EQ(quipu({"path", "abc-1", "th"}).out, "entry-1\nentry-2\nthird\n");
}

TEST_F(CliTest, SessionsMayBeCalledLikeCommands) {
  ASSERT_EQ(quipu({"new", "--id", "list"}).code, 0);
  EXPECT_EQ(lines_of(quipu({"cat", "list"}).out).size(), 1u);
}

TEST_F(CliTest, DumpShowsTheSeals) {
  make_conversation();
  const auto lines = lines_of(quipu({"dump", "s", "--json"}).out);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(JsonView(lines[0]).member("offset").raw(), "0");
  EXPECT_EQ(JsonView(lines[1]).member("remaining").string(), "0003");
  EXPECT_EQ(JsonView(lines[4]).member("remaining").string(), "0000");
  for (const auto& line : lines) {
    EXPECT_EQ(JsonView(line).member("state").string(), "sealed");
    EXPECT_THAT(JsonView(line).member("crc").string(), MatchesRegex("[0-9a-f]{8}"));
  }
  EXPECT_THAT(quipu({"dump", "s"}).out, HasSubstr("sealed"));
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAnError) {
  make_conversation();
  for (const auto& args : std::vector<std::vector<std::string>>{{"list"},
                                                                {"cat", "s"},
                                                                {"show", "s"},
                                                                {"tree", "s"},
                                                                {"head", "s"},
                                                                {"list", "--json"}}) {
    const Outcome full = run_program({.args = with_store(args), .out_file = "/dev/full"});
    EXPECT_EQ(full.code, 11) << args[0];
    EXPECT_THAT(full.err, HasSubstr("No space left")) << args[0];
    EXPECT_EQ(run_program({.args = with_store(args), .close_stdout = true}).code, 11) << args[0];
  }
  // With stdout closed, its number must not be given to a file of the store.
  write_whole(path("in.jsonl"), message("e9", "user", "x") + message("e10", "user", "y"));
  const Outcome blind =
      run_program({.args = with_store({"append", "s", "--batch", "1", path("in.jsonl")}),
                   .close_stdin = true,
                   .close_stdout = true});
  EXPECT_EQ(blind.code, 11);
  EXPECT_EQ(quipu({"verify"}).code, 0);
  EXPECT_EQ(read_whole(path("in.jsonl")).find("sessionId"), std::string::npos);
}

TEST_F(CliTest, ReaderThatLeavesEndsUsQuietly) {
  ASSERT_EQ(quipu({"new", "--id", "s"}).code, 0);
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += message("e" + std::to_string(i), "user", std::string(200, 'x'));
  ASSERT_EQ(quipu({"append", "s"}, lines).code, 0);
  Conversation reader(with_store({"cat", "s"}));
  reader.receive_line();
  reader.stop_listening();
  EXPECT_EQ(reader.wait(), 128 + 13);
}

}  // namespace
}  // namespace quipu::cli
