// Which paths an Fs accepts. A path is data that may come from outside (a
// session id is a part of it), so both file systems refuse the same ones.
#pragma once

#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu::fs {

/// Refuses everything but "name/name/name": no empty component, no "." or "..",
/// no NUL, no component over 255 bytes, no leading or trailing slash.
Result<void> check_path(std::string_view path);

/// The same, with "" for the root.
Result<void> check_directory(std::string_view path);

struct SplitPath {
  std::string_view directory;  // "" when the path has one component only
  std::string_view name;
};

/// Requires a path that `check_path` accepts.
SplitPath split_path(std::string_view path);

}  // namespace quipu::fs
