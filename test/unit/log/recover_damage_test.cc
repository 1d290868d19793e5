// Damage of every kind at every place, and what recovery makes of it.
#include <gtest/gtest.h>

#include <functional>

#include "log_text.h"

namespace quipu::log {
namespace {

using Written = LogText::Written;

std::vector<std::string> texts_if(const LogText& log,
                                  const std::function<bool(const Written&)>& keep) {
  std::vector<std::string> texts;
  for (const Written& line : log.lines()) {
    if (keep(line)) texts.push_back(line.text);
  }
  return texts;
}

/// What holds whatever happened to a log: released lines were written once, in
/// this order; what is not released is damage, blank or torn.
void expect_nothing_invented(const LogText& log, const Outcome& outcome, std::string_view bytes,
                             std::size_t where) {
  auto next = log.lines().begin();
  for (const Seen& line : outcome.sink.seen) {
    next = std::find_if(next, log.lines().end(),
                        [&](const Written& written) { return written.text == line.text; });
    ASSERT_NE(next, log.lines().end())
        << "invented or out of order: " << line.text << " at " << where;
    ++next;
    ASSERT_EQ(bytes.substr(line.offset, line.text.size()), line.text) << where;
  }
  ASSERT_EQ(outcome.end.committed + outcome.end.torn_bytes, bytes.size()) << where;
}

/// Batches are released whole or not at all, when nothing but the tail is hurt.
void expect_whole_batches(const LogText& log, const Outcome& outcome, std::size_t where) {
  const auto& lines = log.lines();
  const std::size_t count = outcome.sink.seen.size();
  ASSERT_TRUE(count == 0 || count == lines.size() || lines[count].batch != lines[count - 1].batch)
      << "part of a batch, at " << where;
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(outcome.sink.seen[i].text, lines[i].text) << where;
}

void expect_steps_agree(std::string_view bytes, std::size_t where) {
  const Outcome full = recover_all(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    // Catching up begins at ends of lines, and at the end of a line that waits
    // for its line feed, which a writer adds before anybody goes on.
    if (cut != 0 && bytes[cut - 1] != '\n') continue;
    ASSERT_TRUE(same_outcome(recover_in_two_steps(bytes, cut), full))
        << "catching up from " << cut << " differs from a full scan; damage at " << where;
  }
}

TEST(TornTail, CutAtEveryByte) {
  const LogText log = usual_log();
  for (std::size_t cut = 0; cut <= log.bytes().size(); ++cut) {
    const std::string_view bytes = std::string_view(log.bytes()).substr(0, cut);
    const Outcome outcome = recover_all(bytes);
    expect_nothing_invented(log, outcome, bytes, cut);
    expect_whole_batches(log, outcome, cut);
    std::size_t whole = 0;
    for (std::size_t batch = 0; batch < log.batches(); ++batch) {
      if (log.end_of(batch) <= cut) whole = log.end_of(batch);
    }
    EXPECT_EQ(outcome.end.committed, whole) << cut;
    EXPECT_TRUE(outcome.sink.damages.empty()) << cut;
    EXPECT_LE(settled_end(bytes), outcome.end.committed) << cut;
    expect_steps_agree(bytes, cut);
  }
}

TEST(TornTail, NulRunOfEveryLength) {
  const LogText log = usual_log();
  // Instead of the last bytes (size without data), and behind them.
  for (std::size_t length = 1; length <= log.bytes().size(); ++length) {
    std::string bytes = log.bytes();
    bytes.replace(bytes.size() - length, length, length, '\0');
    const Outcome outcome = recover_all(bytes);
    expect_nothing_invented(log, outcome, bytes, length);
    expect_whole_batches(log, outcome, length);
    EXPECT_LE(settled_end(bytes), outcome.end.committed) << length;

    const std::string longer = log.bytes() + std::string(length, '\0');
    const Outcome behind = recover_all(longer);
    EXPECT_EQ(behind.end.committed, log.bytes().size());
    EXPECT_EQ(behind.end.torn_bytes, length);
    EXPECT_EQ(settled_end(longer), log.bytes().size());
  }
}

// The last batch, larger than some blocks, with any set of its blocks lost.
TEST(TornTail, ZeroedBlocksOfTheLastBatch) {
  LogText log;
  log.messages(1).messages(2).messages(30);
  const std::size_t from = log.end_of(1);
  const std::size_t first_block = from / 512;
  const std::size_t blocks = log.bytes().size() / 512 + 1 - first_block;
  ASSERT_GE(blocks, 5U);
  for (std::size_t lost = 1; lost < (std::size_t{1} << blocks); ++lost) {
    std::string bytes = log.bytes();
    for (std::size_t block = 0; block < blocks; ++block) {
      if ((lost >> block & 1) == 0) continue;
      const std::size_t start = std::max(from, (first_block + block) * 512);
      const std::size_t end = std::min(bytes.size(), (first_block + block + 1) * 512);
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(start),
                bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    }
    const Outcome outcome = recover_all(bytes);
    EXPECT_EQ(outcome.sink.texts(),
              texts_if(log, [](const Written& line) { return line.batch < 2; }))
        << lost;
    EXPECT_EQ(outcome.end.committed, from);
  }
}

std::size_t sealed_lines(const Outcome& outcome) {
  return static_cast<std::size_t>(std::count_if(outcome.sink.seen.begin(), outcome.sink.seen.end(),
                                                [](const Seen& line) { return line.sealed; }));
}

TEST(TornTail, StaleBlocksCopiedOverTheLastBatch) {
  LogText log;
  log.messages(1).messages(8).messages(1).messages(1).messages(20);
  const std::size_t from = log.end_of(3);
  for (std::size_t source = 0; source < from; ++source) {
    for (std::size_t block = (from + 511) / 512; block * 512 < log.bytes().size(); ++block) {
      std::string bytes = log.bytes();
      const std::size_t size =
          std::min<std::size_t>({512, bytes.size() - block * 512, from - source});
      bytes.replace(block * 512, size, log.bytes().substr(source, size));
      if (bytes == log.bytes()) continue;
      const Outcome outcome = recover_all(bytes);
      // Two pieces may come together as a whole JSON object, which nobody can
      // tell from another program's line. No sealed line may be believed.
      ASSERT_EQ(sealed_lines(outcome), 11U) << source << " over block " << block;
    }
    // Whole pieces of the log behind its end.
    const std::string bytes =
        log.bytes().substr(0, from) + log.bytes().substr(source, from - source);
    const Outcome outcome = recover_all(bytes);
    ASSERT_EQ(sealed_lines(outcome), 11U) << source;
  }
}

/// The damaged lines of a flip at `at`: the one it is in, and, when it is the
/// line feed that goes, the one glued to it.
std::vector<std::size_t> lines_hurt(const LogText& log, std::size_t at) {
  std::vector<std::size_t> hurt;
  for (std::size_t i = 0; i < log.lines().size(); ++i) {
    const Written& line = log.lines()[i];
    if (at >= line.offset && at < line.end()) {
      hurt.push_back(i);
      if (at + 1 == line.end() && i + 1 < log.lines().size()) hurt.push_back(i + 1);
    }
  }
  return hurt;
}

void check_flip(const LogText& log, std::size_t at, int bit) {
  std::string bytes = log.bytes();
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  const std::size_t where = at * 10 + static_cast<std::size_t>(bit);
  const Outcome outcome = recover_all(bytes);
  expect_nothing_invented(log, outcome, bytes, where);
  const auto hurt = lines_hurt(log, at);
  const std::size_t last = log.lines()[hurt.back()].batch;
  if (last + 1 == log.batches()) {
    // No whole batch behind it: torn from the first batch that was hurt.
    const std::size_t first = log.lines()[hurt.front()].batch;
    const auto before = texts_if(log, [&](const Written& line) { return line.batch < first; });
    ASSERT_EQ(outcome.sink.texts(), before) << "byte " << at << " bit " << bit;
  } else {
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < log.lines().size(); ++i) {
      if (std::find(hurt.begin(), hurt.end(), i) == hurt.end()) {
        expected.push_back(log.lines()[i].text);
      }
    }
    ASSERT_EQ(outcome.sink.texts(), expected) << "byte " << at << " bit " << bit;
    ASSERT_FALSE(outcome.sink.damages.empty()) << "byte " << at << " bit " << bit;
  }
  expect_steps_agree(bytes, where);
}

enum class Part { kBody, kSeal, kLineFeed };

void flip_every_bit(Part part) {
  const LogText log = usual_log();
  for (const Written& line : log.lines()) {
    const std::size_t seal = line.end() - 1 - kSealBytes;
    const std::size_t begin = part == Part::kBody   ? line.offset
                              : part == Part::kSeal ? seal
                                                    : line.end() - 1;
    const std::size_t end = part == Part::kBody   ? seal
                            : part == Part::kSeal ? line.end() - 1
                                                  : line.end();
    for (std::size_t at = begin; at < end; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        check_flip(log, at, bit);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Rot, EveryBitOfEveryBodyCostsThatLine) { flip_every_bit(Part::kBody); }
TEST(Rot, EveryBitOfEverySealCostsThatLine) { flip_every_bit(Part::kSeal); }
TEST(Rot, EveryBitOfEveryLineFeedCostsTheTwoLines) { flip_every_bit(Part::kLineFeed); }

const Written* next_sealed(const LogText& log, std::size_t line) {
  while (++line < log.lines().size()) {
    if (log.lines()[line].sealed) return &log.lines()[line];
  }
  return nullptr;
}

TEST(Rot, EveryBitAmongAdoptedLines) {
  LogText log;
  log.messages(2).foreign(R"({"id":"x","v":1})").messages(1).foreign("").messages(3);
  log.foreign(R"({"id":"y"})").foreign(R"({"id":"z"})").messages(2).messages(1);
  for (std::size_t at = 0; at < log.bytes().size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = log.bytes();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const Outcome outcome = recover_all(bytes);
      // A changed foreign line is another foreign line: nobody can tell. All
      // sealed lines of batches that are not touched must be there, except
      // behind the last proof.
      const auto hurt = lines_hurt(log, at);
      const std::size_t last = log.lines()[hurt.back()].batch;
      if (last + 1 == log.batches()) continue;
      for (const Written& line : log.lines()) {
        const std::size_t first = log.lines()[hurt.front()].batch;
        if (!line.sealed || (line.batch >= first && line.batch <= last)) continue;
        // The next seal behind a foreign line covers it: it cannot tell which of
        // the two has changed.
        if (!log.lines()[hurt.back()].sealed && &line == next_sealed(log, hurt.back())) continue;
        const auto seen = outcome.sink.texts();
        ASSERT_NE(std::find(seen.begin(), seen.end(), line.text), seen.end())
            << "byte " << at << " bit " << bit << " lost " << line.text;
      }
    }
  }
}

TEST(Rot, EveryLineRemoved) {
  const LogText log = usual_log();
  for (std::size_t gone = 0; gone < log.lines().size(); ++gone) {
    const Written& removed = log.lines()[gone];
    std::string bytes = log.bytes();
    bytes.erase(removed.offset, removed.text.size() + 1);
    const Outcome outcome = recover_all(bytes);
    expect_nothing_invented(log, outcome, bytes, gone);
    expect_steps_agree(bytes, gone);
    const bool in_tail = removed.batch + 2 >= log.batches();
    for (const Written& line : log.lines()) {
      const auto seen = outcome.sink.texts();
      const bool there = std::find(seen.begin(), seen.end(), line.text) != seen.end();
      if (line.batch < removed.batch) {
        EXPECT_TRUE(there) << gone;
      }
      // Without the line before it the next batch's first seal proves nothing;
      // those behind it stand.
      if (!in_tail && line.batch > removed.batch + 1) {
        EXPECT_TRUE(there) << gone;
      }
    }
  }
}

TEST(Rot, EveryTwoAdjacentLinesSwapped) {
  const LogText log = usual_log();
  for (std::size_t i = 0; i + 1 < log.lines().size(); ++i) {
    const Written& first = log.lines()[i];
    const Written& second = log.lines()[i + 1];
    const std::string bytes = log.bytes().substr(0, first.offset) + second.text + "\n" +
                              first.text + "\n" + log.bytes().substr(second.end());
    const Outcome outcome = recover_all(bytes);
    expect_steps_agree(bytes, i);
    const auto seen = outcome.sink.texts();
    for (const Written& line : log.lines()) {
      const auto times = std::count(seen.begin(), seen.end(), line.text);
      EXPECT_LE(times, 1) << i;
      if (line.batch < first.batch) {
        EXPECT_EQ(times, 1) << i;
      }
      if (second.batch + 2 < log.batches() && line.batch > second.batch + 1) {
        EXPECT_EQ(times, 1) << i;
      }
    }
  }
}

TEST(Rot, ZeroedBlockAnywhereCostsItsLinesOnly) {
  LogText log;
  for (int i = 0; i < 40; ++i) log.messages(static_cast<std::size_t>(i % 3 + 1));
  for (std::size_t block = 0; (block + 1) * 512 < log.bytes().size(); ++block) {
    std::string bytes = log.bytes();
    const std::size_t start = block * 512;
    bytes.replace(start, 512, 512, '\0');
    const Outcome outcome = recover_all(bytes);
    expect_nothing_invented(log, outcome, bytes, block);
    expect_steps_agree(bytes, block);
    const auto seen = outcome.sink.texts();
    std::size_t last = 0;
    for (const Written& line : log.lines()) {
      if (line.offset < start + 512) last = line.batch;
    }
    if (last + 3 > log.batches()) continue;  // too near the end to be proven
    for (const Written& line : log.lines()) {
      const bool hurt = line.offset < start + 512 && line.end() > start;
      const bool there = std::find(seen.begin(), seen.end(), line.text) != seen.end();
      // A batch whose commit line is among the lost ones never counts.
      bool commit_lost = false;
      for (const Written& other : log.lines()) {
        if (other.batch == line.batch && other.end() == log.end_of(line.batch)) {
          commit_lost = other.offset < start + 512 && other.end() > start;
        }
      }
      if (commit_lost && !hurt) continue;
      EXPECT_EQ(there, !hurt) << "block " << block << " " << line.text;
    }
  }
}

TEST(Foreign, LinesAtEveryPlace) {
  for (const std::string foreign : {R"({"id":"f"})", R"({"type":"user","uuid":"1"})", "{}"}) {
    for (std::size_t place = 0; place <= 4; ++place) {
      for (const char* ending : {"", "\r"}) {
        LogText log;
        for (std::size_t i = 0; i < 4; ++i) {
          if (i == place) log.foreign(foreign + ending).foreign("").foreign(" ");
          log.messages(i + 1);
        }
        if (place == 4) log.foreign(foreign + ending).foreign("");
        const Outcome outcome = recover_all(log.bytes());
        EXPECT_EQ(outcome.sink.seen.size(), 11U);
        EXPECT_TRUE(outcome.sink.damages.empty());
        EXPECT_EQ(outcome.end.chain, log.chain());
        EXPECT_EQ(outcome.end.committed, log.bytes().size());
        expect_steps_agree(log.bytes(), place);
      }
    }
  }
}

// A writer that did not know of the foreign line, or a line put in by an editor:
// the chain does not fit, and says so, but every whole line behind it counts.
TEST(Foreign, LineInsertedIntoASealedLog) {
  const LogText log = usual_log();
  for (std::size_t i = 0; i + 3 < log.lines().size(); ++i) {
    if (i > 0 && log.lines()[i].batch == log.lines()[i - 1].batch) continue;  // between batches
    if (log.lines()[i].batch + 2 >= log.batches()) continue;
    std::string bytes = log.bytes();
    bytes.insert(log.lines()[i].offset, "{\"id\":\"f\"}\n");
    const Outcome outcome = recover_all(bytes);
    const auto seen = outcome.sink.texts();
    EXPECT_NE(std::find(seen.begin(), seen.end(), R"({"id":"f"})"), seen.end());
    for (std::size_t k = 0; k < log.lines().size(); ++k) {
      if (k == i) continue;  // its seal does not fit any more
      EXPECT_NE(std::find(seen.begin(), seen.end(), log.lines()[k].text), seen.end())
          << i << " " << k;
    }
  }
}

TEST(Foreign, LineWithoutLineFeedGluedToTheNextOne) {
  LogText log;
  log.messages(1).messages(2);
  LogText more = log;
  more.messages(1).messages(2).messages(1);
  const std::string glued = log.bytes() + R"({"id":"f"})" + more.bytes().substr(log.bytes().size());
  const Outcome outcome = recover_all(glued);
  const auto seen = outcome.sink.texts();
  for (const Written& line : more.lines()) {
    const bool there = std::find(seen.begin(), seen.end(), line.text) != seen.end();
    EXPECT_EQ(there, line.offset != log.bytes().size()) << line.text;
  }
  EXPECT_EQ(outcome.sink.damages.size(), 1U);
}

}  // namespace
}  // namespace quipu::log
