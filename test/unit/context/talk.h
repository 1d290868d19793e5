// A conversation for tests, a line a message.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json_scan.h"
#include "quipu/compact.h"
#include "quipu/context.h"
#include "quipu/store.h"
#include "support/provider_rules.h"

namespace quipu {

class Talk {
 public:
  Talk() : store(Store::open("memory:").value()) {
    EXPECT_TRUE(store.sessions().create_session({.id = "s"}).ok());
  }

  /// Appends an entry with this id; parents as in NewEntry.
  void add(const std::string& id, const std::string& type, const std::string& payload,
           Parent parent = Parent::head()) {
    NewEntry entry;
    entry.id = id;
    entry.type = type;
    entry.payload = payload;
    entry.parent = std::move(parent);
    const auto stored = store.sessions().append_session_entries("s", {{entry}});
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
  void user(const std::string& id, const std::string& text, Parent parent = Parent::head()) {
    add(id, "message", R"({"role":"user","content":)" + json::quoted(text) + "}",
        std::move(parent));
  }
  void assistant(const std::string& id, const std::string& text) {
    add(id, "message", R"({"role":"assistant","content":)" + json::quoted(text) + "}");
  }
  void call(const std::string& id, const std::string& call_id, const std::string& tool = "read",
            const std::string& input = R"({"path":"a"})") {
    add(id, "message",
        R"({"role":"assistant","content":[{"type":"tool_use","id":")" + call_id + R"(","name":")" +
            tool + R"(","input":)" + input + "}]}");
  }
  void result(const std::string& id, const std::string& call_id, const std::string& output) {
    add(id, "message",
        R"({"role":"tool","content":[{"type":"tool_result","toolUseId":")" + call_id +
            R"(","content":)" + json::quoted(output) + "}]}");
  }

  quipu::Context context(const ContextOptions& options = {}) {
    auto built = build_context(store, "s", options);
    EXPECT_TRUE(built.ok()) << built.error().message();
    if (!built.ok()) return {};
    EXPECT_EQ(objection(options.provider, built->request), "") << built->request;
    return std::move(built).value();
  }
  std::string request(Provider provider = Provider::kAnthropic) {
    return context({.provider = provider}).request;
  }

  /// What was said of an entry: "kept", "dropped: redacted".
  static std::string verdict(const quipu::Context& context, std::string_view id) {
    for (const ContextNote& note : context.notes) {
      if (note.entry_id != id || note.verdict == Verdict::kAdded) continue;
      return std::string(name(note.verdict)) + (note.reason.empty() ? "" : ": " + note.reason);
    }
    return "not looked at";
  }

  Store store;
};

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace quipu
