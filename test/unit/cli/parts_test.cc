// The small parts of the command line that need no store.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "cli/columns.h"
#include "cli/errors.h"
#include "cli/ids.h"
#include "cli/json_in.h"
#include "cli/json_out.h"
#include "cli/line_reader.h"
#include "cli/message_text.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/times.h"
#include "cli/tree_layout.h"

namespace quipu::cli {
namespace {

TEST(ExitCodes, TheWholeTable) {
  const std::vector<std::pair<Code, int>> table = {
      {Code::kNotFound, 3},
      {Code::kTailMoved, 4},
      {Code::kHeadMoved, 4},
      {Code::kFenced, 4},
      {Code::kIdConflict, 4},
      {Code::kPartialOverlap, 4},
      {Code::kUnknownParent, 1},
      {Code::kBadBatch, 1},
      {Code::kInvalidArgument, 1},
      {Code::kTooLarge, 1},
      {Code::kBusy, 7},
      {Code::kNoSpace, 11},
      {Code::kNoMemory, 1},
      {Code::kCorrupt, 5},
      {Code::kIoError, 11},
      {Code::kDurabilityUnknown, 11},
      {Code::kStorageGone, 11},
      {Code::kNotAllowed, 9},
      {Code::kUnsupported, 6},
      {Code::kInternal, 1},
  };
  for (const auto& [code, expected] : table) EXPECT_EQ(exit_code(code), expected) << name(code);
}

TEST(Errors, AsJson) {
  EXPECT_EQ(error_object(Error(Code::kBusy, "say \"when\"\x1b").with_hint("wait")),
            R"({"code":"busy","message":"say \"when\"\u001b","hint":"wait","retryable":true})");
  EXPECT_EQ(
      error_object(Error(Code::kTailMoved, "m").with_hint("h").with_actual("e9")),
      R"({"code":"tail_moved","message":"m","hint":"h","retryable":false,"actualTail":"e9"})");
  EXPECT_EQ(error_object(Error(Code::kHeadMoved, "m").with_hint("h").with_entry_ids({"a", "b"})),
            R"({"code":"head_moved","message":"m","hint":"h","retryable":false,)"
            R"("actualHead":null,"entryIds":["a","b"]})");
}

TEST(Errors, NearestMatch) {
  const std::vector<std::string> names{"append", "list", "show", "--store", "--json"};
  EXPECT_EQ(nearest("lst", names), "list");
  EXPECT_EQ(nearest("appned", names), "append");
  EXPECT_EQ(nearest("--sore", names), "--store");
  EXPECT_EQ(nearest("app", names), "append");
  EXPECT_EQ(nearest("frobnicate", names), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), names), "");
}

TEST(Color, Rules) {
  const ColorWishes none;
  EXPECT_TRUE(use_color(ColorMode::kAuto, none, true));
  EXPECT_FALSE(use_color(ColorMode::kAuto, none, false));
  EXPECT_FALSE(use_color(ColorMode::kAuto, {.no_color = true}, true));
  EXPECT_TRUE(use_color(ColorMode::kAuto, {.clicolor_force = true}, false));
  EXPECT_FALSE(use_color(ColorMode::kAuto, {.no_color = true, .clicolor_force = true}, true));
  EXPECT_FALSE(use_color(ColorMode::kAuto, {.dumb = true}, true));
  EXPECT_TRUE(use_color(ColorMode::kAlways, {.no_color = true, .dumb = true}, false));
  EXPECT_FALSE(use_color(ColorMode::kNever, {.clicolor_force = true}, true));
}

