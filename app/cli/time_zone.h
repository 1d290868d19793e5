// Whose days: the time zone that a command reckons in.
#pragma once

#include <cstdint>
#include <string>

#include "quipu/result.h"

namespace quipu::cli {

/// Makes a time zone that of this process, for `read_time` and `utc_offset_ms`: "UTC",
/// "local" (as the system has it), "+05:30", or a name such as "Europe/Berlin".
/// `invalid_argument` for one that this machine does not know: the C library would take it for
/// UTC in silence.
Result<void> use_time_zone(const std::string& name);

/// How far local time is ahead of UTC at that moment.
std::int64_t utc_offset_ms(std::int64_t unix_ms);

}  // namespace quipu::cli
