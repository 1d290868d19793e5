// usage, as a shell sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/columns.h"
#include "cli/time_zone.h"
#include "cli/usage_report.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) { return wrap(text, 0); }

std::string answer(const std::string& request, const std::string& model, const std::string& time,
                   const std::string& usage) {
  return R"({"type":"message","timestamp":")" + time +
         R"(","payload":{"role":"assistant","content":"ok","model":")" + model +
         R"(","requestId":")" + request + R"(","usage":{)" + usage + "}}}\n";
}

constexpr const char* kPrices =
    R"({"version":1,"updated":"2026-11-01","currency":"USD","models":[{"match":"beta*","inputPerMTok":2,"outputPerMTok":4}]})";

class UsageCommands : public CliTest {
 protected:
  UsageCommands() {
    EXPECT_EQ(quipu({"new", "--id", "s1", "--agent", "ada"}).code, 0);
    EXPECT_EQ(quipu({"new", "--id", "s2", "--agent", "bob"}).code, 0);
    const std::string first =
        answer("r1", "alpha", "2026-03-01T23:30:00.000Z",
               R"("tokensIn":100,"tokensOut":10,"costUsd":1.5,"latencyMs":200)") +
        answer("r2", "beta-2", "2026-03-02T10:00:00.000Z", R"("tokensIn":500000,"tokensOut":20)");
    EXPECT_EQ(quipu({"append", "s1"}, first).code, 0);
    EXPECT_EQ(quipu({"append", "s2"},
                    answer("r3", R"(gamma, \"3\")", "2026-03-02T11:00:00.000Z", R"("tokensIn":7)"))
                  .code,
              0);
  }

  std::string prices() const {
    write_whole(path("prices.json"), kPrices);
    return path("prices.json");
  }
};

