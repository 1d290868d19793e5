// MemoryStore: what an agent should know again later. Small texts, found by their words
// and, with vectors, by their meaning.
//
// Nodes are entries of the store's own log `system/memory`: durable when the call returns,
// copied with the store. What is searched is an index computed from that log, brought up to
// date before every answer; it can be deleted at any time. How often a node was found is
// kept in that index only.
//
//   quipu::MemoryStore memory(*store);
//   memory.upsert({{{.id = "m1", .text = "Ada prefers tabs", .agent_id = "coder"}}});
//   auto hits = memory.search("what does ada prefer?", 5, {.scope = {.agent_id = "coder"}});
//
// Errors of all calls: `invalid_argument` once the store is closed, those of an append
// (store.h), and those of the index: `busy`, `no_space`, `storage_gone`, `not_allowed`.
//
// Thread-safety: every call from every thread. A MemoryStore must not outlive its Store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/page.h"
#include "quipu/recall.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

/// What is forgotten first when there is too much: short, then agent, then long.
enum class MemoryKind : unsigned char { kShort, kAgent, kLong };
std::string_view name(MemoryKind kind);
std::optional<MemoryKind> memory_kind(std::string_view name);

/// Where a node comes from: an entry of a session.
struct MemorySource {
  std::string session_id{};
  std::string entry_id{};
  bool operator==(const MemorySource&) const = default;
};

struct MemoryNode {
  /// As ids of entries. Empty: a UUIDv7 is made.
  std::string id{};
  MemoryKind kind = MemoryKind::kLong;
  /// What is remembered.
  std::string text{};
  /// What stood around it: the turns before and after. Searched with less weight.
  std::string context{};
  /// Whose it is; empty: nobody's in particular.
  std::string agent_id{};
  std::string project_id{};
  /// A JSON object for the caller; empty: none. Not searched.
  std::string meta{};
  std::vector<MemorySource> sources{};
  /// 0 to 1. Only eviction asks for it.
  double importance = 0;
  /// Never evicted.
  bool pinned = false;
  /// From then on it is not found, and evicted first.
  std::optional<std::int64_t> expires_ms{};
  /// Empty: none, or made by the endpoint. All of a store have as many numbers.
  std::vector<float> embedding{};

  bool operator==(const MemoryNode&) const = default;
};

/// A node from one JSON object, and back: {id, kind, text, context?, agentId?, projectId?,
/// meta?, sources?: [{sessionId, entryId}], importance?, pinned?, expires?, embedding?}.
/// `embedding` is an array of numbers, or base64 of 32-bit floats, which is what `json` writes.
/// Members of other names are kept in `meta`. `invalid_argument` says what is wrong.
Result<MemoryNode> read_memory_node(std::string_view json);
std::string memory_node_json(const MemoryNode& node);

/// What is done with a node that says what another one of the same agent and project says:
/// the same words, or nearly (nine of ten words and pairs of words in common).
enum class Duplicates : unsigned char {
  kKeep,   // stored and reported
  kSkip,   // reported, not stored
  kMerge,  // not stored: the other one gets its sources, and the greater importance
};

struct UpsertOptions {
  Duplicates duplicates = Duplicates::kKeep;
};

struct Duplicate {
  std::string id{};
  std::string of{};
  double likeness = 0;  // 1: the same words
};

struct UpsertReport {
  /// Of all nodes, in order, made ones included.
  std::vector<std::string> ids{};
  std::size_t added = 0;
  std::size_t replaced = 0;
  std::size_t unchanged = 0;
  std::size_t skipped = 0;  // duplicates, by option
  std::vector<Duplicate> duplicates{};
};

/// Which nodes. Empty members admit all.
struct MemoryScope {
  std::optional<std::string> agent_id{};
  std::optional<std::string> project_id{};
  std::vector<MemoryKind> kinds{};
};

struct MemorySearchOptions {
  MemoryScope scope{};
  /// Written at this time or later.
  std::optional<std::int64_t> since_ms{};
  Ranking ranking{};
  /// Hits with less are left out.
  double min_score = 0;
};

/// A node with what the store knows of it.
struct StoredMemory {
  MemoryNode node{};  // without its embedding
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
  /// How often it was found, and when last (0: never). Lost with the index.
  std::uint64_t hits = 0;
  std::int64_t used_ms = 0;
};

struct MemoryHit {
  StoredMemory memory{};
  double score = 0;
  Excerpt excerpt{};
  RankReason reason{};
};

struct EvictOptions {
  MemoryScope scope{};
  /// So many may stay; nothing: any number.
  std::optional<std::size_t> max_nodes{};
  /// Neither written nor found for longer than that: evicted.
  std::optional<std::chrono::milliseconds> max_age{};
  /// Says what would be evicted, and does nothing.
  bool dry_run = false;
};

struct EvictReport {
  /// In the order in which they were chosen.
  std::vector<std::string> ids{};
  std::size_t kept = 0;
};

class MemoryStore {
 public:
  explicit MemoryStore(Store& store, const RecallOptions& options = {});
  MemoryStore(MemoryStore&&) noexcept;
  ~MemoryStore();

  /// Stores nodes: a new id is added, a known one replaced; what is stored already as it is
  /// given stays untouched. In order: of two nodes with one id the second counts. Durable on
  /// return, in batches: after an error some of the first nodes may be stored, and
  /// repeating the call stores the rest. `invalid_argument` names the node that is none,
  /// before anything is stored.
  Result<UpsertReport> upsert(std::span<const MemoryNode> nodes, const UpsertOptions& options = {});

  /// The `k` best nodes for a query: any text. One without words finds nothing.
  Result<Hits<MemoryHit>> search(std::string_view query, std::size_t k,
                                 const MemorySearchOptions& options = {});

  /// Newest first, expired ones included.
  Result<Page<StoredMemory>> list(const MemoryScope& scope = {}, const PageRequest& page = {});

  /// Forgets what is least useful: what has expired; what is too old; then, until
  /// `max_nodes` are left, short ones before the agent's before long ones, and of one kind
  /// those with the least importance + recency + log(1 + hits). Recency halves every 30
  /// days. Pinned nodes stay. Hidden from all searches when it returns, and durable.
  Result<EvictReport> evict(const EvictOptions& options);

  /// Forgets nodes by their ids. How many there were. Hidden and durable as above.
  Result<std::size_t> forget(std::span<const std::string> ids);

  /// Sends texts that wait for a vector to the endpoint, for so long at most (a request that is
  /// under way is waited for), until none is left or the endpoint is in trouble. What is still
  /// waiting then. Safe to call at any time; nothing is ever lost by not calling it.
  Result<EmbeddingStatus> embed(std::chrono::milliseconds budget);

  /// Makes the index anew from the log.
  Result<void> reindex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quipu
