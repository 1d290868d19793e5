// Sessions put where an agent looks for them, beside those that it has.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kPath = "/home/ada/.pi/agent/sessions/--data-atlas--/2026_s1.jsonl";
const std::string kText =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data/atlas"})"
    "\n"
    R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Which way?"},{"type":"image","mimeType":"image/png","data":"iVBORw=="}]}})"
    "\n"
    R"({"type":"session_info","id":"b","parentId":"a","timestamp":"2026-03-01T09:30:02.000Z","name":"Maps"})"
    "\n";

class Install : public testing::Test {
 protected:
  Install() {
    machine.host.files[kPath] = kText;
    machine.import("pi", kPath);
  }

  Result<ExportReport> install(const std::string& to, const std::string& session = "pi.s1") {
    made.clear();
    const std::map<std::string, std::string> variables{{"HOME", "/home/ada"}};
    return export_session(
        machine.store, session, {.to = to, .head = {}, .normalise = false, .install = true},
        [&](const std::string& path, std::string_view bytes) {
          made[path] += bytes;
          return Result<void>();
        },
        &machine.host, &variables);
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& [path, bytes] : made) all.push_back(path);
    return all;
  }

  // As somebody does who takes the report at its word.
  void keep(const ExportReport& report) {
    for (const auto& [path, bytes] : made) machine.host.files[path] = bytes;
    for (const ExportedIndex& index : report.indexes) {
      EXPECT_EQ(machine.host.files[index.path], index.before);
      machine.host.files[index.path] = index.after;
    }
  }

  std::string title_of(const ImportReport& report) {
    return machine.store.sessions().describe_session(report.session_id)->title;
  }

  ImportMachine machine;
  ImportMachine::Files made;
};

TEST_F(Install, APlaceMayBeAFile) {
  const auto report = install("codepilot");
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(paths(), (std::vector<std::string>{"/home/ada/.codepilot/codepilot.db"}));
}

// It takes files in itself, into a database that is its own.
TEST_F(Install, WhoTakesFilesInItselfIsSaidHow) {
  const auto report = install("opencode");
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->taken_in_by, (std::vector<std::string>{"opencode", "import"}));
  EXPECT_EQ(report->cwd, "/data/atlas");
  EXPECT_EQ(paths(), report->files);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(paths()[0].find('/'), std::string::npos) << "by itself: " << paths()[0];
  EXPECT_NE(made.begin()->second.find("Which way?"), std::string::npos);

  // What it wrote itself it takes in no more: not as it is.
  machine.host.files["/x/own.json"] = made.begin()->second;
  const auto own = machine.import("opencode", "/x/own.json");
  const auto refused = install("opencode", own.session_id);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kUnsupported);
  EXPECT_NE(refused.error().hint().find("--normalise"), std::string::npos);
}

TEST_F(Install, WhoFindsFilesTakesNothingIn) {
  EXPECT_TRUE(install("claude")->taken_in_by.empty());
}

TEST_F(Install, MyAgentsHasASessionMoreInItsIndex) {
  const std::string home = "/home/ada/.myagents/";
  std::string& index = machine.host.files[home + "sessions.json"];
  for (const std::string there : {"[\n  {\n    \"id\": \"x\"\n  }\n]\n", "[]", " [ ] "}) {
    SCOPED_TRACE(there);
    index = there;
    const auto report = install("myagents");
    ASSERT_TRUE(report.ok()) << report.error().message();
    const std::string id = report->agent_session;
    ASSERT_EQ(paths().size(), 2u);
    EXPECT_TRUE(paths()[0].starts_with(home + "attachments/" + id + "/")) << paths()[0];
    EXPECT_EQ(paths()[1], home + "sessions/" + id + ".jsonl");
    ASSERT_EQ(report->indexes.size(), 1u);
    EXPECT_EQ(report->indexes[0].path, home + "sessions.json");
    EXPECT_EQ(report->indexes[0].lock, "sessions.lock");
    keep(*report);
    const std::size_t kept = there.find_last_not_of(" \n", there.rfind(']') - 1) + 1;
    EXPECT_TRUE(index.starts_with(there.substr(0, kept)));
    EXPECT_TRUE(index.ends_with(there.substr(there.rfind(']'))));
    EXPECT_NE(index.find("\"title\":\"Maps\""), std::string::npos) << index;

    // It is read again, and a second time adds nothing.
    const auto found =
        machine.find({.agents = {"myagents"}, .paths = {"/home/ada/.myagents"}, .since_ms = 0});
    ASSERT_EQ(found.sources.size(), 1u);
    EXPECT_EQ(title_of(machine.import_all(found.sources).at(0)), "Maps");
    EXPECT_TRUE(install("myagents")->indexes.empty());
  }
}

