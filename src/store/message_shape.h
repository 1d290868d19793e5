// What runtime state asks of a node: who speaks, which calls it makes, which it
// answers. Total on any payload.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quipu {

struct ToolCallShape {
  std::string id;
  std::string tool;
  std::string input;
};

struct MessageShape {
  bool is_message = false;
  /// Somebody said something, as against results of tools sent in a user's name.
  bool is_user_text = false;
  std::vector<ToolCallShape> calls;
  std::vector<std::string> answered;
};

/// Of every type that carries a message: see dialect/lift.h.
MessageShape read_message_shape(std::string_view type, std::string_view payload);

}  // namespace quipu
