// What reaches a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/columns.h"
#include "cli/utf8.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Our own colours are the one thing allowed: ESC [ digits m.
std::string without_colors(std::string text) {
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != std::string::npos;) {
    const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
    if (end == std::string::npos || text[end] != 'm') return text;
    text.erase(at, end + 1 - at);
  }
  return text;
}

// The terminal's driver turns each line feed into CR LF.
std::string without_returns(std::string text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string plain(const Outcome& outcome) { return without_returns(without_colors(outcome.out)); }

std::string unsafe_byte(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      return "byte " + std::to_string(byte) + " at " + std::to_string(i);
    }
  }
  if (!is_utf8(text)) return "not UTF-8";
  for (const std::string_view bad : {"\u202E", "\u2066", "\u200B", "\u009b", "\u0090"}) {
    if (text.find(bad) != std::string::npos) return "hidden character";
  }
  return "";
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : wrap(text, 0)) most = std::max(most, columns_of(line));
  return most;
}

constexpr std::string_view kHostile =
    "\x1b]0;owned\x07\x1b[2J\x1b[31m \u009b31m \u0090q \u202Efdp.exe \u2066\u200B\x7f\r\b end";

class TerminalTest : public CliTest {
 protected:
  void SetUp() override {
    const std::string hostile(kHostile);
    ASSERT_EQ(quipu({"new", "--id", "s", "--title", hostile, "--cwd", "/tmp/" + hostile}).code, 0);
    const Outcome stored = quipu(
        {"append", "s"},
        message("\u202Eid", "user\u009b", hostile) + message("e2", "assistant", hostile) +
            "{\"id\":\"e3\",\"type\":\"odd\u009b\",\"payload\":{\"k\u202E\":\"\\u001b[2J\"}}\n");
    ASSERT_EQ(stored.code, 0) << stored.err;
  }
};

TEST_F(TerminalTest, NoControlByteOfTheContentArrives) {
  const std::vector<std::vector<std::string>> commands = {{"list"},
                                                          {"list", "--wide"},
                                                          {"show", "s"},
                                                          {"show", "s", "--entry", "e2"},
                                                          {"tree", "s"},
                                                          {"cat", "s"},
                                                          {"cat", "s", "--sealed"},
                                                          {"dump", "s"},
                                                          {"path", "s", "e2"},
                                                          {"head", "s"},
                                                          {"verify"},
                                                          {"repair"},
                                                          {"list", "--json"},
                                                          {"show", "s", "--json"},
                                                          {"tree", "s", "--json"},
                                                          {"dump", "s", "--json"}};
  for (const auto& args : commands) {
    for (const std::string locale : {"C.UTF-8", "C"}) {
      const Outcome outcome = quipu_on_terminal(args, 100, {{"LC_ALL", locale}});
      EXPECT_EQ(outcome.code, 0) << args[0] << outcome.err;
      EXPECT_FALSE(outcome.out.empty()) << args[0];
      EXPECT_EQ(unsafe_byte(plain(outcome)), "") << args[0] << " in " << locale;
      if (locale == "C") {
        EXPECT_EQ(plain(outcome).find_first_of("\x80\x9b\xe2\xc2"), std::string::npos) << args[0];
      }
    }
  }
}

TEST_F(TerminalTest, ErrorsAreSafeToo) {
  const Outcome outcome = quipu({"cat", std::string(kHostile)});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(unsafe_byte(outcome.err), "");
  EXPECT_EQ(unsafe_byte(quipu({std::string(kHostile)}).err), "");
}

TEST_F(TerminalTest, PipesGetTheBytesAsTheyAre) {
  EXPECT_THAT(quipu({"cat", "s"}).out, HasSubstr("\u009b31m"));
  EXPECT_THAT(quipu({"head", "s"}).out, HasSubstr("e3"));
  EXPECT_THAT(quipu({"path", "s", "e2"}).out, HasSubstr("\u202Eid\n"));
}

