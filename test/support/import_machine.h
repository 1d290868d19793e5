// A machine with files of other agents, and a store that imports them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "quipu/conversation.h"
#include "quipu/export.h"
#include "quipu/import.h"
#include "support/memory_host.h"

namespace quipu {

class ImportMachine {
 public:
  using Files = std::map<std::string, std::string>;

  MemoryHost host;
  Store store = Store::open("memory:").value();

  FoundSources find(FindOptions options = {}) {
    auto found = Importer(store, &host).find(options);
    EXPECT_TRUE(found.ok()) << found.error().message();
    return found.ok() ? *found : FoundSources();
  }

  std::vector<ImportReport> import_all(const std::vector<ImportSource>& sources) {
    std::vector<ImportReport> reports;
    auto done =
        Importer(store, &host)
            .run(sources, {.project_id = {}, .threads = 1}, [&](const ImportReport& report) {
              reports.push_back(report);
              return true;
            });
    EXPECT_TRUE(done.ok()) << done.error().message();
    return reports;
  }

  /// A file that holds one session, whatever its content.
  ImportReport import(const std::string& agent, const std::string& path) {
    auto reports =
        import_all({{.agent = agent, .path = path, .part = {}, .files = {path}, .session_id = {}}});
    EXPECT_EQ(reports.size(), 1u);
    EXPECT_FALSE(reports[0].error) << reports[0].error->message();
    return reports[0];
  }

  Files give(const std::string& session, const std::string& agent) {
    Files files;
    auto given = export_session(store, session, {.to = agent},
                                [&](const std::string& path, std::string_view bytes) {
                                  files[path] += bytes;
                                  return Result<void>();
                                });
    EXPECT_TRUE(given.ok()) << given.error().message();
    return files;
  }

  /// "role: text" of every message; calls as "name(input)", results as "= text".
  std::vector<std::string> said(const std::string& session, const std::string& head = {}) {
    auto conversation = read_conversation(store, session, head);
    EXPECT_TRUE(conversation.ok()) << conversation.error().message();
    std::vector<std::string> lines;
    if (!conversation.ok()) return lines;
    for (const Utterance& utterance : *conversation) {
      for (const Part& part : utterance.message.parts) {
        std::string text = part.text;
        if (part.type == PartType::kToolUse) text = part.name + "(" + part.input + ")";
        if (part.type == PartType::kToolResult) {
          text = "=";
          for (const Part& inner : part.content) text += " " + inner.text;
        }
        if (part.type == PartType::kThinking) text = "(" + text + ")";
        lines.push_back(std::string(name(utterance.message.role)) + ": " + text);
      }
    }
    return lines;
  }
};

}  // namespace quipu
