// What every public call does first and last.
#pragma once

#include <string>
#include <string_view>

#include "base/guarded.h"
#include "quipu/entry.h"
#include "quipu/result.h"

namespace quipu {

inline Result<std::string> checked_session_id(std::string_view session_id) {
  if (is_session_id(session_id)) return std::string(session_id);
  return Error(Code::kInvalidArgument, "not a session id")
      .with_hint(
          "1 to 64 letters, digits, '.', '_' or '-', beginning and ending with a letter or "
          "digit");
}

}  // namespace quipu
