// Piece: one part of a conversation, packed.
//
// A request of a long session is made of a hundred thousand parts, all of them in
// memory while it is written. A PartView has room for the members of every type;
// a part has those of one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/message_view.h"

namespace quipu::context {

/// What a token says; empty for one that is not there.
std::string plain(std::string_view token);

/// A part as the provider will see it. Of the members of PartView those that no
/// request carries are not kept: `details`, `whole`, the stored id of a call.
struct WirePart : PartView {
  WirePart() = default;
  explicit(false) WirePart(const PartView& part) : PartView(part) {}

  std::string_view id;  // token: calls and results
};

class Piece {
 public:
  Piece() : Piece(WirePart(), 0) {}
  Piece(const WirePart& part, std::uint32_t from_note) : note(from_note) { set_part(part); }

  PartType type() const { return type_; }
  /// Unpacked: a copy of views.
  WirePart part() const;
  void set_part(const WirePart& part);

  std::uint32_t note = 0;  // of `Conversation::notes`: where it came from
  std::uint32_t tokens = 0;

 private:
  std::array<std::string_view, 5> members_;  // which ones: by its type
  PartType type_ = PartType::kOther;
  bool redacted_ = false;
  bool is_error_ = false;
};

}  // namespace quipu::context
