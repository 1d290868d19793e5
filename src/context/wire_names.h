// WireNames: ids of calls and names of tools as a provider takes them.
//
// What fits is passed on as it is. What does not (foreign characters, too long,
// used twice) gets a name made from it, the same every time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "context/rules.h"

namespace quipu::context {

struct Conversation;

class WireNames {
 public:
  WireNames(const Rules& rules, Conversation& conversation)
      : rules_(rules), conversation_(conversation) {}

  /// The token for a call with this id; another one for each call.
  std::string_view call(const std::string& id);
  /// The token for a tool, given its own.
  std::string_view tool(std::string_view token);

 private:
  const Rules& rules_;
  Conversation& conversation_;
  std::unordered_map<std::string, int> used_;
};

}  // namespace quipu::context
