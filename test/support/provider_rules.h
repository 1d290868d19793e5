// What providers document about the messages of a request, as checks that know
// nothing of how Quipu makes them. Read with simdjson, not with our own scanner.
#pragma once

#include <string>
#include <string_view>

#include "quipu/context.h"

namespace quipu {

/// Empty when the provider would take the request, else what it would object to.
std::string objection(Provider provider, std::string_view request);

}  // namespace quipu
