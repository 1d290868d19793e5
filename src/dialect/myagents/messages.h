// Messages of MyAgents: {id, role, content, timestamp, …}.
//
// `content` is a string: plain text, or a list of blocks as JSON. A block of a tool call
// has the call, its result, and the calls that a sub-agent made for it.
#pragma once

#include <string_view>

#include "dialect/lifted.h"
#include "dialect/note.h"

namespace quipu::dialect::myagents {

/// Whether an object is a message, as far as it is there: its content may be cut off.
bool is_message(std::string_view object);

/// Adds exactly one message.
void lift_message(std::string_view message, Lifted& into);

/// What the turn used that the message ends, if it says so.
void note_usage(std::string_view message, Note& into);
/// What the user asked with it; nothing when it is no such message.
std::optional<std::string> prompt_in(std::string_view message);

}  // namespace quipu::dialect::myagents
