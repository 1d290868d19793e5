#include "dialect/answers.h"

#include <algorithm>
#include <map>

#include "base/base64.h"

namespace quipu::dialect {

Answers::Answers(const Transcript& transcript) {
  for (const TranscriptMessage& message : transcript.messages) {
    for (const Part& part : message.message.parts) {
      if (part.type != PartType::kToolResult) continue;
      by_call_[part.tool_use_id].push_back({.message = &message, .result = &part});
    }
  }
}

Answer Answers::take(const std::string& call_id) {
  const auto found = by_call_.find(call_id);
  if (found == by_call_.end() || found->second.empty()) return {};
  const Answer answer = found->second.front();
  found->second.pop_front();
  return answer;
}

void Answers::report_rest(Written& written) const {
  std::map<std::string, const TranscriptMessage*> rest;  // by call: in the same order each time
  for (const auto& [call, answers] : by_call_) {
    if (!answers.empty()) rest.emplace(call, answers.front().message);
  }
  for (const auto& [call, message] : rest) {
    lose(written, *message, "tool_result", "no call in the conversation asked for " + call);
  }
}

std::string words_of(const Answer& answer, Written& written) {
  std::string words;
  bool is_first = true;
  for (const Part& part : answer.result->content) {
    if (part.type == PartType::kText) {
      if (!is_first) words += '\n';
      is_first = false;
      words += part.text;
    } else {
      lose(written, *answer.message, std::string(name(part.type)), "a result is a text there");
    }
  }
  return words;
}

Usage sum_of(const Usage& one, const Usage& other) {
  const auto add = [](auto a, const auto& b) {
    if (b) a = a.value_or(0) + *b;
    return a;
  };
  Usage sum;
  sum.tokens_in = add(one.tokens_in, other.tokens_in);
  sum.tokens_out = add(one.tokens_out, other.tokens_out);
  sum.cache_read = add(one.cache_read, other.cache_read);
  sum.cache_write = add(one.cache_write, other.cache_write);
  sum.reasoning = add(one.reasoning, other.reasoning);
  sum.cost_usd = add(one.cost_usd, other.cost_usd);
  sum.latency_ms = add(one.latency_ms, other.latency_ms);
  sum.extra = other.extra.empty() ? one.extra : other.extra;
  return sum;
}

void lose(Written& written, const TranscriptMessage& from, std::string what, std::string why) {
  written.lost.push_back(
      {.entry_id = from.entry_id, .what = std::move(what), .why = std::move(why)});
}

std::optional<AttachedFile> file_of(const Part& attachment) {
  auto bytes = attachment.data.empty() ? std::nullopt : base64_decode(attachment.data);
  if (!bytes) return std::nullopt;
  AttachedFile file{.bytes = std::move(*bytes), .ending = ".bin"};
  const std::string& type = attachment.media_type;
  const std::string kind = type.substr(std::min(type.size(), type.find('/') + 1));
  const bool is_plain =
      !kind.empty() && kind.size() <= 8 &&
      kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
  if (is_plain) file.ending = kind == "jpeg" ? ".jpg" : "." + kind;
  return file;
}

}  // namespace quipu::dialect
