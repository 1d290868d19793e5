// What a MemoryStore is made of.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "quipu/memory.h"
#include "recall/memory_tables.h"
#include "recall/vectors.h"
#include "search/query.h"
#include "store/system_log.h"

namespace quipu {

/// The last entry of what the tables follow; nothing when there is none.
std::optional<std::string> tail_of(const recall::Followed& followed);
/// How often a change of what is stored is planned anew because others were faster.
inline constexpr int kPlansMax = 100;

struct MemoryStore::State {
  State(Store& store, const RecallOptions& given);
  /// Notes what is left to note.
  ~State();

  /// A query in both forms.
  struct Asked {
    search::Query words{};
    recall::QueryVector vector{};
  };
  Result<Hits<MemoryHit>> find(sql::Engine& engine, const recall::Followed& at, const Asked& asked,
                               std::size_t k, const MemorySearchOptions& search);
  /// Counts hits; they are written when there are enough of them, or somebody wants to know.
  void note_use(std::span<const std::int64_t> ordinals, sql::Engine& engine) EXCLUDES(mutex);
  void write_uses(sql::Engine& engine) EXCLUDES(mutex);

  SessionStore& sessions;
  const std::shared_ptr<Backend> backend;
  const SystemLog log;
  const recall::MemoryTables tables;
  recall::FollowedTables followed;
  recall::Vectors vectors;

  Mutex mutex;
  std::map<std::int64_t, std::int64_t> uses GUARDED_BY(mutex);  // since the last were written
};

}  // namespace quipu