TEST(Ids, Prefixes) {
  const Noun noun{"session", "look"};
  const std::vector<std::string> ids{"abc", "abcd", "abd", "x"};
  EXPECT_EQ(match_prefix(noun, "x", ids).value(), "x");
  EXPECT_EQ(match_prefix(noun, "abcd", ids).value(), "abcd");
  EXPECT_EQ(match_prefix(noun, "abc", ids).value(), "abc") << "an exact match wins";
  const auto ambiguous = match_prefix(noun, "ab", ids);
  ASSERT_FALSE(ambiguous.ok());
  EXPECT_EQ(ambiguous.error().code(), Code::kNotFound);
  EXPECT_EQ(ambiguous.error().hint(), "Candidates: abc, abcd, abd");
  const auto missing = match_prefix(noun, "y", ids);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_EQ(missing.error().hint(), "look");
  EXPECT_EQ(match_prefix(noun, "", ids).error().code(), Code::kInvalidArgument);
}

TEST(Ids, ShortIdsAreUniquePrefixes) {
  const std::vector<std::string> ids{"0190a1b2-c3d4-7001-x", "0190a1b2-c3d4-7002-x", "short",
                                     "0190a1b3-0000-7000-x"};
  const ShortIds short_ids(ids);
  EXPECT_EQ(short_ids.of("short"), "short");
  for (const std::string& id : ids) {
    const std::string shown = short_ids.of(id);
    EXPECT_GE(shown.size(), std::min<std::size_t>(8, id.size()));
    EXPECT_EQ(match_prefix({"id", ""}, shown, ids).value(), id);
  }
  EXPECT_EQ(short_ids.of(ids[0]), "0190a1b2-c3d4-7001");
  EXPECT_EQ(short_ids.of(ids[3]), "0190a1b3");
}

TEST(Json, Writer) {
  JsonWriter json;
  json.begin_object()
      .member("a", "x\ty\n")
      .member("b", true)
      .optional_member("c", "")
      .key("d")
      .begin_array()
      .value(std::uint64_t{18446744073709551615u})
      .raw("{}")
      .end_array()
      .member("e", std::vector<std::string>{})
      .end_object();
  EXPECT_EQ(json.text(),
            R"({"a":"x\ty\n","b":true,"c":null,"d":[18446744073709551615,{}],"e":[]})");
  EXPECT_EQ(quoted("\xff\x7f"), "\"\xEF\xBF\xBD\\u007f\"");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Json, Reader) {
  const JsonView json(R"( {"a" : "x\"\u00e9\ud83d\ude00\n", "b":[1, {"c":[]}, "]"], "d":null} )");
  EXPECT_EQ(json.member("a").string(), "x\"é\U0001F600\n");
  ASSERT_EQ(json.member("b").elements().size(), 3u);
  EXPECT_EQ(json.member("b").elements()[1].member("c").raw(), "[]");
  EXPECT_EQ(json.member("b").elements()[2].string(), "]");
  EXPECT_EQ(json.member("d").raw(), "null");
  EXPECT_FALSE(json.member("x").exists());
  EXPECT_EQ(JsonView(R"("\ud83d")").string(), "\uFFFD");
}

TEST(Json, ReaderIsTotal) {
  const std::string good = R"({"role":"user","content":[{"type":"text","text":"a\u12"}]})";
  for (std::size_t cut_at = 0; cut_at <= good.size(); ++cut_at) {
    const JsonView json(std::string_view(good).substr(0, cut_at));
    json.member("content").elements();
    json.member("role").string();
  }
  for (const std::string_view bad : {"", "{", "[", "\"", "\"\\", "{]", "[}", "{\"a\"}", "[,]", "}{",
                                     "{:}", "\"\\u", "[[[[", "{\"a\":}", "nope"}) {
    const JsonView json(bad);
    json.member("a").string();
    json.elements();
    json.string();
  }
}

