// Base64 (RFC 4648, section 4), strict: what is decoded has exactly one
// encoding, so that a payload that is taken apart can be put together again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quipu {

std::string base64_encode(std::string_view bytes);

/// Nothing for anything but the encoding of some bytes: no white space, padding
/// where it belongs, unused bits zero.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace quipu
