// Lifting: the items that a model saw, as messages.
//
//   item                                       | message
//   -------------------------------------------+--------------------------------------------
//   message                                    | its role; `developer` is system
//   reasoning                                  | assistant, thinking, signed when encrypted
//   function_call, custom_tool_call,           | assistant, tool_use
//   local_shell_call, tool_search_call         |
//   …_output                                   | tool, tool_result
//   agent_message, inter_agent_communication   | user
//   web_search_call, compaction                | assistant, status: nothing a model can be given
//   image_generation_call                      | assistant, attachment
//   ghost_snapshot, events, everything else    | none
//
// A `compacted` line lifts to the history that took the place of what came before it,
// one message an item, or to its summary where there is none.
#pragma once

#include <string_view>

#include "dialect/lifted.h"

namespace quipu::dialect::codex {

void lift_record(std::string_view kind, std::string_view record, Lifted& into);
void lift_item(std::string_view item, Lifted& into);

}  // namespace quipu::dialect::codex
