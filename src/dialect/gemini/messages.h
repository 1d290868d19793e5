// Messages of gemini-cli, wherever they stand: a record, an element of a list.
#pragma once

#include <string_view>

#include "dialect/lifted.h"
#include "dialect/note.h"

namespace quipu::dialect::gemini {

/// Adds exactly one message.
void lift_message(std::string_view message, Lifted& into);
/// The same for an element of a checkpoint: {role, parts}.
void lift_content(std::string_view content, Lifted& into);

/// Whether a model sees it when the session is resumed.
bool is_sent(std::string_view message);
/// The same for a text of the user's: commands and what hooks said are left out.
bool is_sent_text(std::string_view text);

/// What the user asked with it; nothing when it is no such message.
std::optional<std::string> prompt_in(std::string_view message);

/// What the message used, if it says so.
void note_usage(std::string_view message, Note& into);

}  // namespace quipu::dialect::gemini
