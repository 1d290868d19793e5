// Messages: what is lifted from a payload can be written again, unknown members
// included.
#include "quipu/message.h"

#include <gtest/gtest.h>

#include "model/message_view.h"

namespace quipu {
namespace {

std::string again(const std::string& payload) {
  const auto message = lift_message("message", payload);
  return message.ok() ? encode_message(*message) : message.error().message();
}

TEST(Message, EveryPartSurvivesLiftingAndWriting) {
  for (
      const std::string payload : {
          R"({"role":"user","content":"plain"})",
          R"({"role":"assistant","content":[{"type":"thinking","text":"t","signature":"s","redacted":true},{"type":"text","text":"x"}],"model":"m","provider":"p","requestId":"r","stopReason":"end"})",
          R"({"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{"a":[1,2.50,{}]}},{"type":"tool_use","id":"2","name":"n","rawInput":"{\"cut"}]})",
          R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"1","content":"out","isError":true,"details":{"ui":1}}]})",
          R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"a"},{"type":"attachment","mediaType":"image/png","data":"QUJD"}]}]})",
          R"({"role":"user","content":[{"type":"attachment","mediaType":"a/b","name":"f","sha256":"00"},{"type":"attachment","mediaType":"a/b","path":"/x"}]})",
          R"({"role":"assistant","content":[{"type":"status","status":"busy"}],"usage":{"tokensIn":1,"tokensOut":2,"cacheRead":3,"cacheWrite":4,"reasoning":5,"costUsd":0.25,"latencyMs":7}})",
      }) {
    EXPECT_EQ(again(payload), payload);
  }
}

TEST(Message, UnknownMembersSurvive) {
  for (
      const std::string payload : {
          R"({"role":"user","content":[{"type":"text","text":"x","citations":[1]}],"mood":{"k":1e400}})",
          R"({"role":"user","content":[{"type":"hologram","depth":3}]})",
          R"({"role":"assistant","content":"x","usage":{"tokensIn":1,"tier":"gold"}})",
          R"({"role":"user","content":"x","model":5})",
      }) {
    EXPECT_EQ(again(payload), payload);
  }
}

TEST(Message, WhatCameInSeveralLinesIsWrittenInOne) {
  const std::string pretty =
      "{\r\n  \"role\": \"assistant\",\n  \"content\": [\n    {\"type\": \"tool_use\", \"id\": "
      "\"1\","
      " \"name\": \"n\", \"input\": {\n      \"a\": \"x\\ny\"\n    }}\n  ],\n  \"usage\": {\n"
      "    \"tokensIn\": 1, \"tiers\": [\n1\n]\n  },\n  \"mood\": {\r\n    \"k\": 1\r\n  }\n}";
  const std::string written = again(pretty);
  EXPECT_EQ(written.find_first_of("\r\n"), std::string::npos) << written;
  const auto message = lift_message("message", written);
  ASSERT_TRUE(message.ok());
  EXPECT_NE(message->parts.at(0).input.find(R"("x\ny")"), std::string::npos);
  EXPECT_EQ(again(written), written);
  EXPECT_EQ(encode_parts(lift_message("message", pretty)->parts).find('\n'), std::string::npos);
}

TEST(Message, StrangePayloadsAreNoErrors) {
  for (const std::string payload :
       {"{}", R"({"content":null})", R"({"content":5})", R"({"content":[1,null,[],{}]})",
        R"({"role":"oracle","content":{"type":"text","text":"alone"}})",
        R"({"content":[{"type":"tool_use"}]})", "", "[", "{\"content\":[{\"type\":\"text\""}) {
    EXPECT_TRUE(lift_message("message", payload).ok()) << payload;
  }
}

TEST(Message, OtherTypesCarryNone) {
  EXPECT_EQ(lift_message("label", "{}").error().code(), Code::kNotFound);
  EXPECT_TRUE(lift_message("user", R"({"content":"x"})").ok());
}

TEST(Message, TextIsDecoded) {
  const auto message = lift_message("message", R"({"role":"user","content":"a\n\"b\" \u00e9"})");
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->parts.at(0).text, "a\n\"b\" \u00e9");
}

TEST(Message, FlatLinesBecomeMessages) {
  const auto call = lift_message("tool", R"({"name":"write","params":{"p":1},"toolCallId":"c"})");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->role, Role::kAssistant);
  EXPECT_EQ(call->parts.at(0).input, R"({"p":1})");
  const auto result =
      lift_message("tool_result", R"({"toolCallId":"c","output":"o","success":false,"details":1})");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->role, Role::kTool);
  EXPECT_TRUE(result->parts.at(0).is_error);
  EXPECT_EQ(result->parts.at(0).content.at(0).text, "o");
  EXPECT_EQ(result->parts.at(0).details, "1");
}

TEST(Message, WhatSaysSomething) {
  for (const char* blank :
       {"\"\"", "\"  \"", R"("\n\t \r")", "\"\u3000\u00a0\"", R"("\u2028")", ""}) {
    EXPECT_FALSE(says_something(blank)) << blank;
  }
  for (const char* text :
       {"\"x\"", "\" x\"", "\"»\"", "\"é\"", R"("\\n")", R"(" \u0041")", "\"😀\""}) {
    EXPECT_TRUE(says_something(text)) << text;
  }
}

}  // namespace
}  // namespace quipu
