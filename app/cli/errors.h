// Errors as the shell sees them: an exit code, and words on stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitConflict = 4;
inline constexpr int kExitCorrupt = 5;
inline constexpr int kExitUnsupported = 6;
inline constexpr int kExitBusy = 7;
inline constexpr int kExitNotAllowed = 9;
inline constexpr int kExitStorage = 11;

int exit_code(Code code);

/// `{"code":...,"message":...,"hint":...,"retryable":...}` and, where the error
/// has them, `actualTail` or `actualHead` and `entryIds`.
std::string error_object(const Error& error);

/// The candidate that was probably meant; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace quipu::cli
