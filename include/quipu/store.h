// Store and SessionStore: the durable, append-only, branching session log.
//
//   auto store = quipu::Store::open("file:demo", {.create = true});
//   auto& sessions = store->sessions();
//   auto session = sessions.create_session();
//   sessions.append_session_entries(session->session_id,
//       {{{.type = "message", .payload = R"({"role":"user","content":"hi"})"}}});
//
// Success of an append means: on the disk (see Durability). Several threads and
// several processes may use one store at once; readers take no lock and never
// wait for a writer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/catalogue.h"
#include "quipu/entry.h"
#include "quipu/inspect.h"
#include "quipu/limits.h"
#include "quipu/result.h"
#include "quipu/tree.h"

namespace quipu {

class Backend;
class Clock;
class Random;
namespace view {
class Catalogue;
class UsageView;
}  // namespace view
namespace search {
class IndexDatabase;
}

struct StoreOptions {
  /// Make the store when there is none. An existing store is opened as it is.
  bool create = false;
  /// How long an append waits for another writer of the same session before it
  /// gives up with `busy`; in a database also how long a lost connection is tried to be
  /// made again.
  std::chrono::milliseconds lock_wait{5000};
  /// PostgreSQL: the URL of a replica that is asked for what is only read. What this process
  /// itself has written or seen is never answered older than that, and the store's own logs
  /// (events, memory, knowledge, usage) are never asked of it.
  std::string replica{};
  /// For tests: null means the machine's own.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

enum class Durability : unsigned char {
  /// The batch survives a power cut when the call returns. The default.
  kCommit,
  /// Written but not synced: survives the death of the process, not that of the
  /// machine, and promises no order after a power cut. Synced by the next
  /// commit to the same session, by `close`, or by the system in its own time.
  kRelaxed,
};

enum class AppendMode : unsigned char {
  kNormal,
  /// Entries that are stored already are passed over, the missing ones are
  /// added: for replication.
  kMerge,
};

struct AppendOptions {
  /// Fails with `tail_moved` unless this entry is the last of the session's log.
  std::optional<std::string> expected_tail{};
  /// Fails with `head_moved` unless this node is the session's head. Facts
  /// appended by others do not disturb it.
  std::optional<std::string> expected_head{};
  /// Fails with `fenced` unless this `run_start` is the newest of the session's
  /// log (empty: unless there is none). What a run passes with every append: once
  /// another run has begun, the old one can write nothing more. See runtime.h.
  std::optional<std::string> fence{};
  AppendMode mode = AppendMode::kNormal;
  Durability durability = Durability::kCommit;
};

struct AppendResult {
  std::string session_id;
  /// The batch's last entry, whether stored now or before.
  std::string last_appended_entry_id;
  std::size_t appended_count = 0;
  std::size_t already_present = 0;
  bool durable = false;
  /// Every entry of the batch in order, filled-in ids included.
  std::vector<std::string> entry_ids;
};

struct SessionHandle {
  std::string session_id;
  int schema_version = 0;
};

/// What a new session's header says. Empty members are left out.
struct NewSession {
  std::string id{};  // empty: a UUIDv7
  std::string cwd{};
  std::string title{};
  std::string agent_id{};
  std::string preset_id{};
  std::string project_id{};
};

struct ForkOptions {
  std::string new_id{};  // empty: a UUIDv7
  /// Copy the path instead of referring to it: the new session stands alone.
  bool detach = false;
};

struct MigrationResult {
  std::string session_id;
  int from_version = 0;
  int to_version = 0;
  std::size_t entries = 0;
  /// Where the old file is kept, relative to the store; empty when nothing had
  /// to be done.
  std::string kept_as;
  /// Where damaged lines and a torn tail went, which the new file has not, relative to the
  /// store.
  std::vector<std::string> quarantined;
};

/// A part of a session in log order.
struct EntryRange {
  std::uint32_t first = 0;  // ordinal
  std::uint32_t count = std::numeric_limits<std::uint32_t>::max();
};

/// Where a session stands.
struct SessionEnds {
  std::uint32_t entries = 0;  // own log, facts included
  std::string head;           // empty: no node yet
  std::string tail;           // empty: no entry
  /// Damaged lines that reads pass over; 0 when the log is sound.
  std::uint32_t damaged = 0;
};

/// Streams entries in log order without loading the session.
class EntryReader {
 public:
  explicit EntryReader(std::shared_ptr<const Lineage> lineage, EntryRange range);
  EntryReader(EntryReader&&) noexcept;
  EntryReader& operator=(EntryReader&&) noexcept;
  ~EntryReader();

  /// The next entry, or nothing at the end. Its views are valid until the next
  /// call and the end of this reader. `corrupt` when the bytes changed under us.
  Result<std::optional<EntryView>> next();

  /// Damaged lines of the session's own log that are passed over.
  std::uint32_t damaged() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The sessions of a store. Thread-safe. Every function that takes a session id
/// answers `not_found` for one that is not there and `invalid_argument` for one
/// that could not be.
class SessionStore {
 public:
  /// For the library: `catalogue` null means one that is kept in memory.
  explicit SessionStore(std::shared_ptr<Backend> backend,
                        std::shared_ptr<view::Catalogue> catalogue = nullptr);

  /// Makes a session with its header. Durable on return. `id_conflict` when the
  /// id is taken.
  Result<SessionHandle> create_session(const NewSession& session = {});

