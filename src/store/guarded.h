// What every public call does first and last.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "quipu/entry.h"
#include "quipu/result.h"

namespace quipu {

/// No exception leaves the library.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error(Code::kNoMemory, "out of memory");
  } catch (const std::exception& defect) {
    return Error(Code::kInternal, defect.what());
  }
}

inline Result<std::string> checked_session_id(std::string_view session_id) {
  if (is_session_id(session_id)) return std::string(session_id);
  return Error(Code::kInvalidArgument, "not a session id")
      .with_hint(
          "1 to 64 letters, digits, '.', '_' or '-', beginning and ending with a letter or "
          "digit");
}

}  // namespace quipu
