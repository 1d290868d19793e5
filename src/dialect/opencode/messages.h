// Messages of opencode with their parts: what they say, and what they took.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialect/lifted.h"
#include "dialect/note.h"

namespace quipu::dialect::opencode {

/// Adds a message, `info` and its `parts`, an array; behind an answer what came of its calls.
void lift_element(std::string_view info, std::string_view parts, Lifted& into);
/// Adds the message of a row of `session_message`, if it carries one.
void lift_next(std::string_view row, Lifted& into);

/// Whether a model sees it when the session is resumed: errors it does not.
bool is_sent(std::string_view info, std::string_view parts);

/// What an answer took; nothing when it says nothing of that. `key` is the same in
/// forks, which copy messages under new ids.
std::optional<UsageNote> usage_of(std::string_view info);
/// The same as an object of ours, kept by `into`; empty: nothing.
std::string_view usage_object(std::string_view info, Lifted& into);

/// What is base64 in a data URL, and its media type; nothing when it is none.
struct DataUrl {
  std::string media_type;
  std::string data;
};
std::optional<DataUrl> read_data_url(std::string_view url);

}  // namespace quipu::dialect::opencode
