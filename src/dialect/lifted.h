// Lifted: where a dialect puts the messages that it finds in a record.
//
//   into.begin(Role::kAssistant).model = token;
//   into.part(text_part(token));
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/message_view.h"

namespace quipu::dialect {

struct LiftedMessage {
  MessageView view;
  std::uint32_t first = 0;  // of its parts
  std::uint32_t count = 0;
};

/// Keeps what was lifted from several records, one after the other.
class Lifted {
 public:
  /// Begins a message. The reference is valid until the next one begins.
  MessageView& begin(Role role);
  /// Adds a part to the message that was begun last.
  void part(const PartView& part);

  /// Keeps a JSON text that is not in the record, as long as this lives.
  std::string_view keep(std::string json);
  /// The same for many.
  void keep_all(std::deque<std::string> texts) { kept_.push_back(std::move(texts)); }
  /// A token that says `text`.
  std::string_view token(std::string_view text);
  /// What was used, as `MessageView::usage` has it.
  std::string_view usage(const Usage& usage);
  /// A message of the user that says: this summary stands for what came before.
  void summary(std::string_view token);
  /// The same for a branch that was left.
  void branch_summary(std::string_view token);

  std::span<const LiftedMessage> messages() const { return messages_; }
  std::span<const PartView> parts(const LiftedMessage& message) const {
    return std::span(parts_).subspan(message.first, message.count);
  }
  std::vector<PartView>& all_parts() { return parts_; }
  void clear();

 private:
  std::vector<LiftedMessage> messages_;
  std::vector<PartView> parts_;
  std::deque<std::string> owned_;  // stable addresses
  std::deque<std::deque<std::string>> kept_;
};

/// Parts in the making; tokens as in message_view.h.
PartView text_part(std::string_view token);
PartView thinking_part(std::string_view token, std::string_view signature = {});
PartView call_part(std::string_view id, std::string_view name, std::string_view input);
PartView result_part(std::string_view call_id, std::string_view content, bool is_error);
/// base64 `data`.
PartView attachment_part(std::string_view media_type, std::string_view data);
PartView status_part(std::string_view token);

}  // namespace quipu::dialect
