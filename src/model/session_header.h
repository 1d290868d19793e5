// The session header: the first entry of every log.
#pragma once

#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu {

inline constexpr int kSchemaVersion = 1;

struct SessionHeader {
  int version = 0;  // 0: no header, or one from before versions
  std::string session_id;
  std::string cwd;
  std::string title;
  std::string agent_id;
  std::string preset_id;
  std::string project_id;
  /// A fork: the log that holds the entry, and the entry.
  std::string parent_session;
  std::string parent_entry;
  /// A detached fork: where its entries were copied from, for people.
  std::string detached_session;
  std::string detached_entry;
};

/// What a `session_header` payload says; members of the wrong kind are taken as
/// absent.
SessionHeader read_session_header(std::string_view payload);

/// The payload as a JSON object. Empty members are left out.
std::string session_header_payload(const SessionHeader& header);

}  // namespace quipu
