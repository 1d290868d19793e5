// The directory is the authority, whatever views.db says; and what happens to
// sessions behind our back is seen.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sql/database.h"
#include "view_world.h"

namespace quipu::test {
namespace {

// Whoever changes a file within a tick of the clock leaves its time as it was.
void copy_time(const struct stat& from, const std::string& to) {
  const timespec times[] = {from.st_atim, from.st_mtim};
  ASSERT_EQ(0, ::utimensat(AT_FDCWD, to.c_str(), times, 0));
}

class CatalogueTest : public testing::Test {
 protected:
  CatalogueTest() : store_(std::in_place, open_store(url())) {
    for (const char* id : {"a", "b", "c"}) {
      make_session(*store_, id);
      append(*store_, id, {user(std::string("words of ") + id), answer("r", 3)});
    }
  }

  std::string url() const { return "file:" + directory_.path(); }
  std::string views() const { return directory_.path() + "/views.db"; }
  std::string log(const std::string& id) const {
    return directory_.path() + "/sessions/" + id + ".jsonl";
  }
  void reopen() {
    store_.reset();
    store_.emplace(open_store(url()));
  }
  sql::Connection raw() const {
    auto opened = sql::Connection::open(views(), {.create = false});
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }
  std::int64_t stored_rows() const {
    auto connection = raw();
    const auto rows = connection.number("SELECT count(*) FROM sessions");
    return rows.ok() ? rows->value_or(-1) : -1;
  }

  ScratchDir directory_;
  std::optional<Store> store_;
};

TEST_F(CatalogueTest, RowsAreKeptForTheNextProcess) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(3, stored_rows());
  struct stat status = {};
  ASSERT_EQ(0, ::stat(views().c_str(), &status));
  EXPECT_EQ(0600u, status.st_mode & 0777u) << "titles are for their owner";
  reopen();
  EXPECT_TRUE(list_is_right(*store_, 3));
}

TEST_F(CatalogueTest, AStoredRowIsUsedAndNotFoldedAgain) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  store_.reset();
  // The log's content changes, and everything that a survey sees stays the same:
  // a row that is read from the file still shows the old words.
  struct stat before = {};
  ASSERT_EQ(0, ::stat(log("a").c_str(), &before));
  std::string text = read_file(log("a"));
  text.replace(text.find("words of a"), 10, "WORDS OF A");
  {
    std::fstream out(log("a"), std::ios::in | std::ios::out | std::ios::binary);
    out << text;
  }
  copy_time(before, log("a"));
  store_.emplace(open_store(url()));
  const auto page = store_->sessions().list_sessions(
      {.project = ProjectScope::all(), .title_contains = "of a"}, kEverything);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(1u, page->items.size());
  EXPECT_EQ("words of a", page->items[0].title);
}

TEST_F(CatalogueTest, ListingNothingNewWritesNothing) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  const std::string before = read_file(views());
  ASSERT_TRUE(list_is_right(*store_, 3));
  reopen();
  ASSERT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(before, read_file(views()));
}

TEST_F(CatalogueTest, AppendsDoNotTouchIt) {
  append(*store_, "a", {user("more")});
  EXPECT_FALSE(std::filesystem::exists(views()));
}

TEST_F(CatalogueTest, SessionsCopiedInAndRemovedByHand) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  std::filesystem::copy_file(log("a"), log("copied"));
  EXPECT_TRUE(list_is_right(*store_, 4));
  std::filesystem::remove(log("b"));
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(3, stored_rows());
  reopen();
  EXPECT_TRUE(list_is_right(*store_, 3));
}

TEST_F(CatalogueTest, ALogReplacedByAnotherOneIsFoldedAnew) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  // The same file and longer than before, but another log.
  append(*store_, "b", {user("a longer log"), user("than the other")});
  write_file(log("a"), read_file(log("b")));
  EXPECT_TRUE(list_is_right(*store_, 3));
  std::filesystem::remove(log("a"));
  std::filesystem::copy_file(log("c"), log("a"));
  EXPECT_TRUE(list_is_right(*store_, 3));
}

TEST_F(CatalogueTest, ATornTailIsNotInTheListAndWhatComesInItsPlaceIs) {
  const std::string sound = read_file(log("a"));
  append(*store_, "a", {user("one more")});
  const std::string longer = read_file(log("a"));
  // Torn, then whole with exactly as many bytes.
  std::string torn = longer;
  torn.replace(sound.size(), std::string::npos, longer.size() - sound.size(), 'x');
  std::filesystem::remove(directory_.path() + "/sessions/a.idx");
  write_file(log("a"), torn);
  reopen();
  ASSERT_TRUE(list_is_right(*store_, 3));
  struct stat before = {};
  ASSERT_EQ(0, ::stat(log("a").c_str(), &before));
  write_file(log("a"), longer);
  copy_time(before, log("a"));
  EXPECT_TRUE(list_is_right(*store_, 3));
}

