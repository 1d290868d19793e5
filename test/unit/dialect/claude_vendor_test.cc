// Our chain against Anthropic's own loader. `tools/vendor_check/claude.mjs` writes
// down what that gives for a directory; QUIPU_CLAUDE_ORACLE names the file.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/json_scan.h"
#include "base/sha256.h"
#include "claude_session.h"
#include "dialect/claude/describe.h"

namespace quipu::dialect::claude {
namespace {

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member ? json::decode_string(member->value) : std::string();
}

bool is_true(std::string_view payload, std::string_view key) {
  const auto member = json::find_member(payload, key);
  return member && member->value == "true";
}

// What the loader leaves out of the chain when it lists messages.
bool is_listed(const StoredRecord& record, bool is_agent) {
  if (!speaks(record.kind)) return false;
  if (is_agent) return true;
  const bool is_meta = is_true(record.payload, "isMeta") && record.kind != kQueuedPrompt;
  return !is_meta && !is_true(record.payload, "isSidechain") &&
         text_in(record.payload, "teamName").empty();
}

// As `digest` of the script has it, when the line was written by JSON.stringify.
std::string digest(const StoredRecord& record) {
  const auto message = json::find_member(record.payload, "message");
  const auto content = message ? json::find_member(message->value, "content") : std::nullopt;
  return content ? sha256_hex(content->value).substr(0, 16) : "";
}

// uuids, with digests of what is said; those of prompts typed meanwhile are made up by
// the loader.
std::vector<std::string> listed(const ClaudeSession& session) {
  const bool is_agent = session.outline.session.find('.') != std::string::npos;
  std::vector<const StoredRecord*> said;
  bool is_open = false;  // a prompt was typed, and nobody has spoken since
  for (const std::uint32_t i : chain_of(session.records, session.head)) {
    const StoredRecord& record = session.records[i];
    // A prompt that was typed meanwhile and comes again as the user's is listed once.
    if (record.kind == "user" && is_open) said.pop_back();
    if (record.kind == "user" || record.kind == "assistant") is_open = false;
    if (!is_listed(record, is_agent)) continue;
    is_open = record.kind == kQueuedPrompt;
    said.push_back(&record);
  }
  std::vector<std::string> uuids;
  for (const StoredRecord* record : said) {
    uuids.push_back(text_in(record->payload, "uuid"));
    if (record->kind != kQueuedPrompt) uuids.back() += " " + digest(*record);
  }
  return uuids;
}

TEST(ClaudeVendor, ChainIsThatOfTheLoader) {
  const char* named = std::getenv("QUIPU_CLAUDE_ORACLE");
  if (named == nullptr) return;  // nobody asked
  const std::string oracle = whole(named);
  const auto sessions = json::find_member(oracle, "sessions");
  ASSERT_TRUE(sessions);
  int equal = 0;
  int total = 0;
  json::ElementWalk walk(sessions->value);
  while (const auto session = walk.next()) {
    const std::string path = text_in(session->value, "path");
    SCOPED_TRACE(path);
    std::vector<std::string> theirs;
    const auto messages = json::find_member(session->value, "messages");
    ASSERT_TRUE(messages);
    json::ElementWalk given(messages->value);
    while (const auto message = given.next()) {
      theirs.push_back(text_in(message->value, "uuid") + " " + text_in(message->value, "digest"));
    }
    const ClaudeSession session_read = ClaudeSession::read(fs::HostFiles::system(), path);
    const auto uuids = listed(session_read);
    for (std::size_t i = 0; i < std::min(uuids.size(), theirs.size()); ++i) {
      if (uuids[i].find(' ') == std::string::npos) theirs[i].resize(theirs[i].find(' '));
    }
    const bool is_agent = session_read.outline.session.find('.') != std::string::npos;
    EXPECT_TRUE(is_agent || is_true(session->value, "listed"));
    EXPECT_EQ(uuids, theirs);
    ++total;
    if (uuids == theirs) ++equal;
  }
  std::printf("%d of %d sessions as the loader gives them\n", equal, total);
}

}  // namespace
}  // namespace quipu::dialect::claude
