// What a MemoryStore is made of.
#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "quipu/memory.h"
#include "recall/memory_tables.h"
#include "store/system_log.h"

namespace quipu {

struct MemoryStore::State {
  State(Store& store, const RecallOptions& given);
  /// Notes what is left to note.
  ~State();

  Result<Hits<MemoryHit>> find(sql::Engine& engine, const search::Query& query, std::size_t k,
                               const MemorySearchOptions& search);
  /// Counts hits; they are written when there are enough of them, or somebody wants to know.
  void note_use(std::span<const std::int64_t> ordinals, sql::Engine& engine) EXCLUDES(mutex);
  void write_uses(sql::Engine& engine) EXCLUDES(mutex);

  SessionStore& sessions;
  const std::shared_ptr<Backend> backend;
  const RecallOptions options;
  const SystemLog log;
  const recall::MemoryTables tables;
  recall::FollowedTables followed;

  Mutex mutex;
  std::map<std::int64_t, std::int64_t> uses GUARDED_BY(mutex);  // since the last were written
};

}  // namespace quipu
