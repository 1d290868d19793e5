// The store as a caller meets it: making, reading, forking, closing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/history_store.h"

namespace quipu::test {
namespace {

namespace stdfs = std::filesystem;

NewEntry said(const std::string& role, const std::string& text) {
  NewEntry entry;
  entry.type = "message";
  entry.payload = R"({"role":")" + role + R"(","content":")" + text + "\"}";
  return entry;
}

Result<AppendResult> append(SessionStore& sessions, const std::string& id,
                            const std::vector<NewEntry>& entries, AppendOptions options = {}) {
  return sessions.append_session_entries(id, entries, options);
}

class Usage : public ::testing::TestWithParam<bool> {
 protected:
  std::string url() const { return GetParam() ? "file:" + scratch_.path() + "/store" : "memory:"; }

  Store open() {
    StoreOptions options;
    options.create = true;
    auto store = Store::open(url(), options);
    if (!store.ok()) ADD_FAILURE() << store.error().message();
    return std::move(store).value();
  }

  ScratchDir scratch_;
};

TEST_P(Usage, AConversation) {
  Store store = open();
  SessionStore& sessions = store.sessions();
  const auto session = sessions.create_session();
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(is_session_id(session->session_id));
  EXPECT_EQ(36u, session->session_id.size());
  EXPECT_EQ(1, session->schema_version);

  const auto asked = append(sessions, session->session_id, {said("user", "hi")});
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(session->session_id, asked->session_id);
  const auto answered = append(sessions, session->session_id, {said("assistant", "hello")});
  ASSERT_TRUE(answered.ok());
  EXPECT_EQ(1u, answered->appended_count);
  EXPECT_EQ(0u, answered->already_present);

  const auto fork = sessions.branch_from_entry(session->session_id, asked->last_appended_entry_id);
  ASSERT_TRUE(fork.ok()) << fork.error().message();
  EXPECT_NE(session->session_id, fork->session_id);
  ASSERT_TRUE(append(sessions, fork->session_id, {said("assistant", "good day")}).ok());

  const auto tree = sessions.session_tree(fork->session_id);
  ASSERT_TRUE(tree.ok());
  const auto head = tree->head();
  ASSERT_TRUE(head.has_value());
  std::string story;
  const auto entries = sessions.load_session_entries(fork->session_id);
  for (const auto ordinal : tree->path(*head)) story += (*entries)[ordinal].payload;
  EXPECT_EQ(R"({"role":"user","content":"hi"}{"role":"assistant","content":"good day"})", story);
  EXPECT_EQ(2u, sessions.session_ids()->size());
}

TEST_P(Usage, TheHeaderSaysWhatItWasTold) {
  Store store = open();
  NewSession wanted;
  wanted.id = "s1";
  wanted.cwd = "/home/some \"body\"";
  wanted.title = "Ein Titel: ключ";
  wanted.agent_id = "agent";
  wanted.preset_id = "preset";
  wanted.project_id = "project";
  ASSERT_TRUE(store.sessions().create_session(wanted).ok());
  const auto entries = store.sessions().load_session_entries("s1");
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(1u, entries->size());
  const auto& header = entries->front();
  EXPECT_EQ("session_header", header.type);
  EXPECT_TRUE(header.is_fact);
  for (const char* part :
       {R"("version":1)", R"("sessionId":"s1")", R"("cwd":"/home/some \"body\"")",
        R"("title":"Ein Titel: ключ")", R"("agentId":"agent")", R"("presetId":"preset")",
        R"("projectId":"project")"}) {
    EXPECT_NE(std::string::npos, header.payload.find(part)) << header.payload;
  }
  const auto summary = store.sessions().describe_session("s1");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ("/home/some \"body\"", summary->cwd);
  EXPECT_EQ("Ein Titel: ключ", summary->title);
  EXPECT_EQ(header.timestamp, summary->created);
  EXPECT_EQ(header.id, summary->tail);
  EXPECT_EQ("", summary->head);
  EXPECT_EQ(1, summary->schema_version);
  EXPECT_EQ(0u, summary->damaged);
}

