// Whatever happens to the bytes of views.db, the list is right and complete, and
// the next one finds a sound file again.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "sql/database.h"
#include "view_world.h"

namespace quipu::test {
namespace {

class Damage : public testing::Test {
 protected:
  Damage() {
    Store store = open_store(url());
    for (const char* id : {"a", "b", "c"}) {
      make_session(store, id);
      append(store, id, {user(std::string("words of ") + id), answer("r", 3)});
    }
    EXPECT_TRUE(list_is_right(store, 3));
    sound_ = read_file(views());
  }

  std::string url() const { return "file:" + directory_.path(); }
  std::string views() const { return directory_.path() + "/views.db"; }

  testing::AssertionResult lists_with(std::string_view bytes) {
    write_file(views(), bytes);
    Store store = open_store(url());
    if (const auto right = list_is_right(store, 3); !right) return right;
    return list_is_right(store, 3);
  }
  bool is_healed() const {
    auto connection = sql::Connection::open(views(), {.create = false});
    if (!connection.ok()) return false;
    const auto rows = connection->number("SELECT count(*) FROM sessions");
    return rows.ok() && *rows == 3;
  }

  ScratchDir directory_;
  std::string sound_;
};

double scale() {
  const char* given = std::getenv("QUIPU_TEST_SCALE");
  return given == nullptr ? 1.0 : std::atof(given);
}

TEST_F(Damage, AnyByteFlipped) {
  ASSERT_FALSE(sound_.empty());
  ASSERT_LE(sound_.size(), 16384u);
  std::mt19937 random(7);
  std::size_t tried = 0;
  for (std::size_t at = 0; at < sound_.size(); ++at) {
    if (scale() < 1 && random() % 16 != 0) continue;
    std::string bytes = sound_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    ASSERT_TRUE(lists_with(bytes)) << "byte " << at;
    ++tried;
  }
  EXPECT_GT(tried, sound_.size() / 32);
}

TEST_F(Damage, AnyByteOfARowFlippedIsHealed) {
  const std::size_t row = sound_.find("words of b");
  ASSERT_NE(std::string::npos, row);
  for (std::size_t at = row; at < row + 9; ++at) {
    std::string bytes = sound_;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_TRUE(lists_with(bytes));
    EXPECT_TRUE(is_healed());
    EXPECT_EQ(std::string::npos, read_file(views()).find(bytes.substr(row, 10)));
  }
}

TEST_F(Damage, CutOffAtEveryPageAndInBetween) {
  for (std::size_t size = 0; size < sound_.size(); size += 512) {
    ASSERT_TRUE(lists_with(std::string_view(sound_).substr(0, size))) << size;
    EXPECT_TRUE(is_healed()) << size;
    ASSERT_TRUE(lists_with(std::string_view(sound_).substr(0, size + 100))) << size;
  }
}

TEST_F(Damage, ReplacedByGarbage) {
  std::mt19937 random(3);
  for (const std::size_t size : {1u, 99u, 4096u, 20000u}) {
    std::string garbage(size, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    ASSERT_TRUE(lists_with(garbage)) << size;
    EXPECT_TRUE(is_healed());
  }
  ASSERT_TRUE(lists_with(sound_.substr(0, 100) + std::string(8000, '\xff')));
  EXPECT_TRUE(is_healed());
}

TEST_F(Damage, ReplacedByADirectory) {
  std::filesystem::remove(views());
  std::filesystem::create_directories(views() + "/keep");
  Store store = open_store(url());
  EXPECT_TRUE(list_is_right(store, 3));
  append(store, "a", {user("more")});
  EXPECT_TRUE(list_is_right(store, 3));
  EXPECT_TRUE(std::filesystem::exists(views() + "/keep")) << "nobody's directory is deleted";
}

TEST_F(Damage, ADirectoryInPlaceOfTheJournal) {
  std::filesystem::create_directory(views() + "-journal");
  Store store = open_store(url());
  append(store, "a", {user("more")});
  EXPECT_TRUE(list_is_right(store, 3));
}

TEST_F(Damage, AnotherPrograms) {
  std::filesystem::remove(views());
  {
    auto other = sql::Connection::open(views());
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other->execute("CREATE VIEW sessions AS SELECT 1; PRAGMA user_version=1").ok());
  }
  Store store = open_store(url());
  EXPECT_TRUE(list_is_right(store, 3));
  EXPECT_TRUE(is_healed());
}

TEST_F(Damage, RowsThatLieAreFoundByTheirChecksum) {
  for (const char* change :
       {"UPDATE sessions SET record=replace(record, 'words', 'WORDS')",
        "UPDATE sessions SET tail_crc=tail_crc+1", "UPDATE sessions SET entries=1",
        "UPDATE sessions SET session_id='z' WHERE session_id='a'", "DELETE FROM sessions",
        "UPDATE sessions SET crc=NULL", "UPDATE sessions SET record=NULL"}) {
    write_file(views(), sound_);
    {
      auto connection = sql::Connection::open(views());
      ASSERT_TRUE(connection.ok());
      ASSERT_TRUE(connection->execute(change).ok()) << change;
    }
    Store store = open_store(url());
    EXPECT_TRUE(list_is_right(store, 3)) << change;
    EXPECT_TRUE(is_healed()) << change;
  }
}

TEST_F(Damage, WhileItIsOpen) {
  Store store = open_store(url());
  ASSERT_TRUE(list_is_right(store, 3));
  for (const std::size_t at : {0u, 20u, 100u, 4100u, 5000u}) {
    std::string bytes = read_file(views());
    bytes.resize(std::max<std::size_t>(bytes.size(), 8192));
    for (std::size_t i = at; i < at + 64; ++i) bytes[i] = '\xee';
    {
      std::fstream out(views(), std::ios::in | std::ios::out | std::ios::binary);
      out << bytes;
    }
    append(store, "a", {user("more")});
    ASSERT_TRUE(list_is_right(store, 3)) << at;
    Store fresh = open_store(url());
    ASSERT_TRUE(list_is_right(fresh, 3)) << at;
  }
}

}  // namespace
}  // namespace quipu::test