  /// The entries of a range, in log order; in a fork the inherited path first.
  Result<std::vector<Entry>> load_session_entries(std::string_view session_id,
                                                  EntryRange range = {});
  /// The same as a stream, for sessions of any size.
  Result<EntryReader> read_session(std::string_view session_id, EntryRange range = {});

  /// Appends a batch: all of it or nothing. Checked in this order: the entries
  /// themselves (`invalid_argument`, `too_large`, `bad_batch`), repeats (a batch
  /// that is stored already is success; `id_conflict`, `partial_overlap`), then
  /// `tail_moved`, `head_moved`, `fenced`, `unknown_parent`; then `no_space`, `io_error`,
  /// `durability_unknown`, `storage_gone`, `busy`. A repeated id is compared on
  /// the members that the caller gave, not on what was filled in. An error
  /// carries the ids of the batch.
  Result<AppendResult> append_session_entries(std::string_view session_id,
                                              std::span<const NewEntry> entries,
                                              const AppendOptions& options = {});
  /// The same for entries that are JSON objects already; each is stored as it
  /// is, with missing `id`, `parentId` and `timestamp` put in front.
  Result<AppendResult> append_session_lines(std::string_view session_id,
                                            std::span<const std::string_view> lines,
                                            const AppendOptions& options = {});

  /// Makes a session that continues from `from_entry`, a node this session can
  /// see. Nothing is copied (unless `detach`): the new session reads through to
  /// the log that holds the entry.
  Result<SessionHandle> branch_from_entry(std::string_view session_id, std::string_view from_entry,
                                          const ForkOptions& options = {});

  /// Rewrites a version-0 file (unsealed lines) as version 1. The old file is
  /// kept; interrupted at any step it leaves the old one whole. A session that
  /// is current already is left alone.
  Result<MigrationResult> migrate_session(std::string_view session_id);

  Result<SessionTree> session_tree(std::string_view session_id);

  /// Head and tail, from the index: costs the same however long the log is.
  Result<SessionEnds> session_ends(std::string_view session_id);
  /// All that a list says of a session. Reads what its own log has got since
  /// somebody listed or described it; the whole of it when nobody has, and when an
  /// entry was redacted since.
  Result<SessionSummary> describe_session(std::string_view session_id);
  /// For the library: `invalid_argument` once the store is closed.
  Result<void> check_open() const;
  /// For the library: the session at one moment, across its logs.
  Result<std::shared_ptr<const Lineage>> lineage(std::string_view session_id);

  /// Ids of all sessions, sorted. The storage itself is asked, so nothing that
  /// exists is missing.
  Result<std::vector<std::string>> session_ids();

  /// The sessions that pass the filter, which names the project or says that it is
  /// about all: `{.project = ProjectScope::all()}`. Last active first, then by id. Brings
  /// the catalogue up to date before it answers (see catalogue.h); a session that
  /// cannot be read says so in `problem`. Pages neither skip nor repeat a session
  /// that does not change while they are read. Fails only when the directory of
  /// logs cannot be read, and with `invalid_argument` for a cursor that is none.
  Result<Page<SessionSummary>> list_sessions(const SessionFilter& filter,
                                             const PageRequest& page = {});

  /// See inspect.h.
  Result<VerifyReport> verify_session(std::string_view session_id);
  Result<RepairReport> repair_session(std::string_view session_id);
  Result<std::vector<DumpLine>> dump_session(std::string_view session_id);

  /// Store::close.
  Result<void> close();

 private:
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<view::Catalogue> catalogue_;
  std::atomic<bool> closed_ = false;
};

/// One place that holds everything. Opened by URL: `file:DIR` (or a plain
/// path), `sqlite:FILE`, `postgres://USER@HOST/DATABASE?schema=NAME` (as libpq takes it; the
/// schema is `quipu` unless said otherwise), `memory:`.
class Store {
 public:
  /// Checks that the storage is there and usable and reads its version.
  /// `not_found` without a store (unless `create`), `invalid_argument` for a
  /// directory that is something else, `unsupported` for a newer format or an
  /// unknown URL.
  static Result<Store> open(std::string_view url, const StoreOptions& options = {});

  /// For the library and its tests: null means views that are kept in memory.
  explicit Store(std::shared_ptr<Backend> backend,
                 std::shared_ptr<view::Catalogue> catalogue = nullptr,
                 std::shared_ptr<view::UsageView> usage = nullptr,
                 std::shared_ptr<search::IndexDatabase> indexes = nullptr);

  SessionStore& sessions() { return *sessions_; }
  /// For the library: what the parts of a store share.
  const std::shared_ptr<Backend>& backend() const { return backend_; }
  /// For the library: where what is searched is kept.
  const std::shared_ptr<search::IndexDatabase>& indexes() const { return indexes_; }
  view::UsageView& usage_view() { return *usage_; }
  const std::string& id() const;

  /// Syncs what is not yet durable and closes; calls after it answer
  /// `invalid_argument`. A store that is destroyed without it loses nothing
  /// that was acknowledged.
  Result<void> close();

 private:
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<search::IndexDatabase> indexes_;
  std::unique_ptr<SessionStore> sessions_;
  std::shared_ptr<view::UsageView> usage_;
};

}  // namespace quipu
