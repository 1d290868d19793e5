#include "support/fresh_store.h"

#include <cstdlib>

namespace quipu::test {

FreshStore::FreshStore(Engine engine) {
  // What is computed from a database must not end up in somebody's home.
  ::setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1);
  switch (engine) {
    case Engine::kMemory:
      url_ = "memory:";
      break;
    case Engine::kFile:
      url_ = scratch_.path() + "/store";
      break;
    case Engine::kSqlite:
      url_ = "sqlite:" + scratch_.path() + "/store.db";
      break;
    case Engine::kPostgres: {
      static int number = 0;
      url_ =
          std::string(std::getenv("QUIPU_TEST_POSTGRES")) + "&schema=t" + std::to_string(++number);
      break;
    }
  }
}

}  // namespace quipu::test
