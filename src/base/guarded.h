// Where exceptions end: in public calls, and in threads of the library.
#pragma once

#include <exception>
#include <new>

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

}  // namespace quipu
