#include "random_session.h"

#include <gtest/gtest.h>

#include "base/json_scan.h"

namespace quipu {

std::string RandomSession::text() {
  static const std::vector<std::string> texts = {
      "",      " ",           "\n\t ", "hello",  "a \"quoted\" \\ text",
      "ends ", "é",           "»",     "\u3000", "日本語のテキスト",
      "😀",     "line\nline\n"};
  std::string said = pick(texts);
  if (chance(20)) said += std::string(below(chance(30) ? 5000 : 100), 'x');
  return said;
}

std::string RandomSession::call_id() {
  static const std::vector<std::string> odd = {
      "call 1", "", "ümlaut", "a", "a", "a_2", std::string(90, 'z')};
  if (chance(15)) return pick(odd);
  return "call-" + std::to_string(made_) + "-" + std::to_string(below(3));
}

std::string RandomSession::part(const std::string& role) {
  const auto quoted = [](const std::string& plain) { return json::quoted(plain); };
  const std::size_t kind = below(100);
  if (kind < 35) return R"({"type":"text","text":)" + quoted(text()) + "}";
  if (kind < 45) {
    return R"({"type":"thinking","text":)" + quoted(text()) +
           (chance(70) ? R"(,"signature":"c2ln")" : "") +
           (chance(20) ? R"(,"redacted":true)" : "") + "}";
  }
  if (kind < 65 && (role == "assistant" || chance(5))) {
    const std::string id = call_id();
    calls_.push_back(id);
    const std::string input = chance(80)   ? R"("input":{"path":"a\"b"})"
                              : chance(50) ? R"("rawInput":"{\"cut")"
                                           : R"("input":[1])";
    const std::string tool = chance(85) ? "read_file" : chance(50) ? "mcp:odd tool/ü" : "";
    return R"({"type":"tool_use","id":)" + quoted(id) + R"(,"name":)" + quoted(tool) + "," + input +
           "}";
  }
  if (kind < 88 && (role != "assistant" || chance(5)) && !calls_.empty()) {
    const std::string id = chance(85) ? calls_.back() : pick(calls_);
    const std::string content =
        chance(70)   ? quoted(text())
        : chance(50) ? R"([{"type":"text","text":)" + quoted(text()) +
                           R"(},{"type":"attachment","mediaType":"image/png","data":"QUJD"}])"
                     : "[]";
    return R"({"type":"tool_result","toolUseId":)" + quoted(id) + R"(,"content":)" + content +
           (chance(20) ? R"(,"isError":true)" : "") + R"(,"details":{"ui":1}})";
  }
  if (kind < 93) {
    static const std::vector<std::string> types = {"image/png", "application/pdf", "audio/wav",
                                                   "text/csv", ""};
    const std::string where = chance(55)   ? R"("data":"QUJD")"
                              : chance(10) ? R"("data":"no base64!")"
                              : chance(50) ? R"("sha256":"00")"
                                           : R"("path":"/tmp/x")";
    return R"({"type":"attachment","mediaType":)" + quoted(pick(types)) + "," + where + "}";
  }
  if (kind < 96) return R"({"type":"status","status":"thinking hard"})";
  return R"({"type":"hologram","text":5})";
}

std::string RandomSession::message() {
  static const std::vector<std::string> roles = {"user",      "user", "assistant", "assistant",
                                                 "assistant", "tool", "system",    "oracle"};
  const std::string role = pick(roles);
  std::string payload = R"({"role":")" + role + R"(","content":)";
  if (chance(30)) {
    payload += json::quoted(text());
  } else if (chance(3)) {
    payload += "null";
  } else {
    payload += '[';
    const std::size_t parts = below(4);
    for (std::size_t i = 0; i < parts; ++i) payload += (i > 0 ? "," : "") + part(role);
    payload += ']';
  }
  if (role == "assistant") {
    static const std::vector<std::string> makers = {
        R"("provider":"anthropic","model":"m1")", R"("provider":"openai","model":"m1")",
        R"("provider":"google","model":"gemini-3-pro")", R"("provider":"anthropic","model":"m2")"};
    payload += "," + pick(makers);
    if (chance(50)) {
      payload += R"(,"usage":{"tokensIn":)" + std::to_string(below(5000)) + R"(,"tokensOut":9})";
    }
    if (chance(20)) payload += R"(,"streamId":"s)" + std::to_string(below(3)) + "\"";
  }
  return payload + "}";
}

NewEntry RandomSession::next_entry() {
  NewEntry entry;
  entry.id = "e" + std::to_string(++made_);
  entry.type = "message";
  if (!nodes_.empty() && chance(6)) entry.parent = Parent::of(pick(nodes_));
  if (chance(1)) entry.parent = Parent::root();
  const std::string target = nodes_.empty() ? "" : pick(nodes_);
  const std::size_t kind = below(100);
  if (kind < 80 || nodes_.empty()) {
    entry.payload = message();
  } else if (kind < 84) {
    entry.type = "compaction_summary";
    const std::string kept = chance(80) ? target : "nowhere";
    entry.payload = R"({"summary":)" + json::quoted(text()) + R"(,"firstKeptEntryId":")" + kept +
                    "\"" + (chance(50) ? R"(,"checkpoint":[])" : "") + "}";
  } else if (kind < 88) {
    entry.type = "context_edit";
    const std::string replacement = chance(50)   ? "null"
                                    : chance(50) ? json::quoted(text())
                                                 : "[" + part("user") + "]";
    entry.payload = R"({"targetEntryId":")" + target + R"(","replacement":)" + replacement + "}";
  } else if (kind < 89) {
    entry.type = "context_reset";
  } else if (kind < 91) {
    entry.type = "branch_summary";
    entry.payload = R"({"summary":)" + json::quoted(text()) + "}";
  } else if (kind < 93) {
    entry.type = "system_prompt_override";
    entry.payload = R"({"systemPrompt":)" + json::quoted(text()) + "}";
  } else if (kind < 95) {
    entry.type = "message_delta_batch";
    entry.payload = R"({"streamId":"s)" + std::to_string(below(3)) + R"(","deltas":[)" +
                    part("assistant") + "]}";
  } else if (kind < 97) {
    entry.parent = Parent::head();
    entry.type = "redaction";
    entry.payload = R"({"targetEntryId":")" + target + R"(","reason":"secret"})";
  } else if (kind < 99) {
    entry.type = chance(50) ? "custom" : "model_change";
    entry.payload = R"({"model":"m2"})";
  } else {
    static const std::vector<std::string> flat = {"user", "assistant", "tool", "tool_result"};
    entry.type = pick(flat);
    entry.payload =
        R"({"content":"flat","toolCallId":"f1","name":"write","params":{},"output":"o"})";
  }
  return entry;
}

std::string RandomSession::make(std::size_t entries) {
  nodes_.clear();
  calls_.clear();
  const auto session = store_.sessions().create_session();
  EXPECT_TRUE(session.ok());
  for (std::size_t i = 0; i < entries; ++i) {
    const NewEntry entry = next_entry();
    const auto stored = store_.sessions().append_session_entries(session->session_id, {{entry}});
    EXPECT_TRUE(stored.ok()) << stored.error().message() << entry.payload;
    if (!is_fact_type(entry.type)) nodes_.push_back(entry.id);
  }
  return session->session_id;
}

std::string RandomSession::some_node() { return nodes_.empty() ? "" : pick(nodes_); }

}  // namespace quipu
