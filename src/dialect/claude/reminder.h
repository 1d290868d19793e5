// Attachments: what the program adds to a conversation on its own, between
// `<system-reminder>` tags, in the user's name.
//
// A record says what it is about; the words around that are the program's and change
// with its versions. What stands here are words of the same meaning. Attachments that
// only a screen or the program itself cares for say nothing. What the user typed while
// the model worked (`queued_command`) is an attachment too, and said as it was typed.
#pragma once

#include <string_view>

#include "dialect/lifted.h"

namespace quipu::dialect::claude {

/// `attachment`: the object of that name in the line.
void lift_attachment(std::string_view attachment, Lifted& into);

}  // namespace quipu::dialect::claude
