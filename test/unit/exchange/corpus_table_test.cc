// The table of docs/dialects.md: what the corpora hold, and how much of it comes back.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "quipu/conversation.h"
#include "quipu/export.h"
#include "quipu/import.h"
#include "quipu/usage.h"
#include "support/corpora.h"
#include "support/memory_host.h"

namespace quipu {
namespace {

struct Counted {
  std::set<std::string> files;
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  std::uint64_t entries = 0;
  std::uint64_t lossless = 0;  // sessions
  std::uint64_t messages = 0;
  std::uint64_t tool_pairs = 0;
  std::uint64_t requests = 0;
};

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Files = std::map<std::string, std::string>;

Files given_back(Store& store, const ImportReport& report) {
  Files files;
  const auto exported = export_session(store, report.session_id, {.to = report.agent},
                                       [&](const std::string& path, std::string_view bytes) {
                                         files[path] += bytes;
                                         return Result<void>();
                                       });
  EXPECT_TRUE(exported.ok()) << report.source << ": " << exported.error().message();
  return files;
}

// The records of a session, without what we add.
std::vector<std::string> records_of(Store& store, const ImportReport& report) {
  std::vector<std::string> records;
  const auto entries = store.sessions().load_session_entries(report.session_id);
  for (const Entry& entry : *entries) {
    if (entry.type.find(report.agent + ".") != std::string::npos) records.push_back(entry.payload);
  }
  return records;
}

// A file comes back byte for byte. A database comes back as another one with the same
// rows: importing that gives the same records.
bool is_lossless(Store& store, const ImportSource& source, const ImportReport& report) {
  const Files given = given_back(store, report);
  if (source.part.empty()) {
    for (const std::string& path : source.files) {
      const std::string text = whole(path);
      const auto same = [&](const auto& file) {
        return path.ends_with("/" + file.first) && file.second == text;
      };
      if (std::none_of(given.begin(), given.end(), same)) return false;
    }
    return given.size() == source.files.size();
  }
  MemoryHost host;
  for (const auto& [name, bytes] : given) host.files["/" + name] = bytes;
  Store second = Store::open("memory:").value();
  ImportReport again;
  ImportSource copy{.agent = source.agent,
                    .path = "/" + given.begin()->first,
                    .part = source.part,
                    .files = {"/" + given.begin()->first},
                    .session_id = {}};
  const auto done = Importer(second, &host).run({copy}, {}, [&](const ImportReport& one) {
    again = one;
    return true;
  });
  EXPECT_TRUE(done.ok() && !again.error) << source.path;
  return done.ok() && !again.error && records_of(second, again) == records_of(store, report);
}

std::uint64_t tool_pairs(const std::vector<Utterance>& said) {
  std::set<std::string> calls;
  std::uint64_t pairs = 0;
  for (const Utterance& utterance : said) {
    for (const Part& part : utterance.message.parts) {
      if (part.type == PartType::kToolUse) calls.insert(part.tool_use_id);
      if (part.type == PartType::kToolResult && calls.erase(part.tool_use_id) != 0) ++pairs;
    }
  }
  return pairs;
}

std::string row_of(const std::string& agent, const Counted& counted) {
  const std::uint64_t percent = counted.lossless * 100 / counted.sessions;
  std::string row = "| `" + agent + "` |";
  for (const std::uint64_t number :
       {std::uint64_t{counted.files.size()}, counted.sessions, counted.records, counted.entries}) {
    row += " " + std::to_string(number) + " |";
  }
  row += " " + std::to_string(percent) + " % |";
  for (const std::uint64_t number : {counted.messages, counted.tool_pairs, counted.requests}) {
    row += " " + std::to_string(number) + " |";
  }
  return row;
}

TEST(CorpusTable, TheDocumentsSayWhatIsCounted) {
  const std::string place = corpora();
  if (place.empty()) return;
  Store store = Store::open("memory:").value();
  Importer importer(store);
  auto found = importer.find({.agents = {}, .paths = {place}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  std::map<std::string, const ImportSource*> sources;
  for (const ImportSource& source : found->sources) {
    sources[source.part.empty() ? source.path : source.path + "#" + source.part] = &source;
  }
  std::map<std::string, Counted> table;
  std::vector<ImportReport> reports;
  ASSERT_TRUE(importer
                  .run(found->sources, {.project_id = {}, .threads = 1},
                       [&](const ImportReport& report) {
                         EXPECT_FALSE(report.error) << report.source;
                         reports.push_back(report);
                         return true;
                       })
                  .ok());
  for (const ImportReport& report : reports) {
    const ImportSource& source = *sources.at(report.source);
    Counted& counted = table[report.agent];
    counted.files.insert(source.files.begin(), source.files.end());
    ++counted.sessions;
    counted.records += report.total;
    counted.entries += store.sessions().session_ends(report.session_id)->entries;
    if (is_lossless(store, source, report)) {
      ++counted.lossless;
    } else {
      ADD_FAILURE() << report.source << " does not come back";
    }
    const auto said = read_conversation(store, report.session_id);
    ASSERT_TRUE(said.ok()) << report.source;
    counted.messages += said->size();
    counted.tool_pairs += tool_pairs(*said);
  }
  const auto used =
      UsageStore(store).aggregate({.by = UsageBy::kAgent, .project = ProjectScope::all()});
  ASSERT_TRUE(used.ok());
  for (const UsageGroup& group : used->groups) table[group.name].requests = group.sum.requests;
  const std::string document = whole(std::string(QUIPU_SOURCE_DIR) + "/docs/dialects.md");
  for (const auto& [agent, counted] : table) {
    const std::string row = row_of(agent, counted);
    EXPECT_NE(document.find(row), std::string::npos) << "docs/dialects.md should say:\n" << row;
  }
}

}  // namespace
}  // namespace quipu
