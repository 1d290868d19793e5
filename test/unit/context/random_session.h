// Random sessions for the context builder: everything that agents, crashes and
// people do to a conversation, and some that only files copied by hand contain.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "quipu/store.h"

namespace quipu {

class RandomSession {
 public:
  RandomSession(Store& store, std::uint64_t seed) : store_(store), random_(seed) {}

  /// Makes a session with about `entries` entries; its id.
  std::string make(std::size_t entries);

  /// A node of the session, at random.
  std::string some_node();

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

  NewEntry next_entry();
  std::string text();
  std::string part(const std::string& role);
  std::string message();
  std::string call_id();

  Store& store_;
  std::mt19937_64 random_;
  std::vector<std::string> nodes_;
  std::vector<std::string> calls_;
  int made_ = 0;
};

}  // namespace quipu
