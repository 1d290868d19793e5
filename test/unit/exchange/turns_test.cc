// What was said, as the messages of a transcript.
#include "exchange/turns.h"

#include <gtest/gtest.h>

namespace quipu::exchange {
namespace {

Utterance answer(const std::string& request, std::uint64_t tokens, Part part) {
  Utterance utterance;
  utterance.entry_id = request + "." + std::to_string(tokens);
  utterance.message.role = Role::kAssistant;
  utterance.message.request_id = request;
  utterance.message.parts.push_back(std::move(part));
  utterance.message.usage = Usage{.tokens_out = tokens};
  return utterance;
}

Utterance result(const std::string& call) {
  Utterance utterance;
  utterance.message.role = Role::kTool;
  utterance.message.parts.push_back(Part::of_tool_result(call, "found"));
  return utterance;
}

std::vector<std::uint64_t> taken(std::vector<Utterance> said) {
  Turns turns;
  for (Utterance& utterance : said) turns.add(std::move(utterance));
  std::vector<std::uint64_t> tokens;
  for (const dialect::TranscriptMessage& message : turns.take()) {
    const auto& usage = message.message.usage;
    tokens.push_back(usage ? usage->tokens_out.value_or(0) : 0);
  }
  return tokens;
}

using Tokens = std::vector<std::uint64_t>;

TEST(Turns, TheLastRecordOfARequestKnowsWhatItTook) {
  EXPECT_EQ(taken({answer("r", 1, Part::of_text("a")), answer("r", 7, Part::of_text("b"))}),
            Tokens{7});
}

TEST(Turns, AnAnswerOfSeveralRequestsTookWhatTheyTookTogether) {
  EXPECT_EQ(taken({answer("r", 3, Part::of_text("a")), answer("s", 7, Part::of_text("b"))}),
            Tokens{10});
  // Nobody says which they are: each is one.
  EXPECT_EQ(taken({answer("", 3, Part::of_text("a")), answer("", 7, Part::of_text("b"))}),
            Tokens{10});
}

TEST(Turns, WhatElseARequestSaysIsKept) {
  Utterance first = answer("r", 3, Part::of_text("a"));
  Utterance second = answer("s", 7, Part::of_text("b"));
  first.message.usage->latency_ms = 20;
  second.message.usage->latency_ms = 30;
  first.message.usage->extra = R"({"tier":"x"})";
  Turns turns;
  turns.add(std::move(first));
  turns.add(std::move(second));
  const auto messages = turns.take();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].message.usage->latency_ms, 50u);
  EXPECT_EQ(messages[0].message.usage->extra, R"({"tier":"x"})");
}

TEST(Turns, ResultsMayStandBetweenTheRecordsOfARequest) {
  EXPECT_EQ(taken({answer("r", 1, Part::of_tool_use("c", "ls", "{}")), result("c"),
                   answer("r", 7, Part::of_tool_use("d", "ls", "{}")), result("d")}),
            (Tokens{0, 0, 7, 0}));
}

}  // namespace
}  // namespace quipu::exchange