TEST(MessageText, Conversation) {
  EntryView entry;
  entry.type = "message";
  entry.payload = R"({"role":"assistant","content":[{"type":"thinking","text":"hm"},
    {"type":"text","text":"Hello"},{"type":"tool_use","name":"ls","input":{"a":1}},
    {"type":"tool_result","content":[{"type":"text","text":"out"}],"isError":true}]})";
  EXPECT_EQ(speaker_of(entry), "assistant");
  const auto blocks = blocks_of(entry);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[1].text, "Hello");
  EXPECT_EQ(blocks[2].label, "ls");
  EXPECT_EQ(blocks[2].text, R"({"a":1})");
  EXPECT_EQ(blocks[3].text, "out");
  EXPECT_EQ(blocks[3].label, "error");
  EXPECT_EQ(preview_of(entry), "Hello") << "not the thought before it";

  entry.payload = R"({"role":"user","content":"hi"})";
  EXPECT_EQ(preview_of(entry), "hi");
  entry.type = "user";
  entry.payload = R"({"message":{"role":"user","content":"wrapped"}})";
  EXPECT_EQ(preview_of(entry), "wrapped");
  entry.type = "model_change";
  entry.payload = R"({"model":"m"})";
  EXPECT_EQ(speaker_of(entry), "model_change");
  EXPECT_EQ(preview_of(entry), R"({"model":"m"})");
  entry.redacted = true;
  EXPECT_EQ(preview_of(entry), "redacted");
}

TEST(Table, FitsTheTerminal) {
  Table table({{.title = "ID"},
               {.title = "N", .right = true},
               {.title = "TITLE", .fit = Table::Fit::kCutEnd},
               {.title = "DIR", .fit = Table::Fit::kCutStart, .expendable = true}});
  table.add({"a1b2c3d4", "7", "日本語のとても長いタイトルです", "/a/very/long/path/to/somewhere"});
  table.add({"ffffffff", "12345", "", ""});
  for (std::size_t width = 30; width < 100; ++width) {
    for (const std::string& line : table.lines({.width = width})) {
      EXPECT_LE(columns_of(line), width) << line;
    }
  }
  const auto whole = table.lines({});
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[1],
            "a1b2c3d4      7  日本語のとても長いタイトルです  /a/very/long/path/to/somewhere");
  EXPECT_EQ(whole[2], "ffffffff  12345") << "no spaces at the end";
}

TEST(TreeLayout, MainLineStaysLeft) {
  // 0 fact, 1 root, 2 its child, 3 and 5 children of 2, 4 child of 3, head 5.
  const auto lines = lay_out({0, 1, 1, 2, 3, 2}, {false, true, true, true, true, true}, 5);
  std::vector<std::string> drawn;
  for (const TreeLine& line : lines) {
    drawn.push_back(std::to_string(line.depth) + (line.starts_branch ? "-" : " ") +
                    std::to_string(line.node) + (line.on_head_path ? "*" : ""));
  }
  EXPECT_EQ(drawn, (std::vector<std::string>{"0 1*", "0 2*", "1-3", "1 4", "0 5*"}));
}

TEST(TreeLayout, DeepAndBranchyTreesStayNarrow) {
  constexpr SessionTree::Ordinal kCount = 200'000;
  std::vector<SessionTree::Ordinal> parents(kCount);
  for (SessionTree::Ordinal i = 1; i < kCount; ++i) parents[i] = i % 20 == 0 ? i / 2 : i - 1;
  const auto lines = lay_out(parents, std::vector<bool>(kCount, true), kCount - 1);
  ASSERT_EQ(lines.size(), kCount);
  std::vector<bool> seen(kCount);
  for (const TreeLine& line : lines) {
    EXPECT_LE(line.depth, 19u);
    EXPECT_TRUE(line.node == 0 || seen[parents[line.node]]) << "after its parent";
    seen[line.node] = true;
  }
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() {
    close(ends_[0]);
    shut();
  }
  int reader() const { return ends_[0]; }
  void put(std::string_view text) const {
    ASSERT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void shut() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(LineReader, LinesAsTheyArrive) {
  Pipe pipe;
  LineReader reader(pipe.reader(), "input", 10);
  pipe.put("one\r\n\ntw");
  EXPECT_EQ(reader.next().value().value(), "one");
  EXPECT_EQ(reader.next().value().value(), "");
  // The next line is not whole; nothing may be asked of the pipe before it is.
  pipe.put("o\n0123456789\nlast");
  EXPECT_EQ(reader.next().value().value(), "two");
  EXPECT_EQ(reader.next().value().value(), "0123456789");
  EXPECT_EQ(reader.line_number(), 4u);
  pipe.shut();
  EXPECT_EQ(reader.next().value().value(), "last");
  EXPECT_FALSE(reader.next().value().has_value());
  EXPECT_FALSE(reader.next().value().has_value());
}

TEST(LineReader, OverlongLineIsRefusedBeforeItsEnd) {
  Pipe pipe;
  LineReader reader(pipe.reader(), "input", 10);
  pipe.put("ok\n0123456789ABCDEF");
  EXPECT_EQ(reader.next().value().value(), "ok");
  const auto line = reader.next();
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().code(), Code::kTooLarge);
  EXPECT_NE(line.error().message().find("line 2"), std::string::npos);
}

TEST(Output, WriteErrorsAreNotLost) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  Output out(full);
  out.line("lost");
  const auto flushed = out.flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().code(), Code::kNoSpace);
  EXPECT_TRUE(out.failed());
  close(full);
}