TEST_F(UsageCommands, ATableByDay) {
  const Outcome shown = quipu({"usage"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto lines = lines_of(shown.out);
  EXPECT_THAT(lines[0], StartsWith("DAY         REQUESTS"));
  EXPECT_THAT(lines[1], StartsWith("2026-03-01         1"));
  EXPECT_THAT(lines[1], EndsWith(" 1.50"));
  EXPECT_THAT(lines[2], StartsWith("2026-03-02         2"));
  EXPECT_THAT(lines[2], EndsWith(" ?")) << "never 0 for what nobody knows";
  EXPECT_THAT(lines[3], StartsWith("total              3"));
  EXPECT_THAT(lines[3], EndsWith(" 1.50+"));
  EXPECT_THAT(shown.err, HasSubstr("Days of UTC."));
  EXPECT_THAT(shown.err, HasSubstr("2 of 3 requests have no recorded cost"));
  EXPECT_THAT(shown.err, HasSubstr("beta-2: 1 requests, 500.0k tokens in, 20 out"));
}

TEST_F(UsageCommands, WithPrices) {
  const Outcome shown = quipu({"usage", "--prices", prices()});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(lines_of(shown.out)[2], EndsWith(" ~1.00+"));
  EXPECT_THAT(shown.err, HasSubstr("~ $1.00 of $2.50 is computed, with prices of 2026-11-01"));
  EXPECT_THAT(shown.err, HasSubstr("1 of 3 requests"));
  const Outcome named =
      run_program({.args = with_store({"usage"}), .environment = {{"QUIPU_PRICES", prices()}}});
  EXPECT_THAT(named.out, HasSubstr("~1.00+"));
  std::filesystem::create_directories(path("config/quipu"));
  write_whole(path("config/quipu/prices.json"), kPrices);
  const Outcome found = run_program(
      {.args = with_store({"usage"}), .environment = {{"XDG_CONFIG_HOME", path("config")}}});
  EXPECT_THAT(found.out, HasSubstr("~1.00+"));
}

TEST_F(UsageCommands, APriceFileThatIsWrong) {
  write_whole(path("bad.json"), "{\"version\":1,\n\"updatd\":\"2026-11-01\"}");
  const Outcome bad = quipu({"usage", "--prices", path("bad.json")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("bad.json: line 2: \"updatd\" is not known here"));
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(quipu({"usage", "--prices", path("none.json")}).code, 3);
  EXPECT_EQ(quipu({"usage"}).code, 0) << "nothing is harmed";
}

TEST_F(UsageCommands, Json) {
  const Outcome shown =
      quipu({"usage", "--by", "model", "--breakdown", "--json", "--prices", prices()});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith(R"({"by":"model","timeZone":"UTC","prices":{"file":")"));
  EXPECT_THAT(
      shown.out,
      HasSubstr(
          R"({"model":"alpha","requests":1,"input":100,"output":10,"cacheRead":0,"cacheWrite":0,)"
          R"("reasoning":0,"cost":1.5,"costRecordedNanoUsd":1500000000,"costComputedNanoUsd":0,)"
          R"("unpricedRequests":0,"latency":{"requests":1,"p50Ms":200,"p90Ms":200,"p99Ms":200},)"
          R"("parts":[{"agent":"ada",)"));
  EXPECT_THAT(shown.out, HasSubstr(R"("cost":null,"costRecordedNanoUsd":0,"costComputedNanoUsd":0,)"
                                   R"("unpricedRequests":1,"latency":null)"));
  EXPECT_THAT(shown.out,
              HasSubstr(R"("unpriced":[{"model":"gamma, \"3\"","requests":1,"input":7)"));
  EXPECT_THAT(shown.out, HasSubstr(R"("cost":1.00008,)"));
  EXPECT_EQ(shown.err, "");
}

TEST_F(UsageCommands, Csv) {
  const Outcome shown = quipu({"usage", "--by", "model", "--csv", "--prices", prices()});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(
      shown.out,
      "model,requests,input,output,cacheRead,cacheWrite,reasoning,costUsd,costRecordedNanoUsd,"
      "costComputedNanoUsd,unpricedRequests,latencyRequests,latencyP50Ms,latencyP90Ms,"
      "latencyP99Ms\r\n"
      "alpha,1,100,10,0,0,0,1.5,1500000000,0,0,1,200,200,200\r\n"
      "beta-2,1,500000,20,0,0,0,1.00008,0,1000080000,0,0,,,\r\n"
      "\"gamma, \"\"3\"\"\",1,7,0,0,0,0,,0,0,1,0,,,\r\n");
  const Outcome divided = quipu({"usage", "--by", "month", "--breakdown", "--csv"});
  EXPECT_THAT(divided.out, StartsWith("month,model,requests,"));
  EXPECT_THAT(divided.out, HasSubstr("\r\n2026-03,beta-2,1,500000,"));
}

TEST_F(UsageCommands, FiltersAndZones) {
  EXPECT_THAT(quipu({"usage", "--agent", "bob"}).out, HasSubstr("total              1"));
  EXPECT_THAT(quipu({"usage", "--model", "*a*", "--by", "session"}).out, HasSubstr("s1"));
  EXPECT_THAT(quipu({"usage", "--since", "2026-03-02"}).out, Not(HasSubstr("2026-03-01")));
  EXPECT_THAT(quipu({"usage", "--until", "2026-03-02"}).out, Not(HasSubstr("2026-03-02")));
  EXPECT_EQ(quipu({"usage", "--from", "2026-03-01", "--to", "2026-03-02", "--json"}).out,
            quipu({"usage", "--since", "2026-03-01", "--until", "2026-03-02", "--json"}).out);
  EXPECT_NE(quipu({"usage", "--from", "2026-03-02", "--json"}).out, quipu({"usage", "--json"}).out);
  // Half an hour before midnight in UTC, dates of options as well.
  const Outcome there = quipu({"usage", "--tz", "+01:00"});
  EXPECT_THAT(there.out, Not(HasSubstr("2026-03-01")));
  EXPECT_THAT(there.out, HasSubstr("2026-03-02         3"));
  EXPECT_THAT(there.err, HasSubstr("Days of +01:00."));
  EXPECT_THAT(quipu({"usage", "--tz", "+01:00", "--since", "2026-03-02"}).out,
              HasSubstr("2026-03-02         3"));
  const Outcome local = run_program(
      {.args = with_store({"usage", "--tz", "local"}), .environment = {{"TZ", "XYZ-01"}}});
  EXPECT_THAT(local.out, HasSubstr("2026-03-02         3"));
  for (const char* zone : {"Nowhere/Town", "+25", "+1", "../etc", "", "+01:60", "+0100"}) {
    EXPECT_EQ(quipu({"usage", "--tz", zone}).code, 2) << zone;
  }
  EXPECT_THAT(quipu({"usage", "--tz", "-05:30"}).out, HasSubstr("2026-03-01         1"));
  EXPECT_EQ(quipu({"usage", "--since", "soon"}).code, 2);
  EXPECT_EQ(quipu({"usage", "--by", "hour"}).code, 2);
  EXPECT_EQ(quipu({"usage", "remove"}).code, 2);
}

TEST_F(UsageCommands, FitsTheTerminal) {
  for (const unsigned short columns : {40, 60, 80, 120, 200}) {
    for (const char* by : {"day", "model", "session"}) {
      const Outcome shown = quipu_on_terminal({"usage", "--by", by, "--breakdown", "--no-pager"},
                                              columns, {{"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}});
      ASSERT_EQ(shown.code, 0) << shown.err;
      std::string text = shown.out;
      std::erase(text, '\r');
      for (const std::string& line : lines_of(text)) {
        EXPECT_LE(columns_of(line), columns) << line;
      }
      EXPECT_THAT(text, HasSubstr("COST $"));
    }
  }
}

TEST_F(UsageCommands, BarsOnATerminalOnly) {
  const std::map<std::string, std::string> utf8 = {{"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}};
  EXPECT_THAT(quipu_on_terminal({"usage"}, 80, utf8).out, HasSubstr("██"));
  EXPECT_THAT(quipu_on_terminal({"usage"}, 60, utf8).out, HasSubstr("██"));
  const std::string ascii = quipu_on_terminal({"usage"}, 80, {{"LC_ALL", "C"}}).out;
  EXPECT_THAT(ascii, HasSubstr("##"));
  EXPECT_THAT(ascii, Not(HasSubstr("█")));
  EXPECT_THAT(quipu_on_terminal({"usage", "--by", "model"}, 80, utf8).out, Not(HasSubstr("█")));
  EXPECT_THAT(quipu({"usage"}).out, Not(HasSubstr("█")));
}

TEST_F(UsageCommands, RecordsFromAFile) {
  const std::string records =
      R"({"requestId":"q1","model":"alpha","usage":{"tokensIn":1000,"latencyMs":5}})"
      "\n\n"
      R"({"requestId":"q2","model":"alpha","agentId":"proxy","usage":{"tokensIn":2000}})"
      "\n";
  const Outcome added = quipu({"usage", "add", "-"}, records);
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.out, "{\"added\":2,\"present\":0}\n");
  write_whole(path("records.jsonl"), records);
  EXPECT_EQ(quipu({"usage", "add", path("records.jsonl")}).out, "{\"added\":0,\"present\":2}\n");
  EXPECT_THAT(quipu({"usage", "--by", "agent"}).out, HasSubstr("proxy"));
  const Outcome bad =
      quipu({"usage", "add"}, "{\"requestId\":\"q3\",\"usage\":{}}\n{\"requestId\":\"q4\"}\n");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr(":2: there is no \"usage\""));
  const Outcome other = quipu({"usage", "add"}, R"({"requestId":"q1","usage":{"tokensIn":9}})");
  EXPECT_EQ(other.code, 4);
}

TEST_F(UsageCommands, NothingAtAll) {
  const Outcome none = run_program({.args = {"usage", "--store", "memory:"}});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("No usage."));
}

TEST(Bars, EighthsAndAscii) {
  EXPECT_EQ(bar(0, 10, true), "");
  EXPECT_EQ(bar(1, 3, true), "███");
  EXPECT_EQ(bar(0.5, 3, true), "█▌");
  EXPECT_EQ(bar(0.0001, 10, true), "▏") << "little is not nothing";
  EXPECT_EQ(bar(0.5, 4, false), "##");
  EXPECT_EQ(bar(0.0001, 4, false), "#");
  EXPECT_EQ(bar(7, 2, false), "##");
}

TEST(CsvFields, AreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("a b"), "a b");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("\""), "\"\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace quipu::cli
