// The search index as a file beside the logs: it can be deleted, damaged or replaced, logs can
// vanish, and the answers are those of the logs.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <random>
#include <thread>

#include "quipu/search.h"
#include "search/index_database.h"
#include "sql/database.h"
#include "support/scale.h"
#include "view_world.h"

namespace quipu::test {
namespace {

const SearchOptions kEverywhere{.sessions = {.project = ProjectScope::all()}};

class SearchFile : public testing::Test {
 protected:
  std::string url() const { return "file:" + root(); }
  std::string root() const { return directory_.path() + "/store"; }
  std::string index() const { return root() + "/index.db"; }

  static std::vector<std::string> find(SessionSearch& search, const std::string& query) {
    const auto page = search.search(query, kEverywhere, {.after = {}, .limit = 1000});
    if (!page.ok()) return {page.error().message()};
    std::vector<std::string> places;
    for (const SearchHit& hit : page->items) {
      places.push_back(hit.session_id + ":" + std::to_string(hit.ordinal));
      EXPECT_FALSE(hit.marks.empty()) << "a hit without the word";
    }
    std::sort(places.begin(), places.end());
    return places;
  }
  std::vector<std::string> find(const std::string& query) const {
    Store store = open_store(url());
    SessionSearch search(store);
    return find(search, query);
  }

  /// Everything of the index that is on the disk.
  std::string index_bytes() const {
    std::string bytes;
    for (const auto& file : std::filesystem::directory_iterator(root())) {
      if (file.path().filename().string().starts_with("index.db")) bytes += read_file(file.path());
    }
    return bytes;
  }

  using Places = std::vector<std::string>;

  ScratchDir directory_;
};

TEST_F(SearchFile, RedactedWordsAreNotInTheFile) {
  Store store = open_store(url());
  make_session(store, "s");
  append(store, "s", {user("plain xylophone"), user("the password is zzyzxsecret today")});
  SessionSearch search(store);
  ASSERT_EQ((Places{"s:2"}), find(search, "zzyzxsecret"));
  ASSERT_NE(std::string::npos, index_bytes().find("zzyzxsecret")) << "the test looks elsewhere";
  const auto ends = store.sessions().session_ends("s");
  append(store, "s", {entry_of("redaction", R"({"targetEntryId":")" + ends->head + "\"}")});
  EXPECT_EQ((Places{}), find(search, "zzyzxsecret"));
  EXPECT_EQ(std::string::npos, index_bytes().find("zzyzxsecret"));
  EXPECT_NE(std::string::npos, index_bytes().find("xylophon"));
  EXPECT_EQ((Places{"s:1"}), find(search, "xylophone"));
}

// Whoever reads keeps the database's log; what was redacted leaves it with the next search.
TEST_F(SearchFile, RedactedWordsThatAReaderKeepsGoLater) {
  Store store = open_store(url());
  make_session(store, "s");
  append(store, "s", {user("plain xylophone"), user("zzyzxsecret")});
  SessionSearch search(store);
  ASSERT_EQ((Places{"s:2"}), find(search, "zzyzxsecret"));
  const auto ends = store.sessions().session_ends("s");
  append(store, "s", {entry_of("redaction", R"({"targetEntryId":")" + ends->head + "\"}")});
  {
    auto reader = sql::Connection::open(index(), {.create = false});
    ASSERT_TRUE(reader.ok() && reader->execute("BEGIN").ok());
    ASSERT_TRUE(reader->number("SELECT count(*) FROM search_sessions").ok());
    EXPECT_EQ((Places{}), find(search, "zzyzxsecret"));
    ASSERT_NE(std::string::npos, index_bytes().find("zzyzxsecret")) << "nobody is in the way";
  }
  EXPECT_EQ((Places{"s:1"}), find("xylophone"));
  EXPECT_EQ(std::string::npos, index_bytes().find("zzyzxsecret"));
}