TEST_F(TerminalTest, Colors) {
  const auto colored = [](const Outcome& outcome) {
    return outcome.out.find("\x1b[") != std::string::npos;
  };
  EXPECT_TRUE(colored(quipu_on_terminal({"tree", "s"}, 80)));
  EXPECT_FALSE(colored(quipu_on_terminal({"tree", "s"}, 80, {{"NO_COLOR", "1"}})));
  EXPECT_FALSE(colored(quipu_on_terminal({"tree", "s"}, 80, {{"TERM", "dumb"}})));
  EXPECT_FALSE(colored(quipu_on_terminal({"tree", "s", "--color", "never"}, 80)));
  EXPECT_FALSE(colored(quipu({"tree", "s"})));
  EXPECT_TRUE(colored(quipu({"tree", "s", "--color", "always"})));
  EXPECT_TRUE(colored(
      run_program({.args = with_store({"tree", "s"}), .environment = {{"CLICOLOR_FORCE", "1"}}})));
  EXPECT_EQ(quipu({"tree", "s", "--color", "pink"}).code, 2);
}

TEST_F(TerminalTest, LinesFitTheTerminal) {
  const std::string wide_title = "日本語のとても長いタイトルです、本当に長いのです";
  ASSERT_EQ(
      quipu({"new", "--title", wide_title, "--cwd", "/a/very/long/path/to/some/project"}).code, 0);
  ASSERT_EQ(quipu({"append", "s"}, message("w", "user", wide_title + wide_title)).code, 0);
  for (const unsigned short columns : {60, 80, 132}) {
    for (const auto& args : std::vector<std::vector<std::string>>{
             {"list"}, {"tree", "s"}, {"show", "s", "--entry", "w"}, {"dump", "s"}}) {
      const Outcome outcome = quipu_on_terminal(args, columns);
      EXPECT_LE(widest(plain(outcome)), columns) << args[0] << "\n" << plain(outcome);
    }
  }
  EXPECT_THAT(plain(quipu_on_terminal({"list"}, 60)), HasSubstr("…"));
}

// An id that another one begins with has no shorter form.
TEST_F(TerminalTest, LongIdsLeaveRoomForTitles) {
  const std::string id = "imported.0cf3db51-1111-4222-8333-444444444444";
  ASSERT_EQ(quipu({"new", "--id", id, "--title", "A talk about roads"}).code, 0);
  ASSERT_EQ(quipu({"new", "--id", id + ".d696ce25", "--title", "A talk about bridges"}).code, 0);
  const std::string text = plain(quipu_on_terminal({"list", "--all"}, 60));
  EXPECT_THAT(text, HasSubstr("A talk "));
  EXPECT_LE(widest(text), 60u) << text;
}

TEST_F(TerminalTest, BoxesOnlyWhereTheyCanBeDrawn) {
  ASSERT_EQ(quipu({"append", "s"}, message("b", "user", "branch", "e2")).code, 0);
  EXPECT_THAT(quipu_on_terminal({"tree", "s"}, 80).out, HasSubstr("├─"));
  EXPECT_THAT(quipu_on_terminal({"tree", "s"}, 80, {{"LC_ALL", "C"}}).out, HasSubstr("|-"));
  EXPECT_THAT(quipu({"tree", "s"}).out, Not(HasSubstr("├")));
}

TEST_F(TerminalTest, PagerOnTerminalsOnly) {
  const std::map<std::string, std::string> pager{{"QUIPU_PAGER", "sed 's/^/paged: /'"}};
  EXPECT_THAT(quipu_on_terminal({"show", "s"}, 80, pager).out, HasSubstr("paged: "));
  EXPECT_THAT(quipu_on_terminal({"show", "s", "--no-pager"}, 80, pager).out,
              Not(HasSubstr("paged: ")));
  EXPECT_THAT(run_program({.args = with_store({"show", "s"}), .environment = pager}).out,
              Not(HasSubstr("paged: ")));
  // One that is not there is done without.
  EXPECT_THAT(quipu_on_terminal({"show", "s"}, 80, {{"PAGER", "/no/such/pager -x"}}).out,
              HasSubstr("end"));
  // A pager that is left at once is no failure.
  const Outcome left = quipu_on_terminal({"show", "s"}, 80, {{"QUIPU_PAGER", "true"}});
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_EQ(left.err, "");
}

}  // namespace
}  // namespace quipu::cli