TEST_P(Usage, AForkNamesItsParentInTheHeader) {
  Store store = open();
  SessionStore& sessions = store.sessions();
  NewSession wanted;
  wanted.id = "s1";
  wanted.cwd = "/home/ada/project";
  ASSERT_TRUE(sessions.create_session(wanted).ok());
  NewEntry entry = said("user", "hi");
  entry.id = "a";
  ASSERT_TRUE(append(sessions, "s1", {entry}).ok());
  ForkOptions options;
  options.new_id = "f1";
  ASSERT_TRUE(sessions.branch_from_entry("s1", "a", options).ok());
  const auto entries = sessions.load_session_entries("f1");
  ASSERT_EQ(2u, entries->size());
  const auto& payload = (*entries)[1].payload;
  EXPECT_NE(std::string::npos, payload.find(R"("parentSession":{"sessionId":"s1","entryId":"a"})"))
      << payload;
  EXPECT_NE(std::string::npos, payload.find(R"("sessionId":"f1")")) << payload;
  EXPECT_EQ("s1", sessions.describe_session("f1")->parent_session);
  EXPECT_EQ("", sessions.describe_session("s1")->parent_session);
}

TEST_P(Usage, TheLastTitleWins) {
  Store store = open();
  SessionStore& sessions = store.sessions();
  NewSession wanted;
  wanted.id = "s1";
  wanted.title = "first";
  ASSERT_TRUE(sessions.create_session(wanted).ok());
  for (const char* title : {"second", "third"}) {
    NewEntry info;
    info.type = "session_info";
    info.payload = std::string(R"({"title":")") + title + "\"}";
    ASSERT_TRUE(append(sessions, "s1", {info, said("user", title)}).ok());
    EXPECT_EQ(title, sessions.describe_session("s1")->title);
  }
}

TEST_P(Usage, RangesAndStreams) {
  Store store = open();
  SessionStore& sessions = store.sessions();
  NewSession wanted;
  wanted.id = "s1";
  ASSERT_TRUE(sessions.create_session(wanted).ok());
  std::vector<NewEntry> batch;
  for (int i = 0; i < 9; ++i) batch.push_back(said("user", std::to_string(i)));
  ASSERT_TRUE(append(sessions, "s1", batch).ok());

  const auto all = sessions.load_session_entries("s1");
  ASSERT_EQ(10u, all->size());
  for (std::uint32_t first = 0; first <= 12; ++first) {
    for (const std::uint32_t count : {0U, 1U, 3U, 100U, 0xffffffffU}) {
      EntryRange range;
      range.first = first;
      range.count = count;
      const auto some = sessions.load_session_entries("s1", range);
      ASSERT_TRUE(some.ok()) << some.error().message();
      const std::size_t left = first < all->size() ? all->size() - first : 0;
      ASSERT_EQ(std::min<std::size_t>(left, count), some->size());
      for (std::size_t i = 0; i < some->size(); ++i) {
        EXPECT_EQ((*all)[first + i].json, (*some)[i].json);
      }
    }
  }

  // A reader sees the session as it was when it was made.
  auto reader = sessions.read_session("s1");
  ASSERT_TRUE(reader.ok());
  const auto tree = sessions.session_tree("s1");
  ASSERT_TRUE(append(sessions, "s1", {said("user", "later")}).ok());
  std::size_t seen = 0;
  for (auto entry = reader->next(); entry.ok() && entry->has_value(); entry = reader->next()) {
    ++seen;
  }
  EXPECT_EQ(10u, seen);
  EXPECT_EQ(10u, tree->size());
  EXPECT_EQ(11u, sessions.session_tree("s1")->size());
}

