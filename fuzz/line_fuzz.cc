// Any bytes as a log: recovery ends, invents nothing, agrees with itself, and an
// append to it keeps everything that was visible.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_scan.h"
#include "log/recover.h"
#include "sim_world.h"

namespace {

using quipu::Code;
using quipu::fuzz::Opened;
using quipu::fuzz::require;
using quipu::log::Damage;
using quipu::log::Line;
using quipu::log::Recovered;

// Renaming lines of equal id is quadratic in their number when ids are asked for.
constexpr std::size_t kBytesMax = 8192;
constexpr std::string_view kSession = "s";

class Sink : public quipu::log::LineSink {
 public:
  void accept(const Line& line) override {
    lines.push_back(line);
    ids_.emplace(quipu::read_envelope_prefix(line.text).id.view());
  }
  void damaged(const Damage& damage) override { damages.push_back(damage); }
  bool knows(std::string_view line) override {
    return ids_.contains(std::string(quipu::read_envelope_prefix(line).id.view()));
  }
  bool shows_same(const Sink& other) const {
    return std::equal(lines.begin(), lines.end(), other.lines.begin(), other.lines.end(),
                      [](const Line& a, const Line& b) {
                        return a.offset == b.offset && a.text == b.text && a.sealed == b.sealed;
                      });
  }
  std::vector<Line> lines;
  std::vector<Damage> damages;

