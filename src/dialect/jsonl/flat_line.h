// Flat lines: one object a line, a type for each role, as small agents write them.
#pragma once

#include <string_view>
#include <vector>

#include "model/message_view.h"

namespace quipu::dialect::jsonl {

bool is_flat_type(std::string_view type);

/// `payload` is the whole line. Parts are added to `parts`.
MessageView read_flat_line(std::string_view type, std::string_view payload,
                           std::vector<PartView>& parts);

}  // namespace quipu::dialect::jsonl
