// Parts of messages as content blocks of Anthropic's API.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/transcript.h"

namespace quipu::dialect::claude {

/// Makes blocks, and keeps what has none.
class Blocks {
 public:
  explicit Blocks(std::vector<Loss>& lost) : lost_(lost) {}

  /// The message whose parts come next.
  void begin(const TranscriptMessage& message) { message_ = &message; }

  /// A block's JSON; empty when the part cannot be said. For all but results.
  std::string of(const Part& part);
  std::string of_result(const Part& part);

 private:
  std::string of_thinking(const Part& part);
  std::string of_call(const Part& part);
  std::string of_attachment(const Part& part);
  std::string of_other(const Part& part);
  void lose(std::string_view what, std::string_view why);

  std::vector<Loss>& lost_;
  const TranscriptMessage* message_ = nullptr;
  std::uint64_t nameless_calls_ = 0;
  std::uint64_t nameless_results_ = 0;
};

/// `{"type":"text","text":…}`.
std::string text_block(std::string_view text);

}  // namespace quipu::dialect::claude
