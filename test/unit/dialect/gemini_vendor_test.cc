// What we read of a session against what gemini-cli itself resumes.
// `tools/vendor_check/gemini.mjs` writes that down; QUIPU_GEMINI_ORACLE names the file.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "dialect/json_members.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

using dialect::array_in;
using dialect::is_true_in;
using dialect::text_in;

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As `lines` of the script has them.
std::vector<std::string> lines_of(const std::vector<Utterance>& conversation) {
  std::vector<std::string> lines;
  for (const Utterance& utterance : conversation) {
    const std::string role = utterance.message.role == Role::kAssistant ? "model " : "user ";
    for (const Part& part : utterance.message.parts) {
      if (part.type == PartType::kToolUse) {
        lines.push_back("call " + part.tool_use_id + " " + part.name);
      } else if (part.type == PartType::kToolResult) {
        std::string text;
        for (const Part& inner : part.content) text += inner.text;
        lines.push_back("result " + part.tool_use_id + " " + text);
      } else if (part.type == PartType::kText && !part.text.empty()) {
        lines.push_back(role + part.text);
      } else if (part.type == PartType::kAttachment) {
        lines.push_back(role + part.media_type);
      }
    }
  }
  return lines;
}

TEST(GeminiVendor, ConversationIsWhatTheProgramResumes) {
  const char* named = std::getenv("QUIPU_GEMINI_ORACLE");
  if (named == nullptr) return;  // nobody asked
  const std::string oracle = whole(named);
  ASSERT_TRUE(json::validate(oracle).ok());
  int equal = 0;
  int total = 0;
  json::ElementWalk sessions(array_in(oracle, "sessions"));
  while (const auto session = sessions.next()) {
    const std::string path = text_in(session->value, "path");
    SCOPED_TRACE(path);
    std::vector<std::string> theirs;
    json::ElementWalk said(array_in(session->value, "said"));
    while (const auto line = said.next()) theirs.push_back(json::decode_string(line->value));
    ImportMachine machine;
    machine.host.files[path] = whole(path);
    const std::string id = machine.import("gemini", path).session_id;
    const auto conversation = read_conversation(machine.store, id);
    const auto ours = conversation.ok() ? lines_of(*conversation) : std::vector<std::string>();
    EXPECT_EQ(ours, theirs);
    ++total;
    if (ours == theirs) ++equal;
  }
  json::ElementWalk directories(array_in(oracle, "directories"));
  while (const auto directory = directories.next()) {
    EXPECT_EQ(text_in(directory->value, "directory"), text_in(directory->value, "given"));
  }
  std::printf("%d of %d sessions as the program resumes them\n", equal, total);
}

}  // namespace
}  // namespace quipu