TEST_F(Install, AnIndexThatIsNotUnderstoodIsLeftAsItIs) {
  for (const std::string there : {"", "{}", "[{\"id\":", "{\"sessions\":[]}"}) {
    machine.host.files["/home/ada/.myagents/sessions.json"] = there;
    const auto report = install("myagents");
    ASSERT_FALSE(report.ok()) << there;
    EXPECT_EQ(report.error().code(), Code::kUnsupported);
    EXPECT_NE(report.error().message().find("sessions.json"), std::string::npos);
  }
}

TEST_F(Install, WithoutAnIndexOneIsMade) {
  const auto report = install("myagents");
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->indexes.empty());
  EXPECT_TRUE(made.contains("/home/ada/.myagents/sessions.json"));
}

TEST_F(Install, CodexHasANameMore) {
  const std::string there = R"({"id":"x","thread_name":"X","updated_at":"2026"})";
  std::string& index = machine.host.files["/home/ada/.codex/session_index.jsonl"];
  index = there;  // the last line's end is missing
  const auto report = install("codex");
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(made.size(), 1u);
  keep(*report);
  const std::string id = report->agent_session;
  EXPECT_EQ(index, there + "\n" + R"({"id":")" + id +
                       R"(","thread_name":"Maps","updated_at":"2026-03-01T09:30:01.000Z"})" + "\n");
  const auto found =
      machine.find({.agents = {"codex"}, .paths = {"/home/ada/.codex"}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  EXPECT_EQ(title_of(machine.import_all(found.sources).at(0)), "Maps");
  // Named anew since: that stays, also when its own records are given back.
  index += R"({"id":")" + id + R"(","thread_name":"Ways","updated_at":"2027"})" + "\n";
  EXPECT_TRUE(install("codex")->indexes.empty());
  const auto own = install("codex", "codex." + id);
  ASSERT_TRUE(own.ok()) << own.error().message();
  EXPECT_TRUE(own->indexes.empty());
  EXPECT_EQ(paths(), std::vector<std::string>{found.sources[0].path});
}

TEST_F(Install, GeminiFindsItInTheDirectoryOfTheProject) {
  const std::string tmp = "/home/ada/.gemini/tmp/";
  const auto slug = [&] {
    const auto report = install("gemini");
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(made.size(), 2u);
    const std::string first = report->files.at(0);
    const std::string name = first.substr(tmp.size(), first.find('/', tmp.size()) - tmp.size());
    EXPECT_EQ(made[tmp + name + "/.project_root"], "/data/atlas");
    return name;
  };
  auto& files = machine.host.files;
  EXPECT_EQ(slug(), "atlas");
  // Somebody else's directory, on the disk or in the list.
  files[tmp + "atlas/.project_root"] = "/other/atlas";
  EXPECT_EQ(slug(), "atlas-1");
  files["/home/ada/.gemini/projects.json"] = R"({"projects":{"/third/atlas":"atlas-1"}})";
  EXPECT_EQ(slug(), "atlas-2");
  // Its own, whatever it is called.
  files[tmp + "earlier/.project_root"] = "/data/atlas\n";
  EXPECT_EQ(slug(), "earlier");
  files["/home/ada/.gemini/projects.json"] = R"({"projects":{"\/data\/atlas":"named"}})";
  EXPECT_EQ(slug(), "named");
  // The program does not believe its list when the directory says something else.
  files[tmp + "named/.project_root"] = "/other";
  EXPECT_EQ(slug(), "earlier");
}

TEST_F(Install, ADirectoryMayHoldSeveralSessions) {
  machine.host.files["/out/sessions.json"] = "[{\"id\":\"x\"}]";
  const auto report = export_session(
      machine.store, "pi.s1",
      {.to = "myagents", .head = {}, .normalise = false, .install = false, .directory = "/out"},
      [&](const std::string& path, std::string_view) {
        EXPECT_TRUE(path.starts_with("/out/")) << path;
        return Result<void>();
      },
      &machine.host);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->indexes.size(), 1u);
  EXPECT_EQ(report->indexes[0].path, "/out/sessions.json");
}

}  // namespace
}  // namespace quipu
