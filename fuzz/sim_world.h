// A file store on a simulated disk where time stands still, for fuzzers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "backend/file/file_backend.h"
#include "fs/sim_fs.h"
#include "quipu/store.h"

namespace quipu::fuzz {

/// What a fuzzer finds must end the process, whatever the build.
inline void require(bool condition) {
  if (!condition) std::abort();
}

class NoClock : public Clock {
 public:
  std::int64_t unix_ms() override { return 0; }
  std::chrono::nanoseconds monotonic() override { return {}; }
  void sleep(std::chrono::nanoseconds) override {}
};

class Counter : public Random {
 public:
  void fill(std::span<std::byte> bytes) override {
    for (auto& byte : bytes) byte = static_cast<std::byte>(next_++);
  }

 private:
  unsigned next_ = 0;
};

/// One process with the store open.
class Opened {
 public:
  explicit Opened(fs::SimDisk& disk) {
    auto backend = file::FileBackend::open(disk.process(), clock_, random_, {.create = true});
    require(backend.ok());
    store_ = std::make_unique<Store>(std::move(backend).value());
  }
  SessionStore& sessions() { return store_->sessions(); }

 private:
  NoClock clock_;
  Counter random_;
  std::unique_ptr<Store> store_;
};

}  // namespace quipu::fuzz