// A log that was replaced is indexed again, and what it said before is still there.
TEST_F(SearchFile, RedactedWordsOfReplacedLogsAreNotInTheFile) {
  Store store = open_store(url());
  for (const char* id : {"r", "s"}) {
    make_session(store, id);
    append(store, id, {user("plain xylophone"), user(std::string(id) + "zzyzxsecret")});
  }
  SessionSearch search(store);
  ASSERT_EQ((Places{"s:2"}), find(search, "szzyzxsecret"));
  const std::string log = root() + "/sessions/s.jsonl";
  std::filesystem::copy_file(log, log + ".copy");
  std::filesystem::rename(log + ".copy", log);
  ASSERT_EQ((Places{"s:2"}), find("szzyzxsecret"));
  std::filesystem::remove(root() + "/sessions/r.jsonl");
  ASSERT_EQ((Places{}), find("rzzyzxsecret"));
  ASSERT_NE(std::string::npos, index_bytes().find("rzzyzxsecret")) << "the test looks elsewhere";

  Store again = open_store(url());
  const auto ends = again.sessions().session_ends("s");
  append(again, "s", {entry_of("redaction", R"({"targetEntryId":")" + ends->head + "\"}")});
  EXPECT_EQ((Places{}), find("szzyzxsecret"));
  EXPECT_EQ((Places{"s:1"}), find("xylophone"));
  for (const char* word : {"szzyzxsecret", "rzzyzxsecret"}) {
    EXPECT_EQ(std::string::npos, index_bytes().find(word)) << word;
  }
}

TEST_F(SearchFile, ASessionThatIsGoneIsNotFound) {
  Store store = open_store(url());
  for (const char* id : {"a", "b"}) {
    make_session(store, id);
    append(store, id, {user("ocarina")});
  }
  SessionSearch search(store);
  EXPECT_EQ((Places{"a:1", "b:1"}), find(search, "ocarina"));
  std::filesystem::remove(root() + "/sessions/a.jsonl");
  EXPECT_EQ((Places{"b:1"}), find(search, "ocarina"));
  EXPECT_EQ((Places{"b:1"}), find("ocarina"));
}

TEST_F(SearchFile, ALogThatWasReplacedIsReadAnew) {
  ScratchDir elsewhere;
  {
    Store other = open_store("file:" + elsewhere.path());
    make_session(other, "a");
    append(other, "a", {user("first"), user("siku")});
  }
  {
    Store store = open_store(url());
    make_session(store, "a");
    append(store, "a", {user("ocarina")});
    SessionSearch search(store);
    EXPECT_EQ((Places{"a:1"}), find(search, "ocarina"));
  }
  std::filesystem::remove(root() + "/sessions/a.jsonl");
  std::filesystem::copy_file(elsewhere.path() + "/sessions/a.jsonl", root() + "/sessions/a.jsonl");
  EXPECT_EQ((Places{}), find("ocarina"));
  EXPECT_EQ((Places{"a:2"}), find("siku"));
}

TEST_F(SearchFile, ALogThatWasTouchedIsNotReadAnew) {
  Store store = open_store(url());
  make_session(store, "a");
  append(store, "a", {user("ocarina")});
  SessionSearch search(store);
  EXPECT_EQ(1u, search.refresh().value().entries);
  const std::string log = root() + "/sessions/a.jsonl";
  std::filesystem::last_write_time(log,
                                   std::filesystem::last_write_time(log) + std::chrono::hours(1));
  EXPECT_EQ(0u, search.refresh().value().entries);
  EXPECT_EQ((Places{"a:1"}), find(search, "ocarina"));
}

TEST_F(SearchFile, AnIndexOfWhatIsGoneIsMadeAnew) {
  Store store = open_store(url());
  SessionSearch search(store);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 80; ++i) {
      const std::string id = "s" + std::to_string(round) + "-" + std::to_string(i);
      make_session(store, id);
      append(store, id, {user("ocarina")});
    }
    EXPECT_EQ(80u, find(search, "ocarina").size());
    for (int i = 0; i < 80; ++i) {
      std::filesystem::remove(root() + "/sessions/s" + std::to_string(round) + "-" +
                              std::to_string(i) + ".jsonl");
    }
  }
  EXPECT_EQ((Places{}), find(search, "ocarina"));
  make_session(store, "last");
  append(store, "last", {user("ocarina")});
  EXPECT_EQ((Places{"last:1"}), find(search, "ocarina"));
  EXPECT_EQ((Places{"last:1"}), find("ocarina"));
}

TEST_F(SearchFile, WhileOthersWriteItAnswersAsItIs) {
  Store store = open_store(url());
  make_session(store, "s");
  append(store, "s", {user("zampona")});
  SessionSearch search(store);
  EXPECT_EQ((Places{"s:1"}), find(search, "zampona"));
  append(store, "s", {user("zampona")});
  std::promise<void> is_held;
  std::promise<void> is_done;
  std::thread other([&] {
    Store others = open_store(url());
    const auto engine = others.indexes()->lease();
    const auto turn = (*engine)->turn();
    EXPECT_TRUE(turn.ok());
    is_held.set_value();
    is_done.get_future().wait();
  });
  is_held.get_future().wait();
  EXPECT_EQ((Places{"s:1"}), find(search, "zampona"));
  is_done.set_value();
  other.join();
  EXPECT_EQ((Places{"s:1", "s:2"}), find(search, "zampona"));
}

