// A sound log with any index: the answers are those without one.
//
// Input: a byte that chooses, then either the whole index file, or changes to a
// sound one: (offset, offset, mask) each.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim_world.h"

namespace {

using quipu::fuzz::Opened;
using quipu::fuzz::require;

constexpr std::string_view kSession = "s";
constexpr std::string_view kLog = "sessions/s.jsonl";
constexpr std::string_view kIndex = "sessions/s.idx";
constexpr std::size_t kIndexBytesMax = 65536;

std::string message(int number, std::string_view parent) {
  return "{\"id\":\"e" + std::to_string(number) + "\"," + std::string(parent) +
         R"("type":"message","timestamp":"2026-03-01T09:30:00.000Z","payload":{}})";
}

void append(Opened& opened, const std::string& line) {
  const std::string_view view = line;
  const auto appended = opened.sessions().append_session_lines(kSession, std::span(&view, 1));
  require(appended.ok());
}

// A store with one session of a hundred entries: branches, adopted lines, facts.
const quipu::fs::SimDisk& sound_disk() {
  static const quipu::fs::SimDisk disk = [] {
    quipu::fs::SimDisk made;
    Opened opened(made);
    quipu::NewSession session;
    session.id = kSession;
    require(opened.sessions().create_session(session).ok());
    for (int i = 0; i < 90; ++i) {
      append(opened, message(i, i % 10 == 9 ? "\"parentId\":\"e3\"," : ""));
      if (i % 30 == 7) {
        made.write_file(kLog, *made.read_file(kLog) + "{\"x\":1}\n{\"id\":\"twin\"}\n");
      }
    }
    append(opened, R"({"id":"h","type":"head","payload":{"entryId":"e9"}})");
    return made;
  }();
  return disk;
}

/// Everything there is to ask, as one text.
std::string answers(quipu::SessionStore& sessions) {
  std::string text;
  const auto entries = sessions.load_session_entries(kSession);
  const auto tree = sessions.session_tree(kSession);
  const auto summary = sessions.describe_session(kSession);
  require(entries.ok() && tree.ok() && summary.ok());
  for (const quipu::Entry& entry : *entries) {
    const auto found = tree->find(entry.id);
    require(found.ok());
    text += entry.json + (entry.parent_id ? *entry.parent_id : "-") + std::to_string(*found) + "\n";
  }
  require(!tree->find("no such id").ok());
  return text + summary->head + " " + summary->tail;
}

std::string changed(std::string index, std::span<const std::uint8_t> changes) {
  // One byte of an aligned word at most: what two faults in one small check
  // leave is a matter of luck.
  std::set<std::size_t> words;
  for (; changes.size() >= 3; changes = changes.subspan(3)) {
    const std::size_t at = (changes[0] | std::size_t{changes[1]} << 8) % index.size();
    if (words.insert(at / 8).second) index[at] = static_cast<char>(index[at] ^ changes[2]);
  }
  return index;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > kIndexBytesMax) return 0;
  quipu::fs::SimDisk disk = sound_disk();
  const std::string index = disk.read_file(kIndex).value();
  disk.remove_file(kIndex);
  static const std::string expected = [&] {
    quipu::fs::SimDisk bare = disk;
    Opened opened(bare);
    return answers(opened.sessions());
  }();
  const std::span<const std::uint8_t> input(data + 1, size - 1);
  disk.write_file(kIndex,
                  data[0] % 2 == 0
                      ? changed(index, input)
                      : std::string(reinterpret_cast<const char*>(input.data()), input.size()));
  Opened reader(disk);
  require(answers(reader.sessions()) == expected);

  // A writer finds the same entries and the same end, and mends the index.
  Opened writer(disk);
  for (const int number : {0, 9, 42, 89}) {
    const std::string line = message(number, "");
    const std::string_view view = line;
    const auto repeated = writer.sessions().append_session_lines(kSession, std::span(&view, 1));
    require(repeated.ok() && repeated->already_present == 1);
  }
  quipu::AppendOptions at_tail;
  at_tail.expected_tail = "h";
  const std::string line = message(1000, "");
  const std::string_view view = line;
  require(writer.sessions().append_session_lines(kSession, std::span(&view, 1), at_tail).ok());
  const auto entries = reader.sessions().load_session_entries(kSession);
  require(entries.ok() && entries->back().id == "e1000" && entries->back().parent_id == "e9");
  return 0;
}
