// No exception leaves the library: what every public call runs in.
#pragma once

#include <exception>
#include <new>

#include "quipu/result.h"

namespace quipu {

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
