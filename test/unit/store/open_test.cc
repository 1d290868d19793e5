// Store::open: what can't be opened is an error at once, and nothing is made.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "support/history_store.h"

namespace quipu::test {
namespace {

namespace stdfs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Every path below `directory`, with the contents of files.
std::set<std::string> everything_in(const std::string& directory) {
  std::set<std::string> out;
  for (const auto& entry : stdfs::recursive_directory_iterator(directory)) {
    const std::string path = entry.path().string();
    out.insert(path + (entry.is_regular_file() ? "=" + read_file(path) : "/"));
  }
  return out;
}

Code open_code(const std::string& url, bool create = false) {
  StoreOptions options;
  options.create = create;
  const auto store = Store::open(url, options);
  EXPECT_FALSE(store.ok()) << url;
  if (store.ok()) return Code::kInternal;
  EXPECT_FALSE(store.error().message().empty());
  EXPECT_FALSE(store.error().hint().empty());
  return store.error().code();
}

std::string make_store(const std::string& path) {
  StoreOptions options;
  options.create = true;
  auto store = Store::open("file:" + path, options);
  EXPECT_TRUE(store.ok()) << store.error().message();
  EXPECT_TRUE(store->close().ok());
  return store->id();
}

TEST(StoreOpen, NothingThere) {
  const ScratchDir scratch;
  EXPECT_EQ(Code::kNotFound, open_code("file:" + scratch.path() + "/store"));
  EXPECT_EQ(Code::kNotFound, open_code(scratch.path() + "/store"));
  EXPECT_TRUE(everything_in(scratch.path()).empty());
}

TEST(StoreOpen, ADirectoryThatIsSomethingElse) {
  const ScratchDir scratch;
  write_file(scratch.path() + "/thesis.txt", "years of work");
  const auto before = everything_in(scratch.path());
  EXPECT_EQ(Code::kInvalidArgument, open_code("file:" + scratch.path()));
  EXPECT_EQ(Code::kInvalidArgument, open_code("file:" + scratch.path(), true));
  EXPECT_EQ(before, everything_in(scratch.path()));
}

TEST(StoreOpen, AnEmptyDirectoryBecomesAStoreOnlyWhenAsked) {
  const ScratchDir scratch;
  const Code code = open_code("file:" + scratch.path());
  EXPECT_TRUE(code == Code::kNotFound || code == Code::kInvalidArgument) << name(code);
  EXPECT_TRUE(everything_in(scratch.path()).empty());
  EXPECT_FALSE(make_store(scratch.path()).empty());
}

TEST(StoreOpen, AFileInsteadOfADirectory) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  write_file(path, "a file");
  EXPECT_EQ(Code::kInvalidArgument, open_code("file:" + path));
  EXPECT_EQ(Code::kInvalidArgument, open_code("file:" + path, true));
  EXPECT_EQ("a file", read_file(path));
}

TEST(StoreOpen, AFileOnTheWay) {
  const ScratchDir scratch;
  write_file(scratch.path() + "/file", "a file");
  for (const bool create : {false, true}) {
    StoreOptions options;
    options.create = create;
    EXPECT_FALSE(Store::open("file:" + scratch.path() + "/file/store", options).ok());
  }
}

TEST(StoreOpen, UnknownUrl) {
  for (const char* url : {"ftp://host/store", "bogus://x", "https://example.com/store"}) {
    EXPECT_EQ(Code::kUnsupported, open_code(url)) << url;
    EXPECT_EQ(Code::kUnsupported, open_code(url, true)) << url;
  }
  EXPECT_EQ(Code::kInvalidArgument, open_code(""));
  EXPECT_EQ(Code::kInvalidArgument, open_code("", true));
  const ScratchDir scratch;
  const std::string with_nul = "file:" + scratch.path() + std::string("/a\0b", 4);
  EXPECT_EQ(Code::kInvalidArgument, open_code(with_nul, true));
  EXPECT_TRUE(everything_in(scratch.path()).empty());
}

TEST(StoreOpen, ANewerVersionIsUnsupportedAndUntouched) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  make_store(path);
  const std::string text = read_file(path + "/quipu.json");
  const std::regex version("(\"format\"\\s*:\\s*)[0-9]+");
  ASSERT_TRUE(std::regex_search(text, version)) << text;
  write_file(path + "/quipu.json", std::regex_replace(text, version, "$01999"));
  const auto before = everything_in(path);
  EXPECT_EQ(Code::kUnsupported, open_code("file:" + path));
  EXPECT_EQ(Code::kUnsupported, open_code("file:" + path, true));
  EXPECT_EQ(before, everything_in(path));
}

