// Each kind of item, as a message.
#include <gtest/gtest.h>

#include "codex_rollout.h"

namespace quipu::dialect::codex {
namespace {

using Texts = std::vector<std::string>;

Texts of(const std::string& payload) {
  std::string text = item(payload);
  text.pop_back();
  const Texts wrapped = lifted("response_item", text);
  EXPECT_EQ(lifted("response_item", payload), wrapped) << "bare";
  return wrapped;
}

TEST(CodexLift, Messages) {
  EXPECT_EQ(of(R"({"type":"message","role":"user","content":[{"type":"input_text","text":"a"},)"
               R"({"type":"input_text","text":"b"}]})"),
            Texts{"user: a b"});
  EXPECT_EQ(
      of(R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]})"),
      Texts{"assistant: a"});
  EXPECT_EQ(
      of(R"({"type":"message","role":"developer","content":[{"type":"input_text","text":"a"}]})"),
      Texts{"system: a"});
  EXPECT_EQ(of(R"({"type":"message","role":"user","content":"plain"})"), Texts{"user: plain"});
}

TEST(CodexLift, Media) {
  EXPECT_EQ(of(R"({"type":"message","role":"user","content":[{"type":"input_image",)"
               R"("image_url":"data:image/jpeg;base64,QUJD","detail":"high"}]})"),
            Texts{"user: image/jpeg QUJD"});
  EXPECT_EQ(of(R"({"type":"message","role":"user","content":[{"type":"input_image",)"
               R"("image_url":"data:image\/png;charset=x;base64,QUJD"}]})"),
            Texts{"user: image/png QUJD"});
  EXPECT_EQ(
      of(R"({"type":"message","role":"user","content":[{"type":"input_image",)"
         R"("image_url":"https://x/y.png"},{"type":"input_audio","audio_url":"data:audio/wav;base64,QQ=="}]})"),
      Texts{"user: image/* at https://x/y.png audio/wav QQ=="});
}

TEST(CodexLift, Reasoning) {
  EXPECT_EQ(
      of(R"({"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":null,"encrypted_content":"E"})"),
      Texts{"assistant: thinks s [E]"});
  EXPECT_EQ(of(R"({"type":"reasoning","summary":[{"text":"s"},{"text":"t"}]})"),
            Texts{"assistant: thinks s\n\nt"});
  EXPECT_EQ(
      of(R"({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"r"}]})"),
      Texts{"assistant: thinks r"});
  EXPECT_EQ(of(R"({"type":"reasoning","summary":[],"encrypted_content":"E"})"),
            Texts{"assistant: hidden [E]"});
  EXPECT_EQ(of(R"({"type":"reasoning","summary":[],"content":null,"encrypted_content":null})"),
            Texts{});
}

TEST(CodexLift, WhatAModelSaysIsItsProviders) {
  Lifted into;
  kCodex.lift("response_item", R"({"type":"reasoning","summary":[],"encrypted_content":"E"})",
              into);
  kCodex.lift("response_item",
              R"({"type":"function_call","name":"f","arguments":"","call_id":"c"})", into);
  for (const LiftedMessage& message : into.messages())
    EXPECT_EQ(message.view.provider, "\"openai\"");
}

TEST(CodexLift, Calls) {
  EXPECT_EQ(
      of(R"({"type":"function_call","name":"f","arguments":"{\"a\":1}","call_id":"c","id":"fc"})"),
      Texts{R"(assistant: call c f {"a":1})"});
  EXPECT_EQ(of(R"({"type":"function_call","name":"f","arguments":"{\"a\":","call_id":"c"})"),
            Texts{R"(assistant: call c f text {"a":)"});
  EXPECT_EQ(of(R"({"type":"function_call","name":"f","arguments":"[1]","call_id":"c"})"),
            Texts{"assistant: call c f text [1]"});
  EXPECT_EQ(
      of(R"({"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c","status":"completed"})"),
      Texts{"assistant: call c apply_patch text *** Begin"});
  EXPECT_EQ(
      of(R"({"type":"local_shell_call","call_id":null,"id":"ls","status":"completed","action":{"type":"exec","command":["ls"]}})"),
      Texts{R"(assistant: call ls local_shell {"type":"exec","command":["ls"]})"});
  EXPECT_EQ(of(R"({"type":"tool_search_call","call_id":"c","arguments":{"q":1}})"),
            Texts{R"(assistant: call c tool_search {"q":1})"});
}

TEST(CodexLift, Results) {
  EXPECT_EQ(of(R"({"type":"function_call_output","call_id":"c","output":"out"})"),
            Texts{"tool: result c out"});
  EXPECT_EQ(of(R"({"type":"custom_tool_call_output","call_id":"c","output":"out"})"),
            Texts{"tool: result c out"});
  EXPECT_EQ(
      of(R"({"type":"function_call_output","call_id":"c","output":{"content":"no","success":false}})"),
      Texts{"tool: result c no failed"});
  EXPECT_EQ(
      of(R"({"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"t"},)"
         R"({"type":"input_image","image_url":"data:image/png;base64,QQ=="},"s"]})"),
      Texts{
          R"(tool: result c [{"type":"text","text":"t"},{"type":"attachment","mediaType":"image/png","data":"QQ=="},{"type":"text","text":"s"}])"});
  EXPECT_EQ(of(R"({"type":"tool_search_output","call_id":"c","tools":["x"]})"),
            Texts{R"(tool: result c [{"type":"text","text":"x"}])"});
  EXPECT_EQ(of(R"({"type":"function_call_output","call_id":"c"})"), Texts{"tool: result c "});
}

