// `session_info`: what is said of a session as a whole. For each member the last
// fact that has it wins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quipu {

/// Absent members say nothing; an empty text takes back what was said before.
struct SessionInfo {
  std::optional<std::string> title{};
  std::optional<std::string> project_id{};
  /// "active" or "terminated".
  std::optional<std::string> status{};
  std::optional<std::string> working_directory{};
  std::optional<std::string> sdk_cwd{};
  std::optional<std::string> sdk_session_id{};
  std::optional<bool> archived{};
  std::optional<std::vector<std::string>> tags{};

  bool operator==(const SessionInfo&) const = default;
  /// What `newer` says wins.
  void apply(const SessionInfo& newer);
};

/// What a payload says; members of the wrong kind are taken as absent, null as
/// an empty text.
SessionInfo read_session_info(std::string_view payload);

/// The payload as a JSON object.
std::string session_info_payload(const SessionInfo& info);

}  // namespace quipu
