// Claude: what its lines say, in our words.
#include <gmock/gmock.h>

#include "base/json_scan.h"
#include "claude_lines.h"
#include "claude_session.h"

namespace quipu::dialect::claude {
namespace {

class ClaudeLift : public ::testing::Test {
 protected:
  void lift(const std::string& kind, const std::string& payload) {
    payload_ = payload;
    ASSERT_TRUE(json::validate(payload_).ok()) << payload_;
    lifted_.clear();
    Claude().lift(kind, payload_, lifted_);
  }
  /// A user's or an assistant's line with this content.
  void lift_content(const std::string& kind, const std::string& content,
                    const std::string& more = "") {
    lift(kind, R"({"message":{"model":"claude-x","stop_reason":"end_turn","content":)" + content +
                   R"(,"usage":{"input_tokens":1,"cache_read_input_tokens":2}},"requestId":"r")" +
                   more + "}");
  }
  std::size_t count() const { return lifted_.messages().size(); }
  const MessageView& message(std::size_t i = 0) const { return lifted_.messages()[i].view; }
  std::span<const PartView> parts(std::size_t i = 0) const {
    return lifted_.parts(lifted_.messages()[i]);
  }
  std::string attached(const std::string& attachment) {
    lift("attachment", R"({"attachment":)" + attachment + "}");
    return count() == 0 ? "" : json::decode_string(parts()[0].text);
  }

  std::string payload_;
  Lifted lifted_;
};

TEST_F(ClaudeLift, APromptIsTextOrBlocks) {
  lift_content("user", R"("hi")");
  ASSERT_EQ(count(), 1u);
  EXPECT_EQ(message().role, Role::kUser);
  EXPECT_EQ(parts()[0].text, "\"hi\"");
  lift_content(
      "user",
      R"([{"type":"text","text":"see"},{"type":"image","source":{"type":"base64",)"
      R"("media_type":"image/png","data":"AAAA"}},{"type":"document","title":"d.pdf",)"
      R"("source":{"type":"base64","media_type":"application/pdf","data":"BBBB"}},)"
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"t"}},)"
      R"({"type":"image","source":{"type":"url","url":"https://x"}}])");
  ASSERT_EQ(count(), 1u);
  ASSERT_EQ(parts().size(), 5u);
  EXPECT_EQ(parts()[1].type, PartType::kAttachment);
  EXPECT_EQ(parts()[1].media_type, "\"image/png\"");
  EXPECT_EQ(parts()[1].data, "\"AAAA\"");
  EXPECT_EQ(parts()[2].name, "\"d.pdf\"");
  EXPECT_EQ(parts()[3].text, "\"t\"");
  EXPECT_EQ(parts()[4].type, PartType::kOther);
}

TEST_F(ClaudeLift, ResultsAreSaidByTheTool) {
  lift_content("user",
               R"([{"tool_use_id":"A","type":"tool_result","content":"out","is_error":true},)"
               R"({"type":"text","text":"and"}])",
               R"(,"toolUseResult":{"stdout":"out"})");
  ASSERT_EQ(count(), 2u);
  EXPECT_EQ(message(0).role, Role::kTool);
  EXPECT_EQ(parts(0)[0].type, PartType::kToolResult);
  EXPECT_EQ(parts(0)[0].tool_use_id, "\"A\"");
  EXPECT_EQ(parts(0)[0].content, "\"out\"");
  EXPECT_TRUE(parts(0)[0].is_error);
  EXPECT_EQ(parts(0)[0].details, R"({"stdout":"out"})");
  EXPECT_EQ(message(1).role, Role::kUser);
}

TEST_F(ClaudeLift, BlocksOfAResultAreParts) {
  lift_content(
      "user",
      R"([{"tool_use_id":"A","type":"tool_result","content":[{"type":"text","text":"t"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}])");
  EXPECT_EQ(
      parts()[0].content,
      R"([{"type":"text","text":"t"},{"type":"attachment","mediaType":"image/png","data":"AAAA"}])");
  lift_content("user", R"([{"tool_use_id":"A","type":"tool_result"}])");
  EXPECT_EQ(parts()[0].content, "\"\"");
}

