// pi's message objects: what stands in `message` of an entry, whatever its version.
#pragma once

#include <string_view>

#include "dialect/lifted.h"
#include "dialect/note.h"

namespace quipu::dialect::pi {

/// Adds exactly one message.
void lift_message(std::string_view message, Lifted& into);
/// A string or blocks, said by the user.
void lift_user_content(std::string_view content, Lifted& into);

/// Whether pi sends it: not what failed, was broken off, or is kept from the model.
bool is_sent(std::string_view message);

/// pi's usage in our names; nothing when there is none.
std::optional<Usage> usage_in(std::string_view object);

/// Title, model and usage that a message speaks of.
void note_message(std::string_view message, std::string_view entry_id, Note& into);

}  // namespace quipu::dialect::pi