TEST(CodexLift, WhatTheProviderDidByItself) {
  EXPECT_EQ(
      of(R"({"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}})"),
      Texts{"assistant: status web search: q"});
  EXPECT_EQ(of(R"({"type":"image_generation_call","status":"completed","result":"QQ=="})"),
            Texts{"assistant: image/png QQ=="});
  EXPECT_EQ(of(R"({"type":"tool_search_call","execution":"server"})"),
            Texts{"assistant: status tool search"});
  EXPECT_EQ(of(R"({"type":"compaction","encrypted_content":"E"})"),
            Texts{"assistant: status compaction, readable for its provider only"});
}

TEST(CodexLift, OtherAgents) {
  EXPECT_EQ(
      of(R"({"type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"do"}]})"),
      Texts{"user: do"});
  EXPECT_EQ(
      lifted("inter_agent_communication",
             R"({"type":"inter_agent_communication","payload":{"author":"a","content":"do"}})"),
      Texts{"user: do"});
}

TEST(CodexLift, EventsAndBookkeepingCarryNothing) {
  for (const char* kind :
       {"event_msg", "session_meta", "turn_context", "world_state", "raw", "x"}) {
    EXPECT_EQ(
        lifted(kind, R"({"type":"event_msg","payload":{"type":"user_message","message":"hi"}})"),
        Texts{})
        << kind;
  }
  EXPECT_EQ(of(R"({"type":"ghost_snapshot","ghost_commit":{}})"), Texts{});
  EXPECT_EQ(of(R"({"type":"something_new"})"), Texts{});
}

TEST(CodexLift, ACompactionIsTheHistoryThatTookItsPlace) {
  EXPECT_EQ(
      lifted("compacted",
             R"({"type":"compacted","payload":{"message":"m","replacement_history":[)"
             R"({"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]},)"
             R"({"type":"ghost_snapshot"},7,)"
             R"({"type":"function_call","name":"f","arguments":"{}","call_id":"c"}]}})"),
      (Texts{"user: u", "assistant: call c f {}"}));
  EXPECT_EQ(lifted("compacted", R"({"payload":{"message":"sum"}})"), Texts{"user: sum"});
  EXPECT_EQ(lifted("compacted", R"({"payload":{"message":"","replacement_history":null}})"),
            Texts{"user: (no summary available)"});
}

// Every member as every kind of value: nothing may break.
TEST(CodexLift, WrongTypesEverywhere) {
  const char* const values[] = {"null",
                                "7",
                                "\"\"",
                                "\"x\"",
                                "[]",
                                "{}",
                                "[null,7,\"x\",[],{}]",
                                R"([{"type":7,"text":7,"image_url":{}}])"};
  const char* const keys[] = {"role",      "content",
                              "summary",   "encrypted_content",
                              "name",      "input",
                              "arguments", "call_id",
                              "id",        "output",
                              "action",    "result",
                              "tools",     "replacement_history",
                              "message"};
  for (const char* type : {"message", "reasoning", "function_call", "custom_tool_call_output",
                           "local_shell_call", "web_search_call", "image_generation_call",
                           "tool_search_output", "agent_message", "compaction"}) {
    for (const char* key : keys) {
      for (const char* value : values) {
        const std::string record =
            std::string(R"({"type":")") + type + "\",\"" + key + "\":" + value + "}";
        lifted("response_item", record);
        lifted("compacted", record);
        lifted("inter_agent_communication", record);
      }
    }
  }
}

}  // namespace
}  // namespace quipu::dialect::codex
