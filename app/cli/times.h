// Times for people (local) and for programs (RFC 3339, UTC).
#pragma once

#include <cstdint>
#include <optional>
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

/// How long ago, in one unit: "now", "5 min ago", "3 h ago", "2 d ago"; after a
/// month the date. Times to come are "now": clocks differ.
std::string ago_text(std::int64_t unix_ms, std::int64_t now_ms);

/// The machine's clock.
std::int64_t now_ms();

/// A time as people give it: RFC 3339 UTC, "2026-03-01" (local midnight), or how
/// long ago: "30m", "12h", "7d", "2w". Nothing for anything else.
std::optional<std::int64_t> read_time(std::string_view text, std::int64_t now_ms);

/// "3.4 MB"
std::string bytes_text(std::uint64_t bytes);

/// "1 entry", "12 entries"
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

/// "12.3k", "4.5M": for counts that are too long to read.
std::string count_text(std::uint64_t count);

}  // namespace quipu::cli
