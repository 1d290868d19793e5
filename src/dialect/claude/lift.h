// From a line of Claude's to the messages that it carries.
//
//   user        what was typed; results of tools as messages of the tool
//   assistant   one content block, usually; the request's failure as a status
//   attachment  a reminder to the model, in the user's name: see reminder.h
//   system      a status for a screen
//
// Everything else is bookkeeping.
#pragma once

#include <string_view>

#include "dialect/lifted.h"

namespace quipu::dialect::claude {

void lift_line(std::string_view kind, std::string_view payload, Lifted& into);

/// What a person typed: a token, or an array of content blocks.
void lift_prompt(std::string_view content, Lifted& into);

/// An image or a document in Anthropic's form, when its bytes lie in it.
bool lift_media(std::string_view block, PartView& part);

/// `usage` of an answer in our words; empty when it counts nothing.
std::string usage_of(std::string_view usage);

}  // namespace quipu::dialect::claude
