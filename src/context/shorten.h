// Shortening JSON strings without decoding them: never inside an escape, a
// surrogate pair or a UTF-8 sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quipu::context {

/// How many bytes of the stored text stay at both ends.
struct Shortening {
  std::size_t head = 0;
  std::size_t tail = 0;
};

/// The token with its middle replaced by how many bytes are missing; as it is when
/// that would save nothing.
std::string shortened(std::string_view token, const Shortening& by);

/// The same for the content of a tool result. Its texts become one; what is not
/// text is named.
std::string shortened_content(std::string_view content, const Shortening& by);

}  // namespace quipu::context
