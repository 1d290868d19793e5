// Running somebody's command as a filter: text in, text out.
#pragma once

#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu::cli {

/// Runs `command` with the shell, writes `input` to its standard input, and gives
/// what it prints. Its standard error is ours. `invalid_argument` when it cannot be
/// started, fails, or prints more than a summary can be.
Result<std::string> run_filter(const std::string& command, std::string_view input);

}  // namespace quipu::cli
