// list with its filters, stats, rename, tag, archive, project, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

using Ids = std::vector<std::string>;

class CatalogueCommands : public CliTest {
 protected:
  CatalogueCommands() {
    for (const char* name : {"engine/.git", "engine/src", "garden"}) {
      std::filesystem::create_directories(path(name));
    }
    make("e1", "engine/src");
    make("e2", "engine");
    make("g1", "garden");
    EXPECT_EQ(quipu({"append", "e1"}, message("u1", "user", "Turn the wheel") + "\n" + kUsage).code,
              0);
  }

  void make(const std::string& id, const std::string& directory) {
    const Outcome made =
        quipu({"new", "--id", id, "--cwd", path(directory), "--title", "Title " + id});
    EXPECT_EQ(made.code, 0) << made.err;
  }
  Ids listed(std::vector<std::string> more) const {
    std::vector<std::string> args{"list", "--ids"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = quipu(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    Ids ids;
    std::string rest = outcome.out;
    for (std::size_t feed; (feed = rest.find('\n')) != std::string::npos;) {
      ids.push_back(rest.substr(0, feed));
      rest.erase(0, feed + 1);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  static constexpr const char* kUsage =
      R"({"type":"message","payload":{"role":"assistant","content":"ok","model":"m1",)"
      R"("usage":{"tokensIn":1200,"tokensOut":34,"costUsd":0.5}}})";
};

TEST_F(CatalogueCommands, ADirectoryOfAllKindsOfWorkIsNoProject) {
  const Outcome made = quipu({"new", "--id", "t1", "--cwd", "/tmp"});
  EXPECT_EQ(made.code, 0) << "the session is made all the same";
  EXPECT_THAT(made.err, HasSubstr("no project"));
  EXPECT_EQ(quipu({"new", "--json", "--cwd", "/tmp"}).err, "");
  EXPECT_THAT(quipu({"project", "list", "--json"}).out, Not(HasSubstr(R"("root":"/tmp")")));
  EXPECT_EQ(quipu({"project", "assign", "t1", "/tmp"}).code, 1);
}

TEST_F(CatalogueCommands, ListByProject) {
  EXPECT_EQ((Ids{"e1", "e2"}), listed({"--project", path("engine")}));
  EXPECT_EQ((Ids{"e1", "e2"}), listed({"--project", "engine"})) << "by name";
  EXPECT_EQ((Ids{"g1"}), listed({"--project", path("garden/sub")}));
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), listed({"--all"}));
  EXPECT_EQ(quipu({"list", "--project", "nothing"}).code, 3);
  EXPECT_EQ(quipu({"list", "--project", path("nowhere")}).code, 3);
}

TEST_F(CatalogueCommands, InsideAProjectOnlyItsSessions) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(path("engine/src"));
  const Outcome here = quipu({"list"});
  const Outcome all = quipu({"list", "--all"});
  const Outcome made = quipu({"new", "--id", "e3"});
  const Outcome shown = quipu({"project", "show", "--json"});
  std::filesystem::current_path(path(""));
  const Outcome outside = quipu({"list"});
  std::filesystem::current_path(before);
  EXPECT_THAT(here.out, HasSubstr("Title e1"));
  EXPECT_THAT(here.out, Not(HasSubstr("Title g1")));
  EXPECT_THAT(here.err, HasSubstr("1 more in other projects"));
  EXPECT_THAT(all.out, HasSubstr("Title g1"));
  EXPECT_EQ(all.err, "");
  EXPECT_THAT(outside.out, HasSubstr("Title g1"));
  EXPECT_EQ(JsonView(shown.out).member("root").string(), path("engine"));
  ASSERT_EQ(made.code, 0);
  EXPECT_EQ((Ids{"e1", "e2", "e3"}), listed({"--project", "engine"}))
      << "a new session joins the project it is made in";
}

TEST_F(CatalogueCommands, ListShowsCounts) {
  const Outcome table = quipu({"list", "--all"});
  EXPECT_THAT(table.out, HasSubstr("MESSAGES"));
  EXPECT_THAT(table.out, HasSubstr("1234"));
  EXPECT_THAT(table.out, HasSubstr("engine"));
  const std::string json = quipu({"list", "--all", "--title", "title E1", "--json"}).out;
  const auto sessions = JsonView(json).elements();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].member("counts").member("messages").raw(), "1");
  EXPECT_EQ(sessions[0].member("counts").member("costUsd").raw(), "0.5");
  EXPECT_EQ(sessions[0].member("model").string(), "m1");
}

TEST_F(CatalogueCommands, FiltersAndTimes) {
  EXPECT_EQ((Ids{"e2"}), listed({"--all", "--title", "E2"}));
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), listed({"--all", "--since", "1h"}));
  EXPECT_EQ((Ids{}), listed({"--all", "--until", "2020-01-01"}));
  EXPECT_EQ((Ids{}), listed({"--all", "--since", "2999-01-01T00:00:00Z"}));
  EXPECT_EQ((Ids{}), listed({"--all", "--agent", "x"}));
  EXPECT_EQ(quipu({"list", "--since", "yesterday"}).code, 2);
  ASSERT_EQ(quipu({"fork", "e1", "--id", "f1"}).code, 0);
  EXPECT_EQ((Ids{"f1"}), listed({"--parent", "e1"}));
  EXPECT_EQ(quipu({"list", "--parent", "nobody"}).code, 3);
}

