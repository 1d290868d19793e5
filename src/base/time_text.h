// RFC 3339 timestamps, UTC, with milliseconds: "2026-03-01T09:30:00.000Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quipu {

/// Years 0000 to 9999; times outside are clamped.
std::string format_timestamp(std::int64_t unix_ms);

/// Reads "YYYY-MM-DDTHH:MM:SS[.fraction]Z" (real dates only, leap second
/// allowed, fraction of 1 to 9 digits); nothing for anything else.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace quipu
