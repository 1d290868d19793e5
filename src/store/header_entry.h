// The first entry of a new log.
#pragma once

#include <string>

#include "model/door.h"
#include "model/session_header.h"

namespace quipu {

/// A `session_header` as one JSON object, made now.
std::string header_entry(const SessionHeader& header, Filler filler);

}  // namespace quipu
