#include <algorithm>

#include "base/json_scan.h"
#include "base/try.h"
#include "model/message_view.h"
#include "quipu/usage.h"

namespace quipu {
namespace {

struct TextMember {
  std::string_view key;
  std::string UsageRecord::*field;
};
constexpr TextMember kTexts[] = {
    {"requestId", &UsageRecord::request_id}, {"timestamp", &UsageRecord::timestamp},
    {"model", &UsageRecord::model},          {"provider", &UsageRecord::provider},
    {"agentId", &UsageRecord::agent_id},     {"projectId", &UsageRecord::project_id},
    {"sessionId", &UsageRecord::session_id},
};

// What is not understood must not pass for a request that used nothing.
Result<Usage> read_numbers(const json::Member& member) {
  if (member.kind != json::Kind::kObject) {
    return Error(Code::kInvalidArgument, "\"usage\" is no object");
  }
  json::MemberWalk walk(member.value);
  while (const auto number = walk.next()) {
    const std::string one =
        "{\"" + std::string(number->key) + "\":" + std::string(number->value) + "}";
    if (read_usage(one) == Usage()) {
      return Error(Code::kInvalidArgument,
                   "\"" + json::decode_string(number->key) + "\" of \"usage\" is not understood")
          .with_hint(
              "Whole numbers tokensIn, tokensOut, cacheRead, cacheWrite, reasoning, latencyMs, and "
              "costUsd.");
    }
  }
  return read_usage(member.value);
}

}  // namespace

Result<UsageRecord> read_usage_record(std::string_view text) {
  std::vector<json::Member> members;
  TRY(json::scan_object(text, members));
  if (const auto twice = json::find_duplicate_key(members)) {
    return Error(Code::kInvalidArgument, "\"" + *twice + "\" is there twice");
  }
  UsageRecord record;
  bool has_usage = false;
  for (const json::Member& member : members) {
    const std::string key = json::decode_string(member.key);
    if (key == "usage") {
      TRY_ASSIGN(record.usage, read_numbers(member));
      has_usage = true;
      continue;
    }
    const auto known = std::find_if(std::begin(kTexts), std::end(kTexts),
                                    [&](const TextMember& one) { return one.key == key; });
    if (known == std::end(kTexts)) {
      return Error(Code::kInvalidArgument, "\"" + key + "\" is not known here")
          .with_hint("docs/usage.md has the members of a record.");
    }
    if (member.kind != json::Kind::kString) {
      return Error(Code::kInvalidArgument, "\"" + key + "\" is no text");
    }
    record.*known->field = json::decode_string(member.value);
  }
  if (!has_usage) return Error(Code::kInvalidArgument, "there is no \"usage\"");
  return record;
}

}  // namespace quipu
