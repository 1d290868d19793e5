// Times for people (local) and for programs (RFC 3339, UTC).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quipu::cli {

/// "2026-03-01T09:30:00.000Z"
std::string utc_text(std::int64_t unix_ms);

/// "2026-03-01 10:30" in the local time zone.
std::string local_text(std::int64_t unix_ms);

/// The same for an entry's timestamp; what is no RFC 3339 UTC time is returned
/// as it is.
std::string local_text(std::string_view timestamp);

/// "3.4 MB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace quipu::cli