TEST_F(ClaudeLift, AnAnswer) {
  lift_content("assistant", R"([{"type":"thinking","thinking":"t","signature":"s"},)"
                            R"({"type":"redacted_thinking","data":"d"},{"type":"text","text":"x"},)"
                            R"({"type":"tool_use","id":"A","name":"Bash","input":{"c":1}},)"
                            R"({"type":"server_tool_use","id":"S"}])");
  ASSERT_EQ(count(), 1u);
  EXPECT_EQ(message().role, Role::kAssistant);
  EXPECT_EQ(message().model, "\"claude-x\"");
  EXPECT_EQ(message().provider, "\"anthropic\"");
  EXPECT_EQ(message().request_id, "\"r\"");
  EXPECT_EQ(message().stop_reason, "\"end_turn\"");
  EXPECT_EQ(message().usage, R"({"tokensIn":1,"cacheRead":2})");
  ASSERT_EQ(parts().size(), 5u);
  EXPECT_EQ(parts()[0].type, PartType::kThinking);
  EXPECT_EQ(parts()[0].signature, "\"s\"");
  EXPECT_TRUE(parts()[1].redacted);
  EXPECT_EQ(parts()[1].signature, "\"d\"");
  EXPECT_EQ(parts()[2].text, "\"x\"");
  EXPECT_EQ(parts()[3].tool_use_id, "\"A\"");
  EXPECT_EQ(parts()[3].input, R"({"c":1})");
  EXPECT_EQ(parts()[4].type, PartType::kOther);
  EXPECT_EQ(parts()[4].whole, R"({"type":"server_tool_use","id":"S"})");
}

TEST_F(ClaudeLift, AFailureIsForTheScreen) {
  lift_content("assistant", R"([{"type":"text","text":"API Error"}])",
               R"(,"isApiErrorMessage":true)");
  EXPECT_EQ(parts()[0].type, PartType::kStatus);
}

TEST_F(ClaudeLift, WhatTheProgramSaysInItsModelsPlaceHasNoModel) {
  lift(
      "assistant",
      R"({"message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}],)"
      R"("usage":{"input_tokens":0}}})");
  EXPECT_EQ(parts()[0].type, PartType::kText);
  EXPECT_TRUE(message().model.empty());
  EXPECT_TRUE(message().usage.empty());
}

TEST_F(ClaudeLift, SystemLinesAreStatus) {
  lift("system", R"({"subtype":"compact_boundary","content":"Conversation compacted"})");
  ASSERT_EQ(count(), 1u);
  EXPECT_EQ(parts()[0].type, PartType::kStatus);
  EXPECT_EQ(parts()[0].text, "\"Conversation compacted\"");
  lift("system", R"({"subtype":"turn_duration","durationMs":3})");
  EXPECT_EQ(count(), 0u);
  lift("progress", R"({"data":{"message":{"content":"x"}}})");
  EXPECT_EQ(count(), 0u);
}

TEST_F(ClaudeLift, AttachmentsAreReminders) {
  EXPECT_EQ(attached(R"({"type":"hook_additional_context","hookName":"H","content":["a","b"]})"),
            "<system-reminder>\nH hook additional context: a\nb\n</system-reminder>");
  EXPECT_EQ(attached(R"({"type":"edited_text_file","filename":"/f","snippet":"1\tx"})"),
            "<system-reminder>\n/f was modified by the user or a tool. The lines around the "
            "change:\n1\tx\n</system-reminder>");
  EXPECT_NE(attached(R"({"type":"skill_listing","content":"- s: does"})").find("- s: does"),
            std::string::npos);
  EXPECT_NE(attached(R"({"type":"agent_listing_delta","addedLines":["- a"],"removedTypes":["b"]})")
                .find("- a\n\nNo longer available: b"),
            std::string::npos);
  EXPECT_NE(
      attached(R"({"type":"hook_success","hookEvent":"SessionStart","content":"c"})").find("c"),
      std::string::npos);
  EXPECT_NE(attached(R"({"type":"task_reminder","content":[{"subject":"do","status":"pending"}]})")
                .find("- [pending] do"),
            std::string::npos);
  EXPECT_NE(
      attached(
          R"({"type":"file","content":{"type":"text","file":{"filePath":"/f","content":"in"}}})")
          .find("/f:\n\nin"),
      std::string::npos);
  EXPECT_NE(attached(R"({"type":"of_tomorrow","content":"new"})").find("new"), std::string::npos);
  for (const std::string silent :
       {R"({"type":"hook_system_message","content":"x"})", R"({"type":"command_permissions"})",
        R"({"type":"hook_success","hookEvent":"PostToolUse","content":"x"})",
        R"({"type":"task_reminder","content":[]})"}) {
    EXPECT_EQ(attached(silent), "") << silent;
  }
}

TEST_F(ClaudeLift, WhatWasTypedMeanwhileIsAPrompt) {
  lift("queued-prompt", R"({"attachment":{"type":"queued_command","prompt":"also"}})");
  ASSERT_EQ(count(), 1u);
  EXPECT_EQ(parts()[0].text, "\"also\"");
  lift("queued-prompt",
       R"({"attachment":{"type":"queued_command","prompt":[{"type":"text","text":"see"},)"
       R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}})");
  ASSERT_EQ(parts().size(), 2u);
  EXPECT_EQ(parts()[1].type, PartType::kAttachment);
}

}  // namespace
}  // namespace quipu::dialect::claude
