// Lifting: from an entry's type and payload to the message that it carries.
//
// One place knows which entries carry messages and in whose form: native ones,
// and the flat lines of plain JSONL logs (`user`, `assistant`, `tool`, `tool_result`,
// `system`), whose payload is the line itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/message_view.h"

namespace quipu::dialect {

/// Whether entries of this type carry a message.
bool carries_message(std::string_view type);

/// Reads the message of an entry whose type carries one; its parts are added to
/// `parts`. Views into `payload`.
MessageView lift(std::string_view type, std::string_view payload, std::vector<PartView>& parts);

/// A message that owns its texts. What `Message` has no place for is not in it.
Message owned(const MessageView& view, std::span<const PartView> parts);

}  // namespace quipu::dialect