TEST_F(CatalogueTest, AForkWhoseParentIsGoneIsListedAllTheSame) {
  const auto ends = store_->sessions().session_ends("a");
  ForkOptions options;
  options.new_id = "f";
  ASSERT_TRUE(store_->sessions().branch_from_entry("a", ends->head, options).ok());
  ASSERT_TRUE(list_is_right(*store_, 4));
  std::filesystem::rename(log("a"), directory_.path() + "/a.jsonl");
  append(*store_, "b", {user("x")});
  reopen();
  append(*store_, "c", {user("x")});
  auto page = store_->sessions().list_sessions(kAllProjects, kEverything);
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(3u, page->items.size());
  std::filesystem::remove(directory_.path() + "/views.db");
  reopen();
  page = store_->sessions().list_sessions(kAllProjects, kEverything);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(3u, page->items.size());
  const auto fork = std::find_if(page->items.begin(), page->items.end(),
                                 [](const auto& session) { return session.session_id == "f"; });
  EXPECT_NE("", fork->problem);
  std::filesystem::rename(directory_.path() + "/a.jsonl", log("a"));
  EXPECT_TRUE(list_is_right(*store_, 4)) << "the problem went away without the fork changing";
}

TEST_F(CatalogueTest, DeletedWhileOpen) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  std::filesystem::remove(views());
  EXPECT_TRUE(list_is_right(*store_, 3));
  append(*store_, "a", {user("more")});
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(3, stored_rows()) << "made anew with all rows, not only the changed one";
}

TEST_F(CatalogueTest, ACopyOfTheStoreWithoutItIsWhole) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  const ScratchDir other;
  std::filesystem::copy(
      directory_.path(), other.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  {
    Store copy = open_store("file:" + other.path());
    EXPECT_TRUE(list_is_right(copy, 3)) << "with a views.db that is about other files";
  }
  std::filesystem::remove(other.path() + "/views.db");
  Store copy = open_store("file:" + other.path());
  EXPECT_TRUE(list_is_right(copy, 3));
}

TEST_F(CatalogueTest, LockedByAnotherConnection) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  auto other = raw();
  ASSERT_TRUE(other.execute("BEGIN EXCLUSIVE").ok());
  append(*store_, "a", {user("while locked")});
  EXPECT_TRUE(list_is_right(*store_, 3));
  reopen();
  EXPECT_TRUE(list_is_right(*store_, 3)) << "not even readable";
  append(*store_, "b", {user("while locked")});
  EXPECT_TRUE(list_is_right(*store_, 3));
  ASSERT_TRUE(other.execute("ROLLBACK").ok());
  EXPECT_TRUE(list_is_right(*store_, 3));
  const std::string written = read_file(views());
  reopen();
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(written, read_file(views())) << "it had been brought up to date";
}

TEST_F(CatalogueTest, AnOlderSchemaIsMadeAnew) {
  {
    sql::Connection connection = std::move(sql::Connection::open(views())).value();
    ASSERT_TRUE(connection.execute("CREATE TABLE sessions(id, something)").ok());
    ASSERT_TRUE(connection.execute("INSERT INTO sessions VALUES('zombie', 1)").ok());
  }
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(3, stored_rows());
}

TEST_F(CatalogueTest, ANewerSchemaIsLeftAlone) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  store_.reset();
  {
    auto connection = raw();
    ASSERT_TRUE(connection.execute("PRAGMA user_version=99").ok());
  }
  const std::string before = read_file(views());
  reopen();
  EXPECT_TRUE(list_is_right(*store_, 3));
  append(*store_, "a", {user("more")});
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(before, read_file(views()));
}

TEST_F(CatalogueTest, ANewerSchemaThatComesWhileItIsOpenIsLeftAloneToo) {
  ASSERT_TRUE(list_is_right(*store_, 3));
  {
    auto connection = raw();
    ASSERT_TRUE(connection.execute("PRAGMA user_version=99").ok());
  }
  const std::string before = read_file(views());
  append(*store_, "a", {user("more")});
  EXPECT_TRUE(list_is_right(*store_, 3));
  EXPECT_EQ(before, read_file(views()));
}

// Root may write everywhere: it becomes somebody else for a while.
class WithoutPrivilege {
 public:
  explicit WithoutPrivilege(const std::string& directory) {
    constexpr ::uid_t kNobody = 65534;
    if (::geteuid() != 0) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      EXPECT_EQ(0, ::chown(entry.path().c_str(), kNobody, kNobody));
    }
    EXPECT_EQ(0, ::chown(directory.c_str(), kNobody, kNobody));
    EXPECT_EQ(0, ::seteuid(kNobody));
    was_root_ = true;
  }
  ~WithoutPrivilege() {
    if (was_root_) {
      EXPECT_EQ(0, ::seteuid(0));
    }
  }

 private:
  bool was_root_ = false;
};

TEST_F(CatalogueTest, ReadOnlyDirectory) {
  for (const bool with_views : {false, true}) {
    if (with_views) {
      ASSERT_TRUE(list_is_right(*store_, 3));
    }
    append(*store_, "a", {user("not yet in views.db")});
    store_.reset();
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0555));
    if (with_views) std::filesystem::permissions(views(), std::filesystem::perms(0444));
    {
      const WithoutPrivilege reduced(directory_.path());
      ASSERT_NE(0, ::faccessat(AT_FDCWD, directory_.path().c_str(), W_OK, AT_EACCESS))
          << "or the test means nothing";
      Store reader = open_store(url());
      EXPECT_TRUE(list_is_right(reader, 3)) << with_views;
      EXPECT_TRUE(list_is_right(reader, 3)) << with_views;
    }
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
    EXPECT_EQ(with_views, std::filesystem::exists(views()));
    store_.emplace(open_store(url()));
  }
}

TEST_F(CatalogueTest, DescribesAClosedStoreNoMore) {
  ASSERT_TRUE(store_->close().ok());
  EXPECT_EQ(Code::kInvalidArgument, store_->sessions().list_sessions(kAllProjects).error().code());
}

}  // namespace
}  // namespace quipu::test
