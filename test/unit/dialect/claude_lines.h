// Lines of Claude's, as short as they can be.
#pragma once

#include <string>

namespace quipu::dialect::claude {

inline constexpr const char* kSession = "11111111-2222-4333-8444-555555555555";

/// A line of the tree: `id` and `parent` stand for uuids, `more` is `,"key":value…`.
inline std::string node(const std::string& type, const std::string& id, const std::string& parent,
                        const std::string& more) {
  return R"({"parentUuid":)" + (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"isSidechain":false,"type":")" + type + R"(","uuid":")" + id +
         R"(","timestamp":"2026-01-01T00:00:00.000Z","sessionId":")" + kSession + "\"" + more +
         "}\n";
}
inline std::string user(const std::string& id, const std::string& parent,
                        const std::string& more = "") {
  return node("user", id, parent,
              R"(,"message":{"role":"user","content":"says )" + id + "\"}" + more);
}
/// A block of the answer `message`.
inline std::string block(const std::string& id, const std::string& parent,
                         const std::string& message, const std::string& content,
                         const std::string& more = "") {
  return node("assistant", id, parent,
              R"(,"message":{"id":")" + message + R"(","role":"assistant","model":"claude-x",)" +
                  R"("content":[)" + content + "]}" + more);
}
inline std::string answer(const std::string& id, const std::string& parent,
                          const std::string& more = "") {
  return block(id, parent, "msg_" + id, R"({"type":"text","text":"answers )" + id + "\"}", more);
}
inline std::string call(const std::string& id, const std::string& parent,
                        const std::string& message, const std::string& call_id) {
  return block(id, parent, message,
               R"({"type":"tool_use","id":")" + call_id + R"(","name":"Bash","input":{"c":1}})");
}
inline std::string result(const std::string& id, const std::string& parent,
                          const std::string& call_id, const std::string& more = "") {
  return node("user", id, parent,
              R"(,"message":{"role":"user","content":[{"tool_use_id":")" + call_id +
                  R"(","type":"tool_result","content":"out of )" + call_id + "\"}]}" + more);
}
/// A boundary; `kept` are members of its metadata.
inline std::string boundary(const std::string& id, const std::string& before,
                            const std::string& kept = "") {
  return node("system", id, "",
              R"(,"logicalParentUuid":")" + before +
                  R"(","subtype":"compact_boundary","content":"Conversation compacted",)" +
                  R"("compactMetadata":{"trigger":"manual","preTokens":9)" + kept + "}");
}
inline std::string aside(std::string line) {
  const std::string flag = R"("isSidechain":false)";
  return line.replace(line.find(flag), flag.size(), R"("isSidechain":true)");
}

}  // namespace quipu::dialect::claude
