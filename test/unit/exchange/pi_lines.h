// Lines of pi's sessions, as several tests write them.
#pragma once

#include <string>

namespace quipu {

inline const std::string kPiHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n";

/// A record of a message with these members.
inline std::string pi_message(const std::string& id, const std::string& parent,
                              const std::string& members) {
  return R"({"type":"message","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"timestamp":"2026-03-01T09:30:01.000Z","message":{)" + members + "}}\n";
}

inline std::string pi_asked(const std::string& id, const std::string& parent) {
  return pi_message(id, parent, R"("role":"user","content":"asks )" + id + "\"");
}

/// One of text, without the line end.
inline std::string pi_line(const std::string& id, const std::string& parent,
                           const std::string& role, const std::string& text) {
  const std::string line =
      pi_message(id, parent,
                 R"("role":")" + role + R"(","content":[{"type":"text","text":")" + text +
                     R"("}],"timestamp":1772357401000)");
  return line.substr(0, line.size() - 1);
}

}  // namespace quipu
