// opencode: the laws of import on sources that are changed in place.
#include <gtest/gtest.h>

#include <atomic>

#include "opencode_database.h"
#include "support/corpora.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kPath = "/data/opencode.db";

OpencodeDatabase talk() {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "one").answer("msg_2", "two");
  database.run("INSERT INTO todo VALUES ('ses_1', 'do it', 0), ('ses_1', 'and that', 1)");
  database.run("INSERT INTO event_sequence VALUES ('ses_1', 1)");
  database.run(
      "INSERT INTO event VALUES ('evt_1', 'ses_1', 0, 'a', '{\"x\":1}'), ('evt_2', 'ses_1', 1, "
      "'b', '[]')");
  // Of a message that is not there any more.
  database.run("INSERT INTO part VALUES ('prt_9', 'msg_0', 'ses_1', 1, 1, '{}')");
  return database;
}

std::vector<ImportReport> import(ImportMachine& machine, const OpencodeDatabase& database) {
  machine.host.files[kPath] = database.image();
  const auto found = machine.find({.agents = {"opencode"}, .paths = {kPath}, .since_ms = 0});
  EXPECT_TRUE(found.problems.empty());
  return machine.import_all(found.sources);
}

QuotedRows without_other_tables(QuotedRows rows, const QuotedRows& given) {
  std::erase_if(rows, [&](const auto& table) { return !given.contains(table.first); });
  return rows;
}

TEST(OpencodeImport, ADatabaseComesBackRowForRow) {
  ImportMachine machine;
  OpencodeDatabase database = talk();
  database.run("UPDATE session SET cost = 0.1 + 0.2, revert = x'00ff'");
  database.run("UPDATE message SET data = CAST(x'fffe' AS TEXT) WHERE id = 'msg_1'");
  const auto reports = import(machine, database);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_FALSE(reports[0].error) << reports[0].error->message();
  const auto files = machine.give(reports[0].session_id, "opencode");
  ASSERT_EQ(files.size(), 1u);
  ASSERT_EQ(files.begin()->first, "opencode.db");
  const QuotedRows given = quoted_rows(files.begin()->second);
  const QuotedRows all = quoted_rows(machine.host.files[kPath]);
  EXPECT_EQ(given, without_other_tables(all, given));
  for (const char* table : {"project", "session", "message", "part", "todo", "event"}) {
    EXPECT_TRUE(given.contains(table)) << table;
  }
  EXPECT_FALSE(given.contains("credential"));
}

TEST(OpencodeImport, ImportingAgainAddsNothing) {
  ImportMachine machine;
  const auto first = import(machine, talk());
  EXPECT_GT(first[0].added, 10u);
  EXPECT_EQ(import(machine, talk())[0].added, 0u);
}

TEST(OpencodeImport, RowsThatChangedAreAddedAndTakeTheirPlace) {
  ImportMachine machine;
  OpencodeDatabase database = talk();
  import(machine, database);
  database.run(
      R"(UPDATE part SET data = '{"type":"text","text":"two and a half"}', time_updated = 1772357500000 WHERE id = 'prt_103')");
  database.run(
      R"(UPDATE message SET data = '{"role":"user","summary":{"diffs":[]}}', time_updated = 1772357500000 WHERE id = 'msg_1')");
  database.user("msg_3", "three");
  const auto reports = import(machine, database);
  EXPECT_EQ(reports[0].added, 4u) << "a part, a message, and a message with its part";
  EXPECT_EQ(machine.said("opencode.ses_1"),
            (Lines{"user: one", "assistant: two and a half", "user: three"}));
  EXPECT_EQ(machine.store.sessions().describe_session("opencode.ses_1")->head, "msg_3");
  const QuotedRows given = quoted_rows(machine.give("opencode.ses_1", "opencode")["opencode.db"]);
  EXPECT_EQ(given, without_other_tables(quoted_rows(machine.host.files[kPath]), given));
}

TEST(OpencodeImport, RowsThatWereDeletedStayAndDoNotCount) {
  ImportMachine machine;
  OpencodeDatabase database = talk();
  database.user("msg_3", "three");
  import(machine, database);
  database.run("DELETE FROM message WHERE id = 'msg_2'");
  import(machine, database);
  EXPECT_EQ(machine.said("opencode.ses_1"), (Lines{"user: one", "user: three"}));
  EXPECT_TRUE(read_conversation(machine.store, "opencode.ses_1", "msg_2").ok());
}

// Counts how often a database is read.
class CountingHost final : public MemoryHost {
 public:
  std::atomic<int> opened = 0;
  Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
    if (path == kPath) ++opened;
    return MemoryHost::open(path);
  }
};

