// Messages: what people, models and tools say, in one form whoever wrote it.
//
// An entry stores its payload as it came; `lift_message` makes a Message of it
// when somebody asks, and what it does not understand it keeps in `extra`, so
// that `encode_message` gives it back. What a model sees is in the parts; what
// only a screen shows is in `Part::details` and in parts of type `status`,
// which no request ever carries.
//
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

enum class Role : unsigned char { kUser, kAssistant, kSystem, kTool };

/// "user", "assistant", "system", "tool".
std::string_view name(Role role);

enum class PartType : unsigned char {
  kText,        // text
  kThinking,    // text or redacted data, signature: only for the model that made it
  kToolUse,     // id, name, input or raw_input
  kToolResult,  // tool_use_id, content, is_error, details
  kAttachment,  // media_type, name, and one of data, sha256, path
  kStatus,      // text: for a screen, never for a model
  kOther,       // nothing we know: `extra` is the whole part
};

/// "text", "thinking" … ; "other".
std::string_view name(PartType type);

/// One part of a message. Members that do not belong to its type are empty.
struct Part {
  PartType type = PartType::kText;
  /// text, thinking: the text; status: what is said.
  std::string text{};
  /// thinking: opaque bytes of the provider that prove where it came from.
  std::string signature{};
  /// thinking: the text is withheld, `signature` stands for it.
  bool redacted = false;
  /// tool_use: its id. tool_result: the id of the tool_use it answers.
  std::string tool_use_id{};
  /// tool_use: the tool. attachment: the file's name.
  std::string name{};
  /// tool_use: the arguments, a JSON object; empty when they are `raw_input`.
  std::string input{};
  /// tool_use: the arguments as the model wrote them, when that is no JSON object.
  std::string raw_input{};
  /// tool_result.
  std::vector<Part> content{};
  bool is_error = false;
  /// tool_result: a JSON value for a screen. Never for a model.
  std::string details{};
  /// attachment.
  std::string media_type{};
  std::string data{};    // base64
  std::string sha256{};  // of an attachment of the store
  std::string path{};
  /// Members nobody here knows: a JSON object, or empty. For kOther the whole part.
  std::string extra{};

  bool operator==(const Part&) const = default;

  static Part of_text(std::string text);
  static Part of_tool_use(std::string id, std::string tool, std::string input);
  static Part of_tool_result(std::string tool_use_id, std::string output, bool is_error = false);
};

/// What one request to a model used. Absent counts are nothing, not zero.
struct Usage {
  std::optional<std::uint64_t> tokens_in{};
  std::optional<std::uint64_t> tokens_out{};
  std::optional<std::uint64_t> cache_read{};
  std::optional<std::uint64_t> cache_write{};
  std::optional<std::uint64_t> reasoning{};
  std::optional<double> cost_usd{};
  std::optional<std::uint64_t> latency_ms{};
  /// Members nobody here knows: a JSON object, or empty.
  std::string extra{};

  bool operator==(const Usage&) const = default;
};

struct Message {
  Role role = Role::kUser;
  std::vector<Part> parts{};
  std::string model{};
  std::string provider{};
  std::string request_id{};
  std::string stop_reason{};
  std::optional<Usage> usage{};
  /// Members nobody here knows: a JSON object, or empty.
  std::string extra{};

  bool operator==(const Message&) const = default;

  static Message user(std::string text);
  static Message assistant(std::string text);
};

/// The message that an entry of this type and payload carries. `not_found` when
/// entries of this type carry none. Never fails on what is inside: a payload
/// that makes no sense is a message with parts of type `other`.
Result<Message> lift_message(std::string_view type, std::string_view payload);

/// The payload of a `message` entry, in one line. Content that is a single text without
/// further members is written as a string.
std::string encode_message(const Message& message);

/// Parts as a JSON array: what a `message_delta_batch` carries.
std::string encode_parts(const std::vector<Part>& parts);

}  // namespace quipu
