// Hostile session ids: a clean refusal, and nothing outside of sessions/.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/history_store.h"

namespace quipu::test {
namespace {

namespace stdfs = std::filesystem;

std::vector<std::string> wicked_pieces() {
  std::vector<std::string> pieces = {"..",
                                     ".",
                                     "/",
                                     "\\",
                                     "../",
                                     "..\\",
                                     "/etc/passwd",
                                     "~",
                                     "$HOME",
                                     "%2e%2e%2f",
                                     "..%2f",
                                     "C:",
                                     "C:\\",
                                     "\\\\host\\share",
                                     "file:",
                                     "CON",
                                     "con",
                                     "PRN",
                                     "AUX",
                                     "NUL",
                                     "COM1",
                                     "LPT9",
                                     "nul.txt",
                                     "CON.jsonl",
                                     "a.",
                                     " a",
                                     "a ",
                                     " ",
                                     "\t",
                                     "\n",
                                     "\r\n",
                                     "\x1b[31m",
                                     "\x7f",
                                     "*",
                                     "?",
                                     "<",
                                     ">",
                                     "|",
                                     ":",
                                     "\"",
                                     "'",
                                     "`",
                                     ";",
                                     "&",
                                     "$(id)",
                                     "-rf",
                                     "--help",
                                     ".hidden",
                                     "quipu.json",
                                     "store.lck",
                                     "a/b",
                                     "a\\b",
                                     "a:b",
                                     "a\"b",
                                     "\xc3\xa9",
                                     "\xe2\x80\xae",
                                     "\xef\xbc\x8e\xef\xbc\x8e\xef\xbc\x8f",
                                     "\xe2\x80\xa4\xe2\x80\xa4",
                                     "\xc0\xae\xc0\xae",
                                     "\xff",
                                     "\xed\xa0\x80",
                                     "\xf0\x9f\x98\x80",
                                     "e\xcc\x81",
                                     "sessions/../../x",
                                     "....//",
                                     "-",
                                     "_",
                                     "a..b",
                                     "s1.jsonl/../../x",
                                     "dev/null",
                                     "aux.h",
                                     "lpt1",
                                     "com0",
                                     "@",
                                     "#",
                                     "%00",
                                     "\\0",
                                     "+",
                                     "=",
                                     ",",
                                     "!",
                                     "{}",
                                     "[]",
                                     "\\u002e\\u002e"};
  pieces.emplace_back(1, '\0');
  pieces.emplace_back("a\0b", 3);
  pieces.emplace_back("../x\0.jsonl", 11);
  for (const std::size_t size : {65, 128, 255, 256, 4096, 70000}) pieces.emplace_back(size, 'a');
  return pieces;
}

std::vector<std::string> hostile_ids(std::size_t count) {
  const auto pieces = wicked_pieces();
  std::set<std::string> ids(pieces.begin(), pieces.end());
  std::mt19937 engine(20260301);
  const auto roll = [&](std::size_t sides) { return engine() % sides; };
  while (ids.size() < count) {
    std::string id = roll(2) == 0 ? "s" + std::to_string(roll(10)) : "";
    for (std::size_t i = 0, n = 1 + roll(4); i < n; ++i) id += pieces[roll(pieces.size())];
    if (roll(2) == 0) id += "x";
    if (roll(3) == 0) id.insert(roll(id.size() + 1), 1, static_cast<char>(roll(256)));
    ids.insert(id);
  }
  return {ids.begin(), ids.end()};
}

// The rule once more, in other words than the product's.
bool is_allowed(const std::string& id) {
  static const std::string letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (id.empty() || id.size() > 64) return false;
  if (id.find_first_not_of(letters + "._-") != std::string::npos) return false;
  if (letters.find(id.front()) == std::string::npos) return false;
  if (letters.find(id.back()) == std::string::npos) return false;
  if (id.find("..") != std::string::npos) return false;
  std::string stem = id.substr(0, id.find('.'));
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  static const std::set<std::string> devices = {"CON", "PRN", "AUX", "NUL"};
  const std::string port = stem.substr(0, 3);
  const bool is_port = stem.size() == 4 && (port == "COM" || port == "LPT") &&
                       std::isdigit(static_cast<unsigned char>(stem[3])) != 0;
  return !devices.contains(stem) && !is_port;
}

std::set<std::string> paths_in(const std::string& directory) {
  std::set<std::string> out;
  for (const auto& entry : stdfs::recursive_directory_iterator(directory)) {
    out.insert(entry.path().string());
  }
  return out;
}

void expect_refused(SessionStore& api, const std::string& id) {
  const auto invalid = [&](const auto& result, const char* what) {
    ASSERT_FALSE(result.ok()) << what << " " << ::testing::PrintToString(id);
    EXPECT_EQ(Code::kInvalidArgument, result.error().code())
        << what << " " << ::testing::PrintToString(id);
  };
  const std::string_view line = R"({"type":"message","payload":{}})";
  if (!id.empty()) {
    NewSession session;
    session.id = id;
    invalid(api.create_session(session), "create");
    ForkOptions fork;
    fork.new_id = id;
    invalid(api.branch_from_entry("s1", "a", fork), "fork to");
  }
  invalid(api.load_session_entries(id), "load");
  invalid(api.read_session(id), "read");
  invalid(api.append_session_lines(id, {&line, 1}), "append");
  invalid(api.branch_from_entry(id, "a"), "fork from");
  invalid(api.migrate_session(id), "migrate");
  invalid(api.session_tree(id), "tree");
  invalid(api.describe_session(id), "describe");
  invalid(api.verify_session(id), "verify");
  invalid(api.repair_session(id), "repair");
  invalid(api.dump_session(id), "dump");
}

void expect_usable(SessionStore& api, const std::string& id) {
  NewSession session;
  session.id = id;
  const auto made = api.create_session(session);
  ASSERT_TRUE(made.ok()) << id << ": " << made.error().message();
  const std::string_view line = R"({"type":"message","payload":{}})";
  EXPECT_TRUE(api.append_session_lines(id, {&line, 1}).ok()) << id;
  EXPECT_EQ(2u, api.load_session_entries(id)->size());
}

class HostileSessionIds : public ::testing::TestWithParam<bool> {};

TEST_P(HostileSessionIds, AreRefusedAndMakeNothing) {
  const ScratchDir scratch;
  const std::string root = scratch.path() + "/outer/store";
  stdfs::create_directory(scratch.path() + "/outer");
  StoreTarget target(GetParam() ? root : "memory:", Door::kLines);
  ASSERT_TRUE(target.create("s1").ok());
  ASSERT_TRUE(target.append("s1", {R"({"id":"a","type":"message","payload":{}})"}, {}).ok());

  const auto before = paths_in(scratch.path());
  std::set<std::string> good = {"s1"};
  std::size_t refused = 0;
  for (const auto& id : hostile_ids(5000)) {
    ASSERT_EQ(is_allowed(id), is_session_id(id)) << ::testing::PrintToString(id);
    if (!is_allowed(id)) {
      expect_refused(target.api(), id);
      ++refused;
    } else if (good.insert(id).second) {
      expect_usable(target.api(), id);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 4000u);
  const auto listed = target.sessions();
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(good, std::set<std::string>(listed->begin(), listed->end()));

  if (!GetParam()) return;
  for (const auto& path : paths_in(scratch.path())) {
    if (before.contains(path)) continue;
    const stdfs::path file(path);
    EXPECT_EQ(stdfs::path(root + "/sessions"), file.parent_path()) << path;
    EXPECT_TRUE(good.contains(file.stem().string())) << path;
  }
}

std::string where(const ::testing::TestParamInfo<bool>& one) {
  return one.param ? "Files" : "Memory";
}

INSTANTIATE_TEST_SUITE_P(Store, HostileSessionIds, ::testing::Bool(), where);

TEST(SessionId, Examples) {
  for (const char* id : {"a", "A", "0", "a.b", "a-b_c.d", "claude.0192f0c1-2b5e-7c3d-9a41",
                         "console", "com", "com10", "nully", "x.con"}) {
    EXPECT_TRUE(is_session_id(id)) << id;
  }
  for (const char* id : {"", ".", "..", "a.", ".a", "-a", "a-", "_a", "a..b", "a b", "a/b", "CON",
                         "con.txt", "Lpt1", "nul", "\xc3\xa9"}) {
    EXPECT_FALSE(is_session_id(id)) << id;
  }
  EXPECT_TRUE(is_session_id(std::string(64, 'a')));
  EXPECT_FALSE(is_session_id(std::string(65, 'a')));
  EXPECT_FALSE(is_session_id(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace quipu::test
