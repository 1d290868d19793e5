// SessionStore::describe_session: what it costs, counted in entries looked at, and
// that it says what the log says whatever became of views.db.
#include <gtest/gtest.h>

#include <filesystem>

#include "fs/posix_fs.h"
#include "support/wrapped_backend.h"
#include "view/catalogue.h"
#include "view_world.h"

namespace quipu::test {
namespace {

constexpr int kLong = 1000;

std::vector<NewEntry> talk(int messages) {
  std::vector<NewEntry> entries;
  for (int i = 0; i < messages; ++i) entries.push_back(user("message " + std::to_string(i)));
  return entries;
}

/// A process of its own with the store open, its looks at entries counted.
struct Process {
  explicit Process(const std::string& directory)
      : store(open_store("file:" + directory)),
        counting(std::make_shared<CountingBackend>(store.backend())),
        catalogue(counting,
                  std::make_unique<view::ViewFile>(
                      view::Catalogue::kFile, fs::PosixFs::open(directory).value(), directory)) {}

  /// What the session says of itself, and how many entries were looked at for it.
  std::pair<SessionSummary, std::uint64_t> describe(const std::string& session) {
    counting->looked = 0;
    auto described = catalogue.describe(session);
    EXPECT_TRUE(described.ok()) << described.error().message();
    const auto folded = view::fold_session(*store.backend(), session, nullptr);
    EXPECT_TRUE(folded.ok() && folded->summary == *described);
    return {std::move(described).value(), counting->looked};
  }
  std::uint64_t list() {
    counting->looked = 0;
    EXPECT_TRUE(catalogue.list(kAllProjects, kEverything).ok());
    return counting->looked;
  }

  Store store;
  std::shared_ptr<CountingBackend> counting;
  view::Catalogue catalogue;
};

class Describe : public testing::Test {
 protected:
  std::string views() const { return directory_.path() + "/views.db"; }

  ScratchDir directory_;
};

TEST_F(Describe, ReadsWhatIsNew) {
  Process process(directory_.path());
  make_session(process.store, "s");
  append(process.store, "s", talk(kLong));
  EXPECT_GE(process.describe("s").second, 1000u) << "the first time all of it";
  EXPECT_EQ(0u, process.describe("s").second);
  append(process.store, "s", talk(3));
  const auto [summary, looked] = process.describe("s");
  EXPECT_EQ(1003u, summary.counts.messages);
  EXPECT_LE(looked, 4u) << "the new ones, and the last of the old ones";
}

TEST_F(Describe, TheNextProcessGoesOnFromTheFile) {
  {
    Process first(directory_.path());
    make_session(first.store, "s");
    append(first.store, "s", talk(kLong));
    first.describe("s");
  }
  Process second(directory_.path());
  append(second.store, "s", talk(3));
  EXPECT_LE(second.describe("s").second, 4u);
  Process third(directory_.path());
  EXPECT_LE(third.describe("s").second, 4u) << "three entries are not worth a write";
}

TEST_F(Describe, AListGoesOnFromItAndKeepsIt) {
  Process first(directory_.path());
  make_session(first.store, "s");
  make_session(first.store, "t");
  first.list();
  append(first.store, "s", talk(kLong));
  first.describe("s");
  EXPECT_EQ(1u, first.list()) << "the last entry, to see that it is still the same";
  EXPECT_EQ(0u, first.describe("s").second);
  Process second(directory_.path());
  EXPECT_EQ(0u, second.list()) << "it is in the file";
}

TEST_F(Describe, WritesNothingForAFewEntries) {
  Process process(directory_.path());
  make_session(process.store, "s");
  append(process.store, "s", talk(3));
  process.describe("s");
  EXPECT_FALSE(std::filesystem::exists(views()));
}

TEST_F(Describe, ARedactionIsSeen) {
  Process process(directory_.path());
  make_session(process.store, "s");
  append(process.store, "s", talk(3));
  EXPECT_EQ("message 0", process.describe("s").first.title);
  const auto first = process.store.sessions().load_session_entries("s")->at(1).id;
  append(process.store, "s", {entry_of("redaction", R"({"targetEntryId":")" + first + "\"}")});
  EXPECT_EQ("message 1", process.describe("s").first.title);
}

TEST_F(Describe, WhateverTheFileIs) {
  {
    Process first(directory_.path());
    make_session(first.store, "s");
    append(first.store, "s", talk(100));
    first.describe("s");
  }
  const std::string whole = read_file(views());
  for (std::size_t at = 0; at < whole.size(); at += 61) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write_file(views(), damaged);
    Process process(directory_.path());
    EXPECT_EQ(100u, process.describe("s").first.counts.messages) << "byte " << at;
  }
  write_file(views(), "no database");
  {
    Process process(directory_.path());
    EXPECT_EQ(100u, process.describe("s").first.counts.messages);
    process.list();
  }
  Process healed(directory_.path());
  EXPECT_EQ(0u, healed.describe("s").second) << "a list has mended it";
}

TEST_F(Describe, NeitherGoneNorUnreadableIsDescribed) {
  Process process(directory_.path());
  make_session(process.store, "s");
  process.list();
  std::filesystem::remove(directory_.path() + "/sessions/s.jsonl");
  EXPECT_EQ(Code::kNotFound, process.catalogue.describe("s").error().code());
}

}  // namespace
}  // namespace quipu::test
