// A clock and randomness that are the same in every run, and a store on a
// simulated disk that uses them.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "backend/file/file_backend.h"
#include "base/clock.h"
#include "fs/sim_fs.h"
#include "quipu/store.h"
#include "support/scale.h"

namespace quipu::fault {

/// Stands still, except that waiting takes the time it takes.
class FixedClock : public Clock {
 public:
  std::int64_t unix_ms() override { return 1'772'357'400'000; }
  std::chrono::nanoseconds monotonic() override { return now_; }
  void sleep(std::chrono::nanoseconds duration) override { now_ += duration; }

 private:
  std::chrono::nanoseconds now_{0};
};

class FixedRandom : public Random {
 public:
  explicit FixedRandom(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::byte>(state_ >> 56);
    }
  }

 private:
  std::uint64_t state_;
};

/// One process with the store open. Not to be moved: the store refers to it.
class Handle {
 public:
  explicit Handle(std::uint64_t seed) : random_(seed) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Result<void> open(std::unique_ptr<fs::Fs> fs, bool create = false) {
    auto backend = file::FileBackend::open(std::move(fs), clock_, random_, {.create = create});
    if (!backend.ok()) return std::move(backend).error();
    store_ = std::make_unique<Store>(std::move(backend).value());
    return {};
  }
  /// On another backend, which `make` makes from a clock and randomness.
  template <class Make>
  Result<void> open_with(Make&& make) {
    auto backend = make(static_cast<Clock&>(clock_), static_cast<Random&>(random_));
    if (!backend.ok()) return std::move(backend).error();
    store_ = std::make_unique<Store>(std::move(backend).value());
    return {};
  }
  Store& store() { return *store_; }
  SessionStore& sessions() { return store_->sessions(); }
  bool is_open() const { return store_ != nullptr; }
  void drop() { store_.reset(); }

 private:
  FixedClock clock_;
  FixedRandom random_;
  std::unique_ptr<Store> store_;
};

}  // namespace quipu::fault
