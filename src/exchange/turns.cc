#include "exchange/turns.h"

#include <optional>
#include <utility>

#include "dialect/answers.h"

namespace quipu::exchange {

void Turns::add(Utterance&& utterance) {
  std::optional<std::size_t> answer;
  bool is_begun = false;
  for (Part& part : utterance.message.parts) {
    const Role role = part.type == PartType::kToolResult ? Role::kTool : utterance.message.role;
    const bool goes_on = !messages_.empty() && messages_.back().message.role == role &&
                         (is_begun || role == Role::kAssistant);
    if (!goes_on) begin(utterance, role);
    is_begun = true;
    messages_.back().message.parts.push_back(std::move(part));
    if (role == Role::kAssistant) answer = messages_.size() - 1;
  }
  if (answer && utterance.message.usage) count(*answer, utterance.message);
}

void Turns::begin(const Utterance& utterance, Role role) {
  dialect::TranscriptMessage next;
  next.entry_id = utterance.entry_id;
  next.timestamp = utterance.timestamp;
  next.message = utterance.message;
  next.message.role = role;
  next.message.parts.clear();
  next.message.usage.reset();
  messages_.push_back(std::move(next));
}

void Turns::count(std::size_t answer, const Message& message) {
  messages_[answer].message.stop_reason = message.stop_reason;
  Request request{.answer = answer, .usage = *message.usage};
  // Its first records may be of a request that is counted elsewhere.
  if (std::exchange(counted_, answer) != answer) {
    messages_[answer].message.request_id = message.request_id;
  }
  // Results may stand between the records of one request.
  const auto [known, is_new] = by_id_.try_emplace(message.request_id, requests_.size());
  if (is_new || message.request_id.empty()) {
    requests_.push_back(std::move(request));
  } else {
    requests_[known->second] = std::move(request);
  }
}

std::vector<dialect::TranscriptMessage> Turns::take() {
  for (Request& request : requests_) {
    std::optional<Usage>& usage = messages_[request.answer].message.usage;
    usage = usage ? dialect::sum_of(*usage, request.usage) : std::move(request.usage);
  }
  return std::move(messages_);
}

}  // namespace quipu::exchange
