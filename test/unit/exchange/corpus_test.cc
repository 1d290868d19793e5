// The laws of import and export, on every file of the corpora, whatever dialect
// reads it.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "exchange/known_sources.h"
#include "quipu/export.h"
#include "quipu/import.h"
#include "support/corpora.h"
#include "support/memory_host.h"

namespace quipu {
namespace {

using Files = std::map<std::string, std::string>;

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<ImportSource> corpus_sources() {
  const std::string place = corpora();
  if (place.empty()) return {};
  auto store = Store::open("memory:");
  auto found = Importer(*store).find({.agents = {}, .paths = {place}, .since_ms = 0});
  EXPECT_TRUE(found.ok());
  if (!found.ok()) return {};
  for (ImportSource& source : found->sources) source.seen = {};  // on another machine
  return found->sources;
}

class Machine {
 public:
  Machine() : store_(Store::open("memory:").value()) {}

  MemoryHost host;

  ImportReport import(const ImportSource& source) {
    ImportReport last;
    auto done = Importer(store_, &host).run({source}, {}, [&](const ImportReport& report) {
      last = report;
      return true;
    });
    EXPECT_TRUE(done.ok()) << done.error().message();
    EXPECT_FALSE(last.error) << source.path << ": " << last.error->message();
    return last;
  }

  Files give_back(const ImportReport& report) {
    Files files;
    auto exported = export_session(store_, report.session_id, {.to = report.agent},
                                   [&](const std::string& path, std::string_view bytes) {
                                     files[path] += bytes;
                                     return Result<void>();
                                   });
    EXPECT_TRUE(exported.ok()) << exported.error().message();
    return files;
  }

  SessionStore& sessions() { return store_.sessions(); }

 private:
  Store store_;
};

// A database is no file of records: its rows are compared by its own test.
bool is_database(const ImportSource& source) { return !source.part.empty(); }

std::string name_of(const ImportSource& source, std::size_t file) {
  return dialect::file_name(exchange::source_of(source), static_cast<std::uint32_t>(file));
}

// Of an index that sessions share, the line of this one.
Files files_of(const ImportSource& source) {
  Files files;
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    const std::string& path = source.files[i];
    files[name_of(source, i)] = path == source.index ? source.state + "\n" : whole(path);
  }
  return files;
}

void put(MemoryHost& host, const ImportSource& source, const Files& files) {
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    const auto file = files.find(name_of(source, i));
    if (file != files.end()) host.files[source.files[i]] = file->second;
  }
}

TEST(Corpus, EverySourceComesBackByteForByte) {
  std::map<std::string, std::pair<int, std::uint64_t>> sums;
  for (const ImportSource& source : corpus_sources()) {
    if (is_database(source)) continue;
    SCOPED_TRACE(source.path);
    Machine machine;
    const Files files = files_of(source);
    put(machine.host, source, files);
    const ImportReport report = machine.import(source);
    EXPECT_TRUE(machine.give_back(report) == files);
    ++sums[source.agent].first;
    sums[source.agent].second += report.total;
  }
  for (const auto& [agent, sum] : sums) {
    std::printf("%-10s %4d sources %8llu records, all given back\n", agent.c_str(), sum.first,
                static_cast<unsigned long long>(sum.second));
  }
}

TEST(Corpus, ImportingAgainAddsNothing) {
  for (const ImportSource& source : corpus_sources()) {
    if (is_database(source)) continue;
    SCOPED_TRACE(source.path);
    Machine machine;
    put(machine.host, source, files_of(source));
    const ImportReport first = machine.import(source);
    const auto before = machine.sessions().session_ends(first.session_id);
    const ImportReport second = machine.import(source);
    EXPECT_EQ(second.added, 0u);
    EXPECT_EQ(second.total, first.total);
    EXPECT_EQ(machine.sessions().session_ends(first.session_id)->entries, before->entries);
  }
}

TEST(Corpus, ASourceThatHasGrownAddsTheRestOnly) {
  for (const ImportSource& source : corpus_sources()) {
    if (is_database(source)) continue;
    SCOPED_TRACE(source.path);
    const Files files = files_of(source);
    const std::string& main = files.begin()->second;
    // Half a document is none.
    if (files.size() != 1 || !main.starts_with('{') || source.path.ends_with(".json")) continue;
    // Cut in the middle of a line, at a line's end, and right before it.
    const std::size_t middle = main.find('\n', main.size() / 2);
    if (middle == std::string::npos) continue;
    for (const std::size_t cut : {main.size() / 2, middle + 1, middle}) {
      SCOPED_TRACE(cut);
      if (main.find('\n') >= cut) continue;  // the header must be there
      Machine machine;
      put(machine.host, source, {{files.begin()->first, main.substr(0, cut)}});
      const ImportReport first = machine.import(source);
      put(machine.host, source, files);
      const ImportReport second = machine.import(source);
      EXPECT_GE(first.total + second.added, second.total);
      EXPECT_TRUE(machine.give_back(second) == files);
      EXPECT_EQ(machine.import(source).added, 0u);
    }
  }
}

}  // namespace
}  // namespace quipu