TEST(Times, UtcAndLocal) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(utc_text(1772357400123), "2026-03-01T09:30:00.123Z");
  setenv("TZ", "UTC-3", 1);  // three hours east
  tzset();
  EXPECT_EQ(local_text(std::int64_t{1772357400123}), "2026-03-01 12:30");
  EXPECT_EQ(local_text("2026-03-01T09:30:00.123Z"), "2026-03-01 12:30");
  EXPECT_EQ(local_text("yesterday"), "yesterday");
  EXPECT_EQ(local_text(""), "");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1234567), "1.2 MB");
}

TEST(Times, HowLongAgo) {
  constexpr std::int64_t kNow = 1'772'357'400'000;
  constexpr std::int64_t kMinute = 60'000;
  EXPECT_EQ(ago_text(kNow + kMinute, kNow), "now");
  EXPECT_EQ(ago_text(kNow - kMinute + 1, kNow), "now");
  EXPECT_EQ(ago_text(kNow - kMinute, kNow), "1 min ago");
  EXPECT_EQ(ago_text(kNow - 60 * kMinute, kNow), "1 h ago");
  EXPECT_EQ(ago_text(kNow - 48 * 60 * kMinute, kNow), "2 d ago");
  EXPECT_EQ(ago_text(kNow - 400 * 24 * 60 * kMinute, kNow).size(), 10u);
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(12345), "12.3k");
  EXPECT_EQ(count_text(4'500'000), "4.5M");
}

TEST(Times, AsPeopleGiveThem) {
  constexpr std::int64_t kNow = 1'772'357'400'000;
  EXPECT_EQ(read_time("30m", kNow), kNow - 30 * 60'000);
  EXPECT_EQ(read_time("2w", kNow), kNow - 14 * 24 * 3'600'000LL);
  EXPECT_EQ(read_time("2026-03-01T09:30:00Z", 0), 1'772'357'400'000);
  EXPECT_EQ(read_time("2026-03-01T09:30:00.123Z", 0), 1'772'357'400'000);
  EXPECT_TRUE(read_time("2026-03-01", 0).has_value());
  for (const char* text : {"", "m", "5", "-5m", "5x", "5mm", "2026-03-0", "2026-03-01T", "now"}) {
    EXPECT_FALSE(read_time(text, kNow).has_value()) << text;
  }
}

TEST(Progress, LineFits) {
  using std::chrono::milliseconds;
  for (std::size_t width = 1; width < 120; ++width) {
    EXPECT_LE(columns_of(progress_line("verifying", 3, 10, milliseconds(3000), width)), width);
  }
  EXPECT_EQ(progress_line("x", 5, 10, milliseconds(2000), 30), "x  50 %  2 s, 2 s left");
  EXPECT_EQ(progress_line("x", 0, 0, milliseconds(2000), 30), "x 2 s");
}

}  // namespace
}  // namespace quipu::cli