TEST(OpencodeImport, OneCopyServesAllSessions) {
  OpencodeDatabase database;
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(100 + i);
    database.session("ses_" + number)
        .message("msg_" + number, R"({"role":"user"})", "ses_" + number)
        .text("hi");
  }
  CountingHost host;
  host.files[kPath] = database.image();
  auto store = Store::open("memory:").value();
  std::atomic<std::uint64_t> added = 0;
  const auto import = [&] {
    Importer importer(store, &host);
    auto found = importer.find({.agents = {}, .paths = {"/data"}, .since_ms = 0});
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found->sources.size(), 50u);
    ASSERT_TRUE(importer
                    .run(found->sources, {.project_id = {}, .threads = 4},
                         [&](const ImportReport& report) {
                           EXPECT_FALSE(report.error) << report.error->message();
                           added += report.added;
                           return true;
                         })
                    .ok());
  };
  import();
  EXPECT_EQ(host.opened, 2) << "to see whose it is, and to copy it";
  EXPECT_EQ(added, 50u * 5u) << "schema, project, session, message, part";
  database.user("msg_900", "x")
      .run("UPDATE message SET session_id = 'ses_103' WHERE id = 'msg_900'");
  host.files[kPath] = database.image();
  added = 0;
  import();
  EXPECT_EQ(added, 2u);
}

// The state of a session is what it was when its database was found.
TEST(OpencodeImport, SessionsThatDidNotChangeAreNotReadAgain) {
  ImportMachine machine;
  OpencodeDatabase database = talk();
  database.session("ses_2");
  import(machine, database);
  database.run("UPDATE project SET time_updated = 2");
  database.run("UPDATE session SET title = 'changed' WHERE id = 'ses_2'");
  machine.host.files[kPath] = database.image();
  const auto found = machine.find({.agents = {"opencode"}, .paths = {kPath}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 2u);
  EXPECT_TRUE(found.sources[0].is_current);
  EXPECT_FALSE(found.sources[1].is_current);
  const auto reports = machine.import_all(found.sources);
  EXPECT_EQ(reports[0].added, 0u);
  EXPECT_EQ(reports[1].added, 2u) << "the session and, as it is read anyway, the project";
}

TEST(OpencodeImport, ATextOfManyMegabytesIsCarried) {
  ImportMachine machine;
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "one").answer("msg_2", "");
  database.run(
      R"(INSERT INTO part VALUES ('prt_7', 'msg_2', 'ses_1', 1, 1, '{"type":"text","text":"' || replace(hex(zeroblob(10000000)), '0', 'z') || '"}'))");
  const auto reports = import(machine, database);
  ASSERT_FALSE(reports[0].error) << reports[0].error->message();
  EXPECT_EQ(machine.said("opencode.ses_1"), Lines{"user: one"}) << "an attachment is not lifted";
  const QuotedRows given = quoted_rows(machine.give("opencode.ses_1", "opencode")["opencode.db"]);
  EXPECT_TRUE(given == without_other_tables(quoted_rows(machine.host.files[kPath]), given));
}

TEST(OpencodeImport, HostileRows) {
  ImportMachine machine;
  OpencodeDatabase database;
  database.session("ses_1").session("ses_2").run(
      "UPDATE session SET parent_id = 'ses_2' WHERE id = 'ses_1'");
  database.run("UPDATE session SET parent_id = 'ses_1' WHERE id = 'ses_2'");
  database.message("msg_1", R"({"role":"user","x":"\ud83d"})").text("half \\ud83d a pair");
  database.message("msg_2", "no json").message("msg_3", "[1]").message("msg_4", "{\"role\":7}");
  database.part("prt_1", "\"text\"").part("prt_2", R"({"type":"tool","state":[]})");
  database.run("UPDATE session SET revert = 'nothing', model = '[', time_archived = 'soon'");
  for (const ImportReport& report : import(machine, database)) {
    EXPECT_FALSE(report.error) << report.error->message();
  }
  EXPECT_EQ(machine.said("opencode.ses_1"), Lines{"user: half \ufffd a pair"});
  EXPECT_TRUE(machine.store.sessions().list_sessions({.project = ProjectScope::all()}, {}).ok());
  const QuotedRows given = quoted_rows(machine.give("opencode.ses_1", "opencode")["opencode.db"]);
  EXPECT_EQ(given.at("message"), quoted_rows(machine.host.files[kPath]).at("message"));
}

