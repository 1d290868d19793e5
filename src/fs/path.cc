#include "fs/path.h"

namespace quipu::fs {
namespace {

constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxPath = 4095;

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name != "." && name != "..";
}

bool valid_path(std::string_view path) {
  if (path.size() > kMaxPath || path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    if (!valid_name(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<void> check_path(std::string_view path) {
  if (valid_path(path)) return {};
  return Error(Code::kInvalidArgument, "not a path inside the store: \"" + std::string(path) + '"');
}

Result<void> check_directory(std::string_view path) {
  if (path.empty()) return {};
  return check_path(path);
}

SplitPath split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace quipu::fs
