// Rows as records: every value comes back, and no two rows have the same text.
#include "dialect/row_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/json_scan.h"
#include "dialect/row_database.h"
#include "support/agent_database.h"

namespace quipu::dialect {
namespace {

const std::string kSchema = R"j({"encoding":"UTF-8","sql":["CREATE TABLE t (v)"]})j";

// The record of the only row of a table that has one value.
std::string record_of(const std::string& sql_value) {
  auto connection = sql::Connection::open(":memory:").value();
  EXPECT_TRUE(
      connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (" + sql_value + ")").ok());
  auto statement = connection.prepare("SELECT * FROM t").value();
  EXPECT_TRUE(statement.step().value());
  return row_text(statement);
}

std::string quoted_after(const std::string& record) {
  auto database = RowDatabase::make(kSchema).value();
  const auto added = database.add("t", record);
  EXPECT_TRUE(added.ok()) << record << ": " << added.error().message();
  return *quoted_rows(database.image().value())["t"].begin();
}

TEST(RowText, EveryValueComesBack) {
  const std::vector<std::string> values = {"NULL",
                                           "0",
                                           "-1",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "1.0",
                                           "-0.0",
                                           "0.1",
                                           "1e300",
                                           "1.7976931348623157e308",
                                           "5e-324",
                                           "9e999",
                                           "-9e999",
                                           "100000000000000000000.0",
                                           "''",
                                           "'text'",
                                           "'a \"quote\" and \\ \n'",
                                           "'12'",
                                           "'1.5'",
                                           "'null'",
                                           "'{}'",
                                           "'[]'",
                                           "'{\"a\":1}'",
                                           "'{\"a\" : [1, {\"b\":\"\\u00e9\"}]}'",
                                           "'{\"a\":'",
                                           "' {\"a\":1}'",
                                           "'{\"a\":1}' || char(10)",
                                           "'{\"$blob\":\"AA==\"}'",
                                           "'{\"$text64\":\"AA==\"}'",
                                           "'{\"$real\":\"inf\"}'",
                                           "'{\"\\u0024blob\":\"AA==\"}'",
                                           "'{\"a\":{\"$blob\":\"AA==\"}}'",
                                           "x''",
                                           "x'00ff10'",
                                           "CAST(x'fffe' AS TEXT)",
                                           "CAST(x'610062' AS TEXT)",
                                           "'\u00fc \U0001F600'",
                                           "'{\"lone\":\"\\ud83d\"}'",
                                           "'{\"a\":1,\"a\":2}'"};
  std::set<std::string> records;
  for (const std::string& value : values) {
    SCOPED_TRACE(value);
    const std::string record = record_of(value);
    std::vector<json::Member> members;
    EXPECT_TRUE(json::scan_line(record, members).ok()) << record;
    EXPECT_TRUE(records.insert(record).second) << record;
    auto connection = sql::Connection::open(":memory:").value();
    EXPECT_EQ(quoted_after(record), first_column(connection, "SELECT quote(" + value + ")")[0])
        << record;
  }
}

TEST(RowText, ObjectsStandAsTheyAre) {
  EXPECT_EQ(record_of("'{\"type\" : \"text\"}'"), R"({"v":{"type" : "text"}})");
  EXPECT_EQ(record_of("'[1]'"), R"({"v":"[1]"})");
  EXPECT_EQ(record_of("x'00'"), R"({"v":{"$blob":"AA=="}})");
  EXPECT_EQ(record_of("2.0"), R"({"v":2.0})");
}

// An entry holds 128 containers in each other, and the row is one of them.
TEST(RowText, WhatIsNestedDeeplyIsAString) {
  const std::string deep = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}";
  const std::string record = record_of("'" + deep + "'");
  EXPECT_EQ(json::find_member(record, "v")->kind, json::Kind::kString);
  EXPECT_EQ(quoted_after(record), "'" + deep + "'");
}

TEST(RowText, WhatIsNoRowIsRefused) {
  for (const char* record : {"", "[]", "{\"v\":[1]}", "{\"v\":true}", R"({"v":{"$blob":"!"}})",
                             R"({"v":{"$blob":"AA==","more":1}})", R"({"v":{"$real":"nan"}})",
                             R"({"v":99999999999999999999})", "{\"v\":1"}) {
    EXPECT_FALSE(read_row(record)) << record;
  }
}

TEST(RowDatabase, OnlyTablesAndIndexesAreMade) {
  for (const char* sql :
       {"ATTACH 'x.db' AS x", "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE v USING fts5(a)", "DROP TABLE t", "", "CREATE VIEW v AS SELECT 1"}) {
    EXPECT_FALSE(RowDatabase::make("{\"sql\":[\"" + std::string(sql) + "\"]}").ok()) << sql;
  }
  EXPECT_TRUE(
      RowDatabase::make(R"j({"sql":["create table t(a)","CREATE UNIQUE INDEX i ON t(a)"]})j").ok());
}

TEST(RowDatabase, WhatDoesNotFitIsAnError) {
  auto database = RowDatabase::make(kSchema).value();
  EXPECT_EQ(database.add("t", R"({"w":1})").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(database.add("u", R"({"v":1})").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(database.add("t", "{}").error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(database.add("t", R"({"v":1})").ok());
}

}  // namespace
}  // namespace quipu::dialect
