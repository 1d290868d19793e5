#include "context/piece.h"

#include "base/json_scan.h"

namespace quipu::context {
namespace {

using Field = std::string_view WirePart::*;
using Fields = std::array<Field, 5>;

// Unused places are null.
constexpr Fields kSaid{&WirePart::text, &WirePart::signature};
constexpr Fields kCall{&WirePart::id, &WirePart::name, &WirePart::input, &WirePart::raw_input};
constexpr Fields kResult{&WirePart::id, &WirePart::name, &WirePart::content,
                         &WirePart::tool_use_id};
constexpr Fields kAttachment{&WirePart::name, &WirePart::media_type, &WirePart::data,
                             &WirePart::sha256, &WirePart::path};

const Fields& fields_of(PartType type) {
  switch (type) {
    case PartType::kToolUse:
      return kCall;
    case PartType::kToolResult:
    case PartType::kOther:  // a result that has not come yet
      return kResult;
    case PartType::kAttachment:
      return kAttachment;
    case PartType::kText:
    case PartType::kThinking:
    case PartType::kStatus:
      break;
  }
  return kSaid;
}

}  // namespace

std::string plain(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

WirePart Piece::part() const {
  WirePart part;
  part.type = type_;
  part.redacted = redacted_;
  part.is_error = is_error_;
  const Fields& fields = fields_of(type_);
  for (std::size_t i = 0; i < fields.size() && fields[i] != nullptr; ++i) {
    part.*fields[i] = members_[i];
  }
  return part;
}

void Piece::set_part(const WirePart& part) {
  type_ = part.type;
  redacted_ = part.redacted;
  is_error_ = part.is_error;
  const Fields& fields = fields_of(type_);
  for (std::size_t i = 0; i < fields.size() && fields[i] != nullptr; ++i) {
    members_[i] = part.*fields[i];
  }
}

}  // namespace quipu::context
