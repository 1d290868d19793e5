// Lines that are read from a stream of them: where a line ends is found while it is
// checked, so that its bytes are looked at once.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/json_scan.h"

namespace quipu::json {

struct LeadingLine {
  std::size_t size = 0;  // 0: there is none
  /// None of the keys has escapes: each is its own text. False: some may.
  bool has_plain_keys = false;
};
/// The object that `text` begins with, if `scan_line` would take it. What follows it is
/// not looked at.
LeadingLine scan_leading_line(std::string_view text, std::vector<Member>& members);

}  // namespace quipu::json
