// How often the calling process came out of a fork(): a value that differs
// between parent and child tells what was inherited, without a system call.
#pragma once

#include <cstdint>

namespace quipu {

std::uint64_t fork_count();

}  // namespace quipu
