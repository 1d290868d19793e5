// An empty place for a store on any of the engines that the contract holds for.
#pragma once

#include <string>

#include "support/history_store.h"

namespace quipu::test {

enum class Engine { kMemory, kFile, kSqlite, kPostgres };

class FreshStore {
 public:
  /// On PostgreSQL a place is emptied by the next one that is made there; `number` names
  /// others.
  explicit FreshStore(Engine engine, int number = 0);
  /// To be opened with `create`.
  const std::string& url() const { return url_; }

 private:
  ScratchDir scratch_;
  std::string url_;
};

}  // namespace quipu::test
