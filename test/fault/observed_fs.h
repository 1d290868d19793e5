// An Fs that tells somebody before and after every call.
//
// One run of a workload visits all its crash points this way: the observer
// takes its images of the disk on the spot. That is the same as running the
// workload once for every point with a machine that dies there, because what a
// program does after its machine has died changes nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fs/fs.h"
#include "fs/sim_fault.h"

namespace quipu::fault {

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// Stores through mappings since the last call have happened.
  virtual void before(fs::SimCall call, const std::string& path, std::string_view bytes) = 0;
  virtual void after(fs::SimCall call, const std::string& path) = 0;
};

/// `observer` lives longer than everything opened here.
std::unique_ptr<fs::Fs> observed(std::unique_ptr<fs::Fs> inner, CallObserver& observer);

}  // namespace quipu::fault