TEST(OpencodeImport, ADatabaseOfSomebodyElseIsReported) {
  for (const std::string& image :
       {std::string(), database_image({"CREATE TABLE other (a)"}),
        std::string("SQLite format 3\0 and no more", 29),
        database_image({"CREATE TABLE session (id text)",
                        "CREATE TABLE message (id text, session_id text)"})}) {
    ImportMachine machine;
    machine.host.files[kPath] = image;
    const auto found = machine.find({.agents = {}, .paths = {"/data"}, .since_ms = 0});
    EXPECT_TRUE(found.sources.empty());
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_EQ(found.problems[0].path, kPath);
  }
}

TEST(OpencodeImport, FindsWhatTheMachineHas) {
  MemoryHost host;
  const std::string home = "/home/ada/.local/share/opencode/";
  const std::string image = talk().image();
  for (const char* name :
       {"opencode.db", "opencode-nightly.db", "snapshot/x/opencode.db", "auth.json"}) {
    host.files[home + name] = image;
  }
  host.files["/else/own.db"] = image;
  auto store = Store::open("memory:").value();
  std::map<std::string, std::string> variables{{"HOME", "/home/ada"},
                                               {"OPENCODE_DB", "/else/own.db"}};
  const auto found =
      Importer(store, &host, &variables).find({.agents = {"opencode"}, .paths = {}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  std::vector<std::string> paths;
  for (const ImportSource& source : found->sources) paths.push_back(source.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/else/own.db", home + "opencode-nightly.db",
                                             home + "opencode.db"}));
}

// ---- files

