// A message as it stands in a stored payload: views, nothing decoded or copied.
//
// What goes from a log into a request is JSON on both sides. So its strings are
// passed on as they were written, quotes and escapes included ("tokens"), which
// costs one look and one copy a byte, and gives the same bytes every time.
//
// Bytes come from disk: everything here is total. The payload must be valid JSON
// (a seal or `json::scrubbed` said so); its shape is taken as it comes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"

namespace quipu {

/// Absent members are empty views. A *token* is a JSON string with its quotes.
struct PartView {
  PartType type = PartType::kOther;
  bool redacted = false;
  bool is_error = false;
  std::string_view text;         // token: text, thinking, status
  std::string_view signature;    // token
  std::string_view tool_use_id;  // token
  std::string_view name;         // token: tool_use, attachment
  std::string_view input;        // object
  std::string_view raw_input;    // token
  std::string_view content;      // tool_result: token or array of parts
  std::string_view details;      // any value
  std::string_view media_type;   // token
  std::string_view data;         // token
  std::string_view sha256;       // token
  std::string_view path;         // token
  std::string_view whole;        // the part object; empty when the content was a string
};

struct MessageView {
  Role role = Role::kUser;
  std::string_view model;        // token
  std::string_view provider;     // token
  std::string_view request_id;   // token
  std::string_view stop_reason;  // token
  std::string_view stream_id;    // token
  std::string_view usage;        // object
};

/// Reads the payload of a `message` entry; its parts are added to `parts`.
MessageView read_message(std::string_view payload, std::vector<PartView>& parts);

/// Reads content: a string token, an array of parts, or a single part.
void read_content(std::string_view content, std::vector<PartView>& parts);

Usage read_usage(std::string_view object);
/// Its other way round.
std::string encode_usage(const Usage& usage);

/// Whether a token says anything but white space.
bool says_something(std::string_view token);

}  // namespace quipu