TEST_F(CatalogueCommands, PagesWithJson) {
  Ids seen;
  std::vector<std::string> args{"list", "--all", "--json", "--limit", "2"};
  for (int pages = 0; pages < 5; ++pages) {
    const std::string out = quipu(args).out;
    EXPECT_EQ(JsonView(out).member("total").raw(), "3");
    for (const JsonView& session : JsonView(out).member("sessions").elements()) {
      seen.push_back(session.member("sessionId").string());
    }
    const JsonView next = JsonView(out).member("next");
    if (!next.is_string()) break;
    args.resize(5);
    args.insert(args.end(), {"--after", next.string()});
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), seen);
  EXPECT_THAT(quipu({"list", "--all", "--limit", "2"}).err, HasSubstr("--after"));
  for (const char* option : {"--after=nonsense", "--limit=-1"}) {
    EXPECT_EQ(quipu({"list", option}).code, 2) << option;
  }
  EXPECT_THAT(quipu({"list", "--all", "--title", "nothing"}).err, HasSubstr("No such sessions"));
}

TEST_F(CatalogueCommands, Rename) {
  EXPECT_EQ(quipu({"rename", "g1", "Roses"}).code, 0);
  EXPECT_THAT(quipu({"list", "--all"}).out, HasSubstr("Roses"));
  const std::string json = quipu({"rename", "g1", "", "--json"}).out;
  EXPECT_EQ(JsonView(json).member("title").string(), "Title g1") << "the one it began with";
  EXPECT_EQ(quipu({"rename", "nobody", "x"}).code, 3);
  EXPECT_EQ(quipu({"rename", "g1"}).code, 2);
}

TEST_F(CatalogueCommands, Tag) {
  EXPECT_EQ(quipu({"tag", "g1", "+a", "b", "+c"}).code, 0);
  EXPECT_EQ(quipu({"tag", "g1"}).out, "a\nb\nc\n");
  EXPECT_EQ(quipu({"tag", "g1", "-b", "+d", "--remove", "c"}).code, 0);
  EXPECT_EQ(quipu({"tag", "g1"}).out, "a\nd\n");
  EXPECT_EQ((Ids{"g1"}), listed({"--all", "--tag", "d"}));
  const std::string entries = quipu({"cat", "g1"}).out;
  EXPECT_EQ(quipu({"tag", "g1", "+a", "-zz"}).code, 0);
  EXPECT_EQ(quipu({"cat", "g1"}).out, entries) << "nothing to say, nothing said";
  EXPECT_EQ(quipu({"tag", "g1", "+"}).code, 2);
}

TEST_F(CatalogueCommands, ArchivedOnesAreLeftOut) {
  EXPECT_EQ(quipu({"archive", "g1"}).code, 0);
  EXPECT_EQ((Ids{"e1", "e2"}), listed({}));
  EXPECT_EQ((Ids{"g1"}), listed({"--archived"}));
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), listed({"--all"}));
  EXPECT_THAT(quipu({"list"}).err, HasSubstr("1 archived"));
  EXPECT_EQ(quipu({"archive", "g1", "--undo"}).code, 0);
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), listed({}));
}

TEST_F(CatalogueCommands, Stats) {
  const std::string all = quipu({"stats", "--json"}).out;
  EXPECT_EQ(JsonView(all).member("total").member("sessions").raw(), "3");
  EXPECT_EQ(JsonView(all).member("total").member("counts").member("tokensIn").raw(), "1200");
  EXPECT_EQ(JsonView(all).member("byModel").elements().size(), 2u);
  EXPECT_EQ(JsonView(all).member("byProject").elements().size(), 2u);
  const std::string garden = quipu({"stats", "--json", "--project", "garden"}).out;
  EXPECT_EQ(JsonView(garden).member("total").member("sessions").raw(), "1");
  EXPECT_THAT(quipu({"stats", "e1"}).out, HasSubstr("model m1"));
  EXPECT_THAT(quipu({"stats"}).out, HasSubstr("project engine"));
  EXPECT_EQ(quipu({"stats", "nobody"}).code, 3);
}

TEST_F(CatalogueCommands, ProjectRelocateAndAssign) {
  std::filesystem::rename(path("garden"), path("orchard"));
  EXPECT_EQ(quipu({"list", "--project", path("orchard")}).code, 3);
  const Outcome moved = quipu({"project", "relocate", path("garden"), path("orchard"), "--json"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_EQ(JsonView(moved.out).member("root").string(), path("orchard"));
  EXPECT_EQ((Ids{"g1"}), listed({"--project", path("orchard")}));
  EXPECT_EQ((Ids{"g1"}), listed({"--project", path("garden")})) << "the old root is an alias";
  EXPECT_EQ(quipu({"project", "assign", "g1", "engine"}).code, 0);
  EXPECT_EQ((Ids{"e1", "e2", "g1"}), listed({"--project", "engine"}));
  EXPECT_EQ(quipu({"project", "assign", "g1", path("fresh")}).code, 0);
  EXPECT_EQ((Ids{"g1"}), listed({"--project", "fresh"}));
  EXPECT_EQ(quipu({"project", "rename", "fresh", "Old"}).code, 0);
  EXPECT_THAT(quipu({"project", "list"}).out, HasSubstr("Old"));
  EXPECT_EQ(quipu({"project", "relocate", "engine", path("orchard")}).code, 4);
  EXPECT_EQ(quipu({"project", "relocate", "engine"}).code, 2);
  EXPECT_EQ(quipu({"project", "explode"}).code, 2);
  EXPECT_EQ(quipu({"project", "show", "nobody"}).code, 3);
}

}  // namespace
}  // namespace quipu::cli
