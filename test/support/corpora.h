// Where the real session files lie that tests are run on: QUIPU_CORPORA, else
// ../shared/corpora beside the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace quipu {

/// Empty, and says so, when they are not on this machine.
inline std::string corpora() {
  const char* named = std::getenv("QUIPU_CORPORA");
  const std::filesystem::path place =
      named != nullptr && *named != '\0'
          ? std::filesystem::path(named)
          : std::filesystem::path(QUIPU_SOURCE_DIR) / ".." / "shared" / "corpora";
  std::error_code failed;
  if (std::filesystem::is_directory(place, failed)) return std::filesystem::canonical(place);
  std::fprintf(stderr,
               "\n*** NO CORPORA: %s is not there. The laws of import and export are NOT checked "
               "on real files.\n*** Set QUIPU_CORPORA to a directory of session files.\n\n",
               place.c_str());
  return {};
}

}  // namespace quipu