ImportMachine::Files storage(const std::string& session, const std::string& message,
                             const std::string& part) {
  return {{session,
           "{\n  \"id\": \"ses_1\",\n  \"directory\": \"/data/app\",\n  \"title\": \"files\",\n  "
           "\"time\": {\"created\": 1772357400000}\n}"},
          {message + "msg_1.json", "{\n  \"id\": \"msg_1\",\n  \"role\": \"user\"\n}"},
          {part + "msg_1/prt_1.json",
           R"({"id":"prt_1","messageID":"msg_1","type":"text","text":"one"})"},
          {message + "msg_2.json",
           R"({"id":"msg_2","role":"assistant","modelID":"m1","providerID":"acme"})"},
          {part + "msg_2/prt_2.json",
           R"({"id":"prt_2","messageID":"msg_2","type":"text","text":"two"})"},
          {part + "msg_2/prt_3.json",
           R"({"id":"prt_3","messageID":"msg_2","type":"text","text":"and)"}};
}

void import_files(const ImportMachine::Files& files, const std::string& root) {
  SCOPED_TRACE(root);
  ImportMachine machine;
  for (const auto& [name, text] : files) machine.host.files[root + name] = text;
  const auto found =
      machine.find({.agents = {}, .paths = {root.substr(0, root.size() - 1)}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  const auto reports = machine.import_all(found.sources);
  ASSERT_FALSE(reports[0].error) << reports[0].error->message();
  EXPECT_EQ(reports[0].session_id, "opencode.ses_1");
  EXPECT_EQ(machine.said("opencode.ses_1"), (Lines{"user: one", "assistant: two"}));
  EXPECT_EQ(machine.give("opencode.ses_1", "opencode"), files);
  EXPECT_EQ(machine.store.sessions().describe_session("opencode.ses_1")->title, "files");
  // A message that is taken back is deleted with its parts.
  std::string gone;
  for (const auto& [name, text] : files) {
    if (name.find("msg_2") != std::string::npos) machine.host.files.erase(root + name);
  }
  const auto again = machine.import_all(
      machine.find({.agents = {}, .paths = {root.substr(0, root.size() - 1)}, .since_ms = 0})
          .sources);
  ASSERT_FALSE(again[0].error) << again[0].error->message();
  EXPECT_EQ(machine.said("opencode.ses_1"), Lines{"user: one"});
}

TEST(OpencodeImport, FilesComeBackByteForByte) {
  import_files(storage("storage/session/p1/ses_1.json", "storage/message/ses_1/", "storage/part/"),
               "/data/opencode/");
  auto old = storage("storage/session/info/ses_1.json", "storage/session/message/ses_1/",
                     "storage/session/part/ses_1/");
  import_files(old, "/data/opencode/project/app/");
}

// What stands around an object has no place in a line of a log.
TEST(OpencodeImport, FilesMayHaveBlanksAroundThem) {
  for (const auto& [before, behind] : std::vector<std::pair<std::string, std::string>>{
           {"", "\n"}, {"", "\r\n"}, {"", "\n\n"}, {"\n", ""}, {" ", "\t"}}) {
    SCOPED_TRACE(before + "|" + behind);
    auto files =
        storage("storage/session/p1/ses_1.json", "storage/message/ses_1/", "storage/part/");
    for (auto& [name, text] : files) text = before + text + behind;
    import_files(files, "/data/opencode/");
  }
}

// ---- exports

TEST(OpencodeImport, AnExportComesBackByteForByte) {
  const std::string text =
      "{\n  \"info\": {\"id\": \"ses_1\", \"title\": \"exported\", \"directory\": "
      "\"/data/app\"},\n  \"messages\": [\n"
      R"(    {"info": {"id":"msg_1","role":"user"}, "parts": [{"type":"text","text":"one"}]})"
      ",\n"
      R"(    {"info": {"id":"msg_2","role":"assistant"}, "parts": [{"type":"text","text":"half \ud83d"}]})"
      "\n  ]\n}\n";
  ImportMachine machine;
  machine.host.files["/x/some.json"] = text;
  const auto found = machine.find({.agents = {}, .paths = {"/x"}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  machine.import_all(found.sources);
  EXPECT_EQ(machine.said("opencode.ses_1"), (Lines{"user: one", "assistant: half \ufffd"}));
  EXPECT_EQ(machine.give("opencode.ses_1", "opencode")["some.json"], text);
  EXPECT_EQ(machine.store.sessions().describe_session("opencode.ses_1")->title, "exported");
}

// Without white space between tokens.
std::string compact(const std::string& json) {
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') in_string = !in_string;
    if (in_string || (json[i] != ' ' && json[i] != '\n')) text += json[i];
    if (in_string && json[i] == '\\') text += json[++i];
  }
  return text;
}

// The database that the program wrote, and what it exported from it.
TEST(OpencodeCorpus, DatabaseAndExportsSayTheSame) {
  const std::string place = corpora();
  if (place.empty()) return;
  const std::string recorded = place + "/recorded/opencode/1.18.33";
  auto rows = Store::open("memory:").value();
  auto exported = Store::open("memory:").value();
  const auto take = [](Store& store, const std::string& path) {
    Importer importer(store);
    auto found = importer.find({.agents = {"opencode"}, .paths = {path}, .since_ms = 0});
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE(importer
                    .run(found->sources, {},
                         [](const ImportReport& report) {
                           EXPECT_FALSE(report.error) << report.error->message();
                           return true;
                         })
                    .ok());
  };
  take(rows, recorded + "/opencode.db");
  take(exported, recorded + "/export");
  const auto sessions = exported.sessions().list_sessions({.project = ProjectScope::all()}, {});
  ASSERT_TRUE(sessions.ok());
  EXPECT_EQ(sessions->items.size(), 8u);
  for (const SessionSummary& session : sessions->items) {
    SCOPED_TRACE(session.session_id);
    const auto ours = read_conversation(rows, session.session_id, {});
    const auto theirs = read_conversation(exported, session.session_id, {});
    ASSERT_TRUE(ours.ok() && theirs.ok());
    ASSERT_GE(ours->size(), theirs->size()) << "one went on after it was exported";
    EXPECT_GT(theirs->size(), 1u);
    for (std::size_t i = 0; i < theirs->size(); ++i) {
      Message a = (*ours)[i].message;
      Message b = (*theirs)[i].message;
      a.request_id = b.request_id = {};  // a row has its id beside its data
      EXPECT_TRUE(compact(encode_message(a)) == compact(encode_message(b))) << i;
    }
  }
}

TEST(OpencodeCorpus, AllSessionsTogetherAreTheDatabase) {
  const std::string place = corpora();
  if (place.empty()) return;
  const std::string path = place + "/recorded/opencode/1.18.33/opencode.db";
  auto store = Store::open("memory:").value();
  Importer importer(store);
  auto found = importer.find({.agents = {}, .paths = {path}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->sources.size(), 9u);
  QuotedRows given;
  ASSERT_TRUE(importer
                  .run(found->sources, {},
                       [&](const ImportReport& report) {
                         EXPECT_FALSE(report.error) << report.error->message();
                         std::string image;
                         EXPECT_TRUE(
                             export_session(store, report.session_id, {.to = "opencode"},
                                            [&](const std::string&, std::string_view bytes) {
                                              image += bytes;
                                              return Result<void>();
                                            })
                                 .ok());
                         for (auto& [table, rows] : quoted_rows(image)) given[table].merge(rows);
                         return true;
                       })
                  .ok());
  std::ifstream file(path, std::ios::binary);
  const QuotedRows all = quoted_rows({std::istreambuf_iterator<char>(file), {}});
  for (const char* table : {"session", "message", "part", "todo", "event", "event_sequence"}) {
    EXPECT_EQ(given[table], all.at(table)) << table;
  }
}

}  // namespace
}  // namespace quipu