 private:
  std::set<std::string> ids_;
};

void check_lines(std::string_view bytes, const Sink& sink, const Recovered& end) {
  require(end.committed + end.torn_bytes == bytes.size());
  std::uint64_t at = 0;
  for (const Line& line : sink.lines) {
    require(line.offset >= at);
    at = line.offset + line.text.size();
    require(at <= end.committed);
    require(bytes.substr(line.offset, line.text.size()).data() == line.text.data());
    require(line.offset == 0 || bytes[line.offset - 1] == '\n');
    require(at == bytes.size() || bytes[at] == '\n');
    require(quipu::log::find_seal(line.text).has_value() == line.sealed);
    require(line.sealed || quipu::json::is_object(line.text));
  }
  // A reader that maps no more than this sees the same.
  const std::size_t settled = quipu::log::settled_end(bytes);
  require(settled >= at);
  Sink reader;
  quipu::log::recover(bytes.substr(0, settled), 0, quipu::log::chain_seed(kSession), reader);
  require(reader.shows_same(sink));
}

// Whether the next seal behind `cut` was made by somebody who had seen all before it. One that
// passes over lines before the cut was not, and then nobody stops there: who notes how far a
// log was read holds its lock, and so does who writes behind it.
bool was_seen(std::string_view bytes, std::size_t cut) {
  std::size_t first = cut;  // of the lines without a seal that end there
  while (first > 0) {
    const std::size_t feed = bytes.substr(0, first - 1).rfind('\n');
    const std::size_t start = feed == std::string_view::npos ? 0 : feed + 1;
    if (quipu::log::find_seal(bytes.substr(start, first - 1 - start))) break;
    first = start;
  }
  std::string_view sealed = bytes.substr(cut);
  const auto line_of = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  while (!sealed.empty() && !quipu::log::find_seal(line_of(sealed))) {
    sealed.remove_prefix(std::min(sealed.size(), line_of(sealed).size() + 1));
  }
  if (sealed.empty()) return true;
  sealed = line_of(sealed);
  const std::uint32_t crc = quipu::log::find_seal(sealed)->crc;
  Sink before;
  std::uint32_t chain =
      quipu::log::recover(bytes.substr(0, first), 0, quipu::log::chain_seed(kSession), before)
          .chain;
  for (std::string_view passed = bytes.substr(first, cut - first); !passed.empty();) {
    if (quipu::log::seal_crc(chain, sealed) == crc) return false;
    const std::string_view line = line_of(passed);
    chain = quipu::log::fold_unsealed(chain, line);
    passed.remove_prefix(line.size() + 1);
  }
  return true;
}

// Catching up from the end of any line is the same as reading everything.
void check_steps(std::string_view bytes, const Sink& sink, const Recovered& end) {
  if (!sink.damages.empty()) return;
  for (std::size_t cut = bytes.find('\n'); cut != std::string_view::npos;
       cut = bytes.find('\n', cut + 1)) {
    Sink steps;
    const Recovered first =
        quipu::log::recover(bytes.substr(0, cut + 1), 0, quipu::log::chain_seed(kSession), steps);
    if (!was_seen(bytes, first.committed)) continue;
    const Recovered second =
        quipu::log::recover(bytes.substr(first.committed), first.committed, first.chain, steps);
    require(steps.shows_same(sink));
    require(second.committed == end.committed && second.chain == end.chain);
    if (cut > 2048) return;  // quadratic
  }
}

quipu::Result<std::vector<quipu::Entry>> entries_of(Opened& opened) {
  return opened.sessions().load_session_entries(kSession);
}

// What a writer adds behind the end counts, and takes nothing away.
void check_next_batch(std::string_view bytes, const Sink& sink, const Recovered& end) {
  std::string log(bytes.substr(0, end.committed));
  if (!log.empty() && log.back() != '\n') log += '\n';
  std::uint32_t chain = end.chain;
  for (std::uint32_t remaining = 2; remaining-- > 0;) {
    std::string line;
    quipu::log::append_unsealed(line, "{\"id\":\"new-" + std::to_string(remaining) + "\"");
    chain = quipu::log::write_seal(line.data(), line.size(), remaining, chain);
    log += line;
  }
  Sink after;
  const Recovered again = quipu::log::recover(log, 0, quipu::log::chain_seed(kSession), after);
  require(again.torn_bytes == 0 && again.chain == chain);
  require(after.lines.size() >= sink.lines.size() + 2);
  for (std::size_t i = 0; i < sink.lines.size(); ++i) {
    require(after.lines[i].offset == sink.lines[i].offset);
    require(after.lines[i].text == sink.lines[i].text);
  }
}

bool begins_with(const std::vector<quipu::Entry>& all, const std::vector<quipu::Entry>& first) {
  return all.size() >= first.size() &&
         std::equal(first.begin(), first.end(), all.begin(),
                    [](const auto& a, const auto& b) { return a.id == b.id && a.json == b.json; });
}

void check_store(std::string_view bytes) {
  quipu::fs::SimDisk disk;
  { Opened make(disk); }
  disk.write_file("sessions/s.jsonl", bytes);
  Opened opened(disk);
  auto& sessions = opened.sessions();
  const auto before = entries_of(opened);
  quipu::ignore(sessions.verify_session(kSession), "it must end");
  quipu::ignore(sessions.dump_session(kSession), "it must end");
  quipu::ignore(sessions.describe_session(kSession), "it must end");
  quipu::ignore(sessions.session_tree(kSession), "it must end");
  const std::string_view line =
      R"({"id":"fuzz-\u002dnew","type":"message","parentId":null,"payload":{}})";
  const auto appended = sessions.append_session_lines(kSession, std::span(&line, 1));
  const auto after = entries_of(opened);
  require(before.ok() == after.ok());
  if (!before.ok()) return;
  require(begins_with(*after, *before));
  if (appended.ok()) {
    require(after->size() == before->size() + appended->appended_count);
    require(appended->appended_count == 0 || after->back().id == "fuzz--new");
  } else {
    require(appended.error().code() == Code::kUnsupported ||
            appended.error().code() == Code::kIdConflict);
    require(after->size() == before->size());
  }
  disk.remove_file("sessions/s.idx");
  Opened fresh(disk);
  const auto again = entries_of(fresh);
  require(again.ok() && again->size() == after->size() && begins_with(*again, *after));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kBytesMax) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Sink sink;
  const Recovered end = quipu::log::recover(bytes, 0, quipu::log::chain_seed(kSession), sink);
  check_lines(bytes, sink, end);
  check_steps(bytes, sink, end);
  check_next_batch(bytes, sink, end);
  check_store(bytes);
  return 0;
}
