// What a message, a part or a session says of itself, in whichever of its three forms:
//
//   row       {"id":…, "session_id":…, "time_created":…, "data":{…}}
//   file      {"id":…, "sessionID":…, …}
//   element   {"info":{"id":…, …}, "parts":[{…}]}
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace quipu::dialect::opencode {

/// The object that says what a message or part is: `data`, `info`, or the record itself.
/// `kept` holds it when it had to be made: a text that no strict reader takes is no
/// object in a row.
std::string_view body_of(std::string_view record, std::deque<std::string>& kept);

/// The parts of an element; "[]" of anything else.
std::string_view parts_of(std::string_view record);
bool is_element(std::string_view record);

/// A part's message.
std::string message_of(std::string_view part);

/// When it was made, in milliseconds: `time.created` of the body, else the row's.
std::optional<std::uint64_t> created_of(std::string_view record);

/// From here on a session's messages do not count, because they were taken back.
struct Revert {
  std::string message;
  std::string part;  // of that message; empty: all of it

  bool hides(std::string_view id) const {
    if (message.empty() || id < message) return false;
    return id != message || part.empty();
  }
};
Revert revert_of(std::string_view session);

/// A JSON object that is a member, or the text of one.
std::string_view object_or_text(std::string_view object, std::string_view key,
                                std::deque<std::string>& kept);

}  // namespace quipu::dialect::opencode
