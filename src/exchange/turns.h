// Turns: what was said, as the messages of a transcript.
//
// Some agents write an answer as several records, some a whole turn as one. In a transcript an
// answer is one message, and results stand by themselves behind it. What each request took is
// in it once: the last record of a request knows, and an answer of several requests took what
// they took together.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dialect/transcript.h"
#include "quipu/conversation.h"

namespace quipu::exchange {

class Turns {
 public:
  void add(Utterance&& utterance);
  std::vector<dialect::TranscriptMessage> take();

 private:
  struct Request {
    std::size_t answer = 0;  // of the messages
    Usage usage;
  };

  void begin(const Utterance& utterance, Role role);
  void count(std::size_t answer, const Message& message);

  std::vector<dialect::TranscriptMessage> messages_;
  std::vector<Request> requests_;
  std::unordered_map<std::string, std::size_t> by_id_;  // requests
  std::optional<std::size_t> counted_;                  // the last answer that took something
};

}  // namespace quipu::exchange
