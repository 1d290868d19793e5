// Parts: how the content of a message becomes rows of message_parts, and content again.
//
//   content                                       | parts
//   ----------------------------------------------+------------------------------------------
//   an answer: a JSON array of objects, each with | one a block; the payload is the block as
//   a `type`                                      | it is written, without white space
//   a prompt: `<!--files:[…]-->` and text         | `attachment` {"file":{…}} for each file,
//                                                 | then `text` {"text":…}
//   other text                                    | `text` {"text":…}
//   no text, a NUL in it, over 16 Mi characters,  | none: readers take the content
//   of no session                                 |
//
// So a payload with a `type` is a block, and the content can be told from the parts alone. The
// type of a part is that of its block: text, tool_use, tool_result; all others, such as
// thinking, are `status`. A part that is made so is called `<seq>:<message>`, not the other way
// round: ids are shortened to what tells them apart. Others are somebody else's.
//
// The SQL is one text for the rows that are there and for the triggers, which see to those that
// come: both make the same of the same content, whoever runs them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace quipu::adoption {

/// INSERT of the parts of all messages that have none; `where` leaves some out: a condition on
/// `m`, such as "m.id = NEW.id".
std::string insert_parts(std::string_view where);

/// A condition on `m`: that message can have parts.
std::string can_have_parts();

/// Whether the payloads, in their order, say what the content says; white space between the
/// tokens of JSON does not count. Not SQL: what SQL made is to be checked.
bool parts_say(std::string_view content, std::span<const std::string> payloads);

}  // namespace quipu::adoption
