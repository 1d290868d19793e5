// UUIDv7 (RFC 9562): ids that sort by the time they were made.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace quipu {

/// "0192f0c1-2b5e-7c3d-9a41-…": 48 bits of `unix_ms`, 74 random bits.
std::string uuid_v7(std::int64_t unix_ms, Random& random);

}  // namespace quipu