TEST_P(Usage, AClosedStoreAnswersNothing) {
  Store store = open();
  SessionStore& sessions = store.sessions();
  NewSession wanted;
  wanted.id = "s1";
  ASSERT_TRUE(sessions.create_session(wanted).ok());
  AppendOptions relaxed;
  relaxed.durability = Durability::kRelaxed;
  ASSERT_TRUE(append(sessions, "s1", {said("user", "hi")}, relaxed).ok());
  ASSERT_TRUE(store.close().ok());

  const auto refused = [](const auto& result) {
    return !result.ok() && result.error().code() == Code::kInvalidArgument;
  };
  EXPECT_TRUE(refused(sessions.create_session()));
  EXPECT_TRUE(refused(append(sessions, "s1", {said("user", "again")})));
  EXPECT_TRUE(refused(sessions.load_session_entries("s1")));
  EXPECT_TRUE(refused(sessions.read_session("s1")));
  EXPECT_TRUE(refused(sessions.session_tree("s1")));
  EXPECT_TRUE(refused(sessions.describe_session("s1")));
  EXPECT_TRUE(refused(sessions.session_ids()));
  EXPECT_TRUE(refused(sessions.branch_from_entry("s1", "a")));
}

INSTANTIATE_TEST_SUITE_P(Store, Usage, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& one) {
                           return std::string(one.param ? "Files" : "Memory");
                         });

TEST(UsageOfFiles, SuccessSaysWhetherItIsDurable) {
  const ScratchDir scratch;
  StoreTarget target(scratch.path() + "/store", Door::kEntries);
  ASSERT_TRUE(target.create("s1").ok());
  AppendOptions options;
  EXPECT_TRUE(append(target.api(), "s1", {said("user", "1")}, options)->durable);
  options.durability = Durability::kRelaxed;
  EXPECT_FALSE(append(target.api(), "s1", {said("user", "2")}, options)->durable);
}

TEST(UsageOfFiles, TheLogIsPlainJsonl) {
  const ScratchDir scratch;
  StoreTarget target(scratch.path() + "/store", Door::kLines);
  ASSERT_TRUE(target.create("s1").ok());
  ASSERT_TRUE(target.append("s1", {R"({"id":"a","type":"message","payload":{}})"}, {}).ok());
  std::ifstream log(scratch.path() + "/store/sessions/s1.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  ASSERT_EQ(2u, lines.size());
  EXPECT_EQ(0u, lines[1].find(R"({"parentId":null,"timestamp":")" + std::string(kNow) +
                              R"(","id":"a","type":"message","payload":{},"_tx":"0000.)"))
      << lines[1];
}

TEST(UsageOfFiles, WithoutClosingNothingAcknowledgedIsLost) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  {
    StoreTarget target(path, Door::kLines);
    ASSERT_TRUE(target.create("s1").ok());
    ASSERT_TRUE(target.append("s1", {R"({"id":"a","type":"message","payload":{}})"}, {}).ok());
  }
  StoreTarget target(path, Door::kLines);
  const auto view = target.view("s1");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ("a", view->tail);
}

// A fork is a reference: its cost does not grow with what it refers to.
TEST(UsageOfFiles, AForkCopiesNothing) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  StoreTarget target(path, Door::kEntries);
  ASSERT_TRUE(target.create("s1").ok());
  const std::string big(1 << 20, 'x');
  NewEntry entry = said("user", big);
  entry.id = "a";
  ASSERT_TRUE(append(target.api(), "s1", {entry}).ok());
  ForkOptions options;
  options.new_id = "f1";
  ASSERT_TRUE(target.fork("s1", "a", options).ok());
  EXPECT_LT(stdfs::file_size(path + "/sessions/f1.jsonl"), 4096u);
  options = {};
  options.new_id = "d1";
  options.detach = true;
  ASSERT_TRUE(target.fork("s1", "a", options).ok());
  EXPECT_GT(stdfs::file_size(path + "/sessions/d1.jsonl"), big.size());

  // Alone in the world.
  target.reopen();
  stdfs::remove(path + "/sessions/s1.jsonl");
  StoreTarget other(path, Door::kEntries);
  const auto alone = other.view("d1");
  ASSERT_TRUE(alone.ok()) << alone.error().message();
  EXPECT_EQ("a", alone->head);

  // Without its parent a fork says so, and does not pretend to be shorter.
  const auto broken = other.view("f1");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(Code::kCorrupt, broken.error().code());
}

}  // namespace
}  // namespace quipu::test
