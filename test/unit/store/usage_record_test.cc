#include <gtest/gtest.h>

#include "quipu/usage.h"

namespace quipu {
namespace {

TEST(UsageRecords, AllMembers) {
  const auto record = read_usage_record(
      R"({"requestId":"r\u0031","timestamp":"2026-03-01T00:00:00Z","model":"m","provider":"p","agentId":"a",)"
      R"("projectId":"x","sessionId":"s","usage":{"tokensIn":1,"tokensOut":2,"cacheRead":3,"cacheWrite":4,)"
      R"("reasoning":5,"costUsd":0.25,"latencyMs":6}})");
  ASSERT_TRUE(record.ok()) << record.error().message();
  EXPECT_EQ(record->request_id, "r1");
  EXPECT_EQ(record->timestamp, "2026-03-01T00:00:00Z");
  EXPECT_EQ(record->model + record->provider + record->agent_id, "mpa");
  EXPECT_EQ(record->project_id + record->session_id, "xs");
  const Usage expected{.tokens_in = 1,
                       .tokens_out = 2,
                       .cache_read = 3,
                       .cache_write = 4,
                       .reasoning = 5,
                       .cost_usd = 0.25,
                       .latency_ms = 6};
  EXPECT_EQ(record->usage, expected);
}

TEST(UsageRecords, WhatIsNotUnderstoodIsRefused) {
  for (const char* text :
       {"", "[]", "{}", "{\"requestId\":\"r\"}", "{\"requestId\":\"r\",\"usage\":7}",
        "{\"requestId\":7,\"usage\":{}}", "{\"requestId\":\"r\",\"usage\":{},\"tokens\":1}",
        "{\"requestId\":\"r\",\"usage\":{\"tokens_in\":1}}",
        "{\"requestId\":\"r\",\"usage\":{\"tokensIn\":1.5}}",
        "{\"requestId\":\"r\",\"usage\":{\"tokensIn\":-1}}",
        "{\"requestId\":\"r\",\"usage\":{\"tokensIn\":\"1\"}}",
        "{\"requestId\":\"r\",\"requestId\":\"q\",\"usage\":{}}"}) {
    const auto record = read_usage_record(text);
    ASSERT_FALSE(record.ok()) << text;
    EXPECT_EQ(record.error().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace quipu