TEST(StoreOpen, ADamagedMarkIsRefusedAndUntouched) {
  for (const char* text : {"", "{", "[]", "null", "{}", "{\"version\":\"one\"}", "\xff\xfe"}) {
    const ScratchDir scratch;
    const std::string path = scratch.path() + "/store";
    make_store(path);
    write_file(path + "/quipu.json", text);
    const auto before = everything_in(path);
    for (const bool create : {false, true}) {
      const Code code = open_code("file:" + path, create);
      EXPECT_TRUE(code == Code::kCorrupt || code == Code::kInvalidArgument) << name(code) << text;
    }
    EXPECT_EQ(before, everything_in(path)) << text;
  }
}

TEST(StoreOpen, AgainIsTheSameStore) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/deep/down/store";
  stdfs::create_directories(scratch.path() + "/deep/down");
  const std::string id = make_store(path);
  EXPECT_FALSE(id.empty());
  EXPECT_EQ(id, make_store(path));
  auto plain = Store::open(path);
  ASSERT_TRUE(plain.ok()) << plain.error().message();
  EXPECT_EQ(id, plain->id());
  EXPECT_NE(id, make_store(scratch.path() + "/other"));
}

TEST(StoreOpen, MemoryStoresAreSeparate) {
  auto one = Store::open("memory:");
  auto two = Store::open("memory:");
  ASSERT_TRUE(one.ok() && two.ok());
  ASSERT_TRUE(one->sessions().create_session().ok());
  EXPECT_EQ(1u, one->sessions().session_ids()->size());
  EXPECT_EQ(0u, two->sessions().session_ids()->size());
  EXPECT_NE(one->id(), two->id());
}

// Runs `body` in a process without privileges. False: the system does not
// allow to become such a process.
bool unprivileged(const std::function<int()>& body, int& code) {
  constexpr int kCannot = 99;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool root = ::geteuid() == 0;
    if (root && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(kCannot);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code != kCannot;
}

TEST(StoreOpen, NoPermission) {
  const ScratchDir scratch;
  const std::string locked = scratch.path() + "/locked";
  make_store(locked + "-store");
  stdfs::create_directory(locked);
  stdfs::permissions(scratch.path(), stdfs::perms(0755));
  stdfs::permissions(locked, stdfs::perms(0555));
  stdfs::permissions(locked + "-store", stdfs::perms(0000));
  const auto open_in_child = [](const std::string& url, bool create) {
    StoreOptions options;
    options.create = create;
    const auto store = Store::open(url, options);
    return store.ok() ? 50 : static_cast<int>(store.error().code());
  };
  int code = 0;
  if (unprivileged([&] { return open_in_child("file:" + locked + "/store", true); }, code)) {
    EXPECT_EQ(static_cast<int>(Code::kNotAllowed), code);
  }
  if (unprivileged([&] { return open_in_child("file:" + locked + "-store", false); }, code)) {
    EXPECT_EQ(static_cast<int>(Code::kNotAllowed), code);
  }
  stdfs::permissions(locked + "-store", stdfs::perms(0700));
}

TEST(StoreOpen, FilesAreForTheOwnerOnly) {
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  StoreTarget target(path, Door::kLines);
  ASSERT_TRUE(target.create("s1").ok());
  ASSERT_TRUE(target.append("s1", {R"({"type":"message","payload":{}})"}, {}).ok());
  ASSERT_TRUE(target.view("s1").ok());
  for (const auto& entry : stdfs::recursive_directory_iterator(path)) {
    const auto others = entry.status().permissions() & stdfs::perms(0077);
    EXPECT_EQ(stdfs::perms::none, others) << entry.path();
  }
}

// What is committed to a database that has lost its name would be found by nobody.
TEST(StoreOpen, ADatabaseThatIsMovedAwayTakesNothing) {
  const ScratchDir scratch;
  const std::string file = scratch.path() + "/s.db";
  StoreOptions options;
  options.create = true;
  auto store = Store::open("sqlite:" + file, options);
  ASSERT_TRUE(store.ok()) << store.error().message();
  ASSERT_TRUE(store->sessions().create_session({.id = "s"}).ok());
  const auto append = [&](std::string_view line) {
    return store->sessions().append_session_lines("s", {&line, 1});
  };
  ASSERT_TRUE(append(R"({"id":"a","type":"message","payload":{}})").ok());
  stdfs::rename(file, file + ".away");
  const auto refused = append(R"({"id":"b","type":"message","payload":{}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kStorageGone);
  stdfs::rename(file + ".away", file);
  EXPECT_TRUE(append(R"({"id":"b","type":"message","payload":{}})").ok());
}

}  // namespace
}  // namespace quipu::test
