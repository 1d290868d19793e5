// An empty place for a store on any of the engines that the contract holds for.
#pragma once

#include <string>

#include "support/history_store.h"

namespace quipu::test {

enum class Engine { kMemory, kFile, kSqlite, kPostgres };

class FreshStore {
 public:
  explicit FreshStore(Engine engine);
  /// To be opened with `create`. There is one place on PostgreSQL: the next one made empties it.
  const std::string& url() const { return url_; }

 private:
  ScratchDir scratch_;
  std::string url_;
};

}  // namespace quipu::test
