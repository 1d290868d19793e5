// Ids that are made from what an entry is about, so that doing something twice
// finds the first one's entries in its way.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "quipu/limits.h"

namespace quipu {

/// `subject` and `suffix`; where that could not be an id (what others wrote may be
/// of any length and kind), a hash of `subject` stands for it.
inline std::string derived_id(std::string_view subject, std::string_view suffix) {
  const bool has_control = std::any_of(subject.begin(), subject.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  const bool fits = subject.size() + suffix.size() <= kEntryIdBytesMax;
  return (fits && !has_control ? std::string(subject) : sha256_hex(subject)).append(suffix);
}

}  // namespace quipu
