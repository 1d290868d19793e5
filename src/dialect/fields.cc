#include "dialect/fields.h"

namespace quipu::dialect {

void Fields::read_text(const json::Member* member, std::string& into) {
  if (member == nullptr || member->kind != json::Kind::kString) return into.clear();
  const std::string_view text = member->value.substr(1, member->value.size() - 2);
  if (text.find('\\') == std::string_view::npos) {
    into = text;
  } else {
    into = json::decode_string(text);
  }
}

}  // namespace quipu::dialect