TEST_F(SearchFile, WithoutTheFileItIsMadeAgain) {
  {
    Store store = open_store(url());
    make_session(store, "s");
    append(store, "s", {user("zampona")});
  }
  EXPECT_EQ((Places{"s:1"}), find("zampona"));
  for (const char* name : {"index.db", "index.db-wal", "index.db-shm"}) {
    std::filesystem::remove(root() + "/" + name);
  }
  EXPECT_EQ((Places{"s:1"}), find("zampona"));
  EXPECT_TRUE(std::filesystem::exists(index()));
}

TEST_F(SearchFile, WhereItCannotBeWrittenThereIsAnAnswer) {
  Store store = open_store(url());
  make_session(store, "s");
  append(store, "s", {user("zampona")});
  std::filesystem::create_directories(index() + "/in-the-way");
  EXPECT_EQ((Places{"s:1"}), find("zampona"));
}

class SearchDamage : public SearchFile {
 protected:
  SearchDamage() {
    Store store = open_store(url());
    std::mt19937 random(3);
    for (const char* id : {"a", "b", "c"}) {
      make_session(store, id);
      for (int i = 0; i < 20; ++i) {
        std::string text = "marker" + std::to_string(i % 5);
        for (int n = 0; n < 12; ++n) text += " w" + std::to_string(random() % 200);
        append(store, id, {user(text)});
      }
    }
    {
      SessionSearch search(store);
      for (const char* query : kQueries) right_[query] = find(search, query);
    }
    EXPECT_TRUE(store.close().ok());
    auto connection = sql::Connection::open(index(), {.create = false});
    EXPECT_TRUE(connection.ok() && connection->number("PRAGMA wal_checkpoint(TRUNCATE)").ok());
  }

  static constexpr const char* kQueries[] = {"marker3", "w7 w8", "w1*", "\"nothing here\""};
  std::map<std::string, Places> right_;
};

// Of the words themselves SQLite keeps no sums: damage there that looks like words is found
// by nobody. Whatever is found is there.
TEST_F(SearchDamage, AnyByteFlipped) {
  const std::string sound = read_file(index());
  ASSERT_FALSE(sound.empty());
  std::mt19937 random(9);
  const auto stride = static_cast<std::size_t>(211 / test_scale()) | 1;
  std::size_t tried = 0;
  std::size_t wrong = 0;
  for (std::size_t at = random() % stride; at < sound.size(); at += stride) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    std::filesystem::remove(index() + "-wal");
    std::filesystem::remove(index() + "-shm");
    write_file(index(), bytes);
    Store store = open_store(url());
    SessionSearch search(store);
    ++tried;
    bool is_right = true;
    for (const auto& [query, places] : right_) {
      const Places found = find(search, query);
      is_right = is_right && found == places;
      for (const std::string& place : found) {
        EXPECT_NE(places.end(), std::find(places.begin(), places.end(), place))
            << "byte " << at << ": " << query << " " << place;
      }
    }
    if (is_right) continue;
    ++wrong;
    ASSERT_TRUE(search.rebuild().ok()) << "byte " << at;
    for (const auto& [query, places] : right_) {
      EXPECT_EQ(places, find(search, query)) << "byte " << at;
    }
  }
  RecordProperty("tried", static_cast<int>(tried));
  RecordProperty("wrong", static_cast<int>(wrong));
  EXPECT_GT(tried, sound.size() / stride - 1);
}

TEST_F(SearchDamage, CutOff) {
  const std::string sound = read_file(index());
  for (std::size_t part = 0; part < 8; ++part) {
    std::filesystem::remove(index() + "-wal");
    std::filesystem::remove(index() + "-shm");
    write_file(index(), sound.substr(0, sound.size() * part / 8));
    for (const auto& [query, places] : right_) EXPECT_EQ(places, find(query)) << part;
  }
  write_file(index(), std::string(100'000, 'x'));
  for (const auto& [query, places] : right_) EXPECT_EQ(places, find(query));
}

}  // namespace
}  // namespace quipu::test
