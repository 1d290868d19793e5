// A line of a rollout, taken apart: views into the record.
//
//   {"timestamp": …, "ordinal": …, "type": KIND, "payload": {…}}    since September 2025
//   {"type": "message", …}                                          before: the bare item
//
// Records are valid JSON of any shape: every function is total.
#pragma once

#include <string>
#include <string_view>

namespace quipu::dialect::codex {

inline constexpr std::string_view kMeta = "session_meta";
inline constexpr std::string_view kItem = "response_item";
inline constexpr std::string_view kEvent = "event_msg";
inline constexpr std::string_view kTurnContext = "turn_context";
inline constexpr std::string_view kCompacted = "compacted";
inline constexpr std::string_view kUsage = "token_usage_record";
inline constexpr std::string_view kName = "thread_name";  // the session's line of the index

inline constexpr std::string_view kIndexName = "session_index.jsonl";
inline constexpr std::string_view kAgents = "inter_agent_communication";

/// What a record says of its kind: its payload, or the record when it is bare.
std::string_view payload_of(std::string_view record);

/// Whether an item begins a turn, as the agent counts them when it rolls back:
/// somebody said something. Not so what the agent itself told the model in a user's
/// name, and not the summary of a compaction.
bool begins_turn(std::string_view item);
/// Whether an item is what the agent tells the model before a turn: where it runs, what it may do,
/// the instructions of the project.
bool is_surroundings(std::string_view item);
/// The texts of a message, one after the other.
std::string said(std::string_view item);

}  // namespace quipu::dialect::codex
