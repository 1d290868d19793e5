#include "backend/sql/sql_backend.h"

#include <algorithm>
#include <charconv>

#include "backend/sql/schema.h"
#include "backend/sql/sql_view.h"
#include "backend/sql/statements.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::sqlstore {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kSessionsKept = 1024;
constexpr nanoseconds kFirstPause = std::chrono::microseconds(200);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(50);

constexpr sql::Text kSetStore = "INSERT INTO @quipu_store (name, value) VALUES ($1, $2)";
constexpr sql::Text kReadStore = "SELECT value FROM @quipu_store WHERE name = 'store_id'";

bool may_have_happened(const Error& error) { return error.code() == Code::kDurabilityUnknown; }

// Whether it is about the database and not about what is in it.
bool is_of_storage(const Error& error) {
  switch (error.code()) {
    case Code::kStorageGone:
    case Code::kBusy:
    case Code::kIoError:
    case Code::kNoMemory:
    case Code::kNoSpace:
    case Code::kNotAllowed:
      return true;
    default:
      return false;
  }
}

}  // namespace

SqlBackend::SqlBackend(sql::Pool::Open primary, sql::Pool::Open replica, Clock& clock,
                       Random& random, const SqlBackendOptions& options)
    : clock_(clock),
      random_(random),
      wait_(options.wait),
      primary_(std::make_shared<sql::Pool>(std::move(primary), clock, options.wait)),
      replica_(replica ? std::make_shared<sql::Pool>(std::move(replica), clock, options.wait)
                       : primary_),
      attachments_(*primary_, clock, random) {}

Result<std::shared_ptr<SqlBackend>> SqlBackend::open(sql::Pool::Open primary,
                                                     sql::Pool::Open replica, Clock& clock,
                                                     Random& random,
                                                     const SqlBackendOptions& options) {
  std::shared_ptr<SqlBackend> backend(
      new SqlBackend(primary, std::move(replica), clock, random, options));
  TRY(backend->load(options, primary));
  return backend;
}

Result<void> SqlBackend::load(const SqlBackendOptions& options, const sql::Pool::Open& primary) {
  // Not from the pool: whoever names a wrong server wants to know it at once.
  TRY_ASSIGN(auto engine, primary());
  TRY_ASSIGN(auto state, sql::schema_state(*engine));
  if (!state && options.create) {
    const std::string id = uuid_v7(clock_.unix_ms(), random_);
    const sql::Command more[] = {{.text = kSetStore, .params = {"store_id", id}},
                                 {.text = kSetStore, .params = {"settled", "0"}}};
    auto made = sql::make_schema(*engine, versions(), more);
    // Somebody else may have been faster.
    TRY_ASSIGN(state, sql::schema_state(*engine));
    if (!state && !made.ok()) return made;
  }
  if (!state) {
    return Error(Code::kNotFound, "there is no store in this database")
        .with_hint("make one with `quipu init`");
  }
  not_writable_ = sql::not_writable(*state, versions());
  TRY_ASSIGN(const auto id, engine->word(kReadStore));
  if (!id) return Error(Code::kCorrupt, "the store has no id");
  store_id_ = *id;
  primary_->take(std::move(engine));
  return {};
}

Result<void> SqlBackend::check_writable() const {
  return not_writable_ ? Result<void>(*not_writable_) : Result<void>();
}

std::shared_ptr<SqlBackend::Session> SqlBackend::session(const std::string& session_id) {
  MutexLock lock(mutex_);
  if (const auto known = by_id_.find(session_id); known != by_id_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, known->second);
    return known->second->second;
  }
  sessions_.emplace_front(session_id, std::make_shared<Session>());
  by_id_[session_id] = sessions_.begin();
  if (sessions_.size() > kSessionsKept) {
    by_id_.erase(sessions_.back().first);
    sessions_.pop_back();
  }
  return sessions_.front().second;
}

// Never back: a view that was begun before an append may come to its end after it.
void SqlBackend::Session::has_seen(std::int64_t entries) {
  std::int64_t before = seen;
  while (before < entries && !seen.compare_exchange_weak(before, entries)) {
  }
}

// Whether the replica has not heard yet of something that this process has seen.
bool SqlBackend::is_behind(const std::unordered_map<std::string, std::int64_t>& entries) {
  MutexLock lock(mutex_);
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& known) {
    const auto& [session_id, session] = known;
    if (session->seen == 0 || session_id.starts_with(kSystemPrefix)) return false;
    const auto found = entries.find(session_id);
    return found == entries.end() || found->second < session->seen;
  });
}

Result<std::vector<SurveyedLog>> SqlBackend::survey() {
  std::unordered_map<std::string, std::int64_t> entries;
  const auto read = [&](sql::Engine& engine) -> Result<std::vector<SurveyedLog>> {
    TRY_ASSIGN(const auto rows, engine.ask(kSurvey));
    std::vector<SurveyedLog> logs;
    entries.clear();
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) return logs;
      if (replica_ != primary_) entries.emplace(rows->text(0), rows->integer(4));
      logs.push_back({.session_id = std::string(rows->text(0)),
                      .device = 0,
                      .inode = static_cast<std::uint64_t>(rows->integer(1)),
                      .bytes = static_cast<std::uint64_t>(rows->integer(2)),
                      .modified_ms = rows->integer(3)});
    }
  };
  auto logs = replica_->reading(read);
  if (replica_ == primary_ || (logs.ok() && !is_behind(entries))) return logs;
  return primary_->reading(read);
}

Result<std::vector<std::string>> SqlBackend::list() {
  TRY_ASSIGN(const auto logs, survey());
  std::vector<std::string> ids;
  ids.reserve(logs.size());
  for (const SurveyedLog& log : logs) ids.push_back(log.session_id);
  return ids;
}

Result<std::vector<std::string>> SqlBackend::list_system() {
  return primary_->reading([](sql::Engine& engine) -> Result<std::vector<std::string>> {
    TRY_ASSIGN(const auto rows, engine.ask(kListSystem));
    std::vector<std::string> ids;
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) return ids;
      ids.emplace_back(rows->text(0));
    }
  });
}

Result<void> SqlBackend::drop_system(const std::string& log_id) {
  TRY(check_writable());
  TRY(head_of(*primary_, log_id));
  const sql::Command commands[] = {{.text = kDropHead, .params = {log_id}},
                                   {.text = kDropEntries, .params = {log_id}}};
  TRY(commit(commands, sql::Sync::kNow));
  MutexLock lock(mutex_);
  if (const auto known = by_id_.find(log_id); known != by_id_.end()) {
    sessions_.erase(known->second);
    by_id_.erase(known);
  }
  return {};
}

Result<LogHead> SqlBackend::head_of(sql::Pool& pool, const std::string& session_id) {
  TRY_ASSIGN(auto head,
             pool.reading([&](sql::Engine& engine) { return read_head(engine, session_id); }));
  if (!head) return no_session(session_id);
  return *std::move(head);
}

Result<SurveyedLog> SqlBackend::survey(const std::string& session_id) {
  TRY_ASSIGN(const LogHead head, head_of(*primary_, session_id));
  if (replica_ != primary_) session(session_id)->has_seen(head.fold.count);
  return SurveyedLog{.session_id = session_id,
                     .device = 0,
                     .inode = static_cast<std::uint64_t>(head.number),
                     .bytes = head.bytes,
                     .modified_ms = head.modified_ms};
}

Result<SessionHeader> SqlBackend::header(const std::string& session_id) {
  const auto read = [&](sql::Engine& engine) -> Result<std::optional<SessionHeader>> {
    const sql::Param params[] = {session_id, std::int64_t{0}, std::int64_t{1}};
    TRY_ASSIGN(const auto rows, engine.ask(kReadEntries, params));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return std::optional<SessionHeader>();
    return std::optional(read_session_header(read_envelope(rows->text(4)).payload));
  };
  TRY_ASSIGN(auto header, replica_->reading(read));
  if (!header && replica_ != primary_) {
    TRY_ASSIGN(header, primary_->reading(read));
    // Nor may the replica have heard of the entry that a fork goes on from.
    if (header && !header->parent_session.empty()) {
      ignore(survey(header->parent_session), "whoever reads the parent is told");
    }
  }
  if (!header) return no_session(session_id);
  return *std::move(header);
}

Result<std::shared_ptr<const LogView>> SqlBackend::view(const std::string& session_id,
                                                        std::shared_ptr<const Ancestry>) {
  const auto known = session(session_id);
  // Logs of the store's own are what processes agree by: not to be had late.
  auto pool = session_id.starts_with(kSystemPrefix) ? primary_ : replica_;
  auto head = head_of(*pool, session_id);
  const bool is_behind = !head.ok() || head->fold.count < known->seen;
  if (is_behind && pool != primary_) {
    pool = primary_;
    head = head_of(*pool, session_id);
  }
  if (!head.ok()) return std::move(head).error();
  known->has_seen(head->fold.count);
  return std::shared_ptr<const LogView>(
      std::make_shared<SqlView>(std::move(pool), session_id, std::move(head).value()));
}

Result<void> SqlBackend::commit(std::span<const sql::Command> commands, sql::Sync sync) {
  TRY_ASSIGN(const auto engine, primary_->lease());
  if (sync == sql::Sync::kLater) {
    TRY(engine->commit(commands, sync));
    is_unsettled_ = true;
    return {};
  }
  // Cleared before: this commit may not take along what another thread adds meanwhile.
  const bool was_unsettled = is_unsettled_.exchange(false);
  auto done = engine->commit(commands, sync);
  if (!done.ok() && was_unsettled) is_unsettled_ = true;
  return done;
}

// --- making ------------------------------------------------------------------------------

Result<std::unique_ptr<SqlAppend>> SqlBackend::planned_log(const std::string& session_id,
                                                           std::span<const std::string> entries) {
  const SessionHeader header = read_session_header(read_envelope(entries.front()).payload);
  std::shared_ptr<const Ancestry> inherited;
  if (!header.parent_session.empty()) {
    TRY_ASSIGN(auto parent, lineage(header.parent_session));
    TRY_ASSIGN(inherited,
               Ancestry::of_fork(header.parent_session, std::move(parent), header.parent_entry));
  }
  LogHead head;
  head.fold = fold_start(inherited ? inherited->count() : 0);
  head.head_id = inherited ? header.parent_entry : "";
  std::uint64_t number = 0;
  random_.fill(std::as_writable_bytes(std::span(&number, 1)));
  head.number = static_cast<std::int64_t>(number >> 2);
  auto log = std::make_unique<SqlAppend>(*primary_, session_id, head, std::move(inherited), true);
  log->add_all(entries);
  return log;
}

Result<bool> SqlBackend::make(std::span<const sql::Command> commands, const std::string& session_id,
                              const LogHead& head) {
  const nanoseconds deadline = clock_.monotonic() + wait_;
  nanoseconds pause = kFirstPause;
  for (std::optional<Error> unsure;;) {
    auto made = commit(commands, sql::Sync::kNow);
    if (made.ok()) return true;
    if (made.error().code() == Code::kIdConflict) {
      if (!unsure) return false;
      // What is in the way may be ours, from an attempt whose answer was lost. The number tells:
      // ids of entries may be the same for everybody who makes this session.
      const auto found = head_of(*primary_, session_id);
      if (!found.ok()) return *std::move(unsure);
      if (found->number != head.number) return false;
      if (!settle(session_id).ok()) return *std::move(unsure);
      return true;
    }
    if (!may_have_happened(made.error())) {
      return unsure ? *std::move(unsure) : std::move(made).error();
    }
    unsure = std::move(made).error();
    if (clock_.monotonic() >= deadline) return *std::move(unsure);
    clock_.sleep(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

Result<void> SqlBackend::create(const std::string& session_id,
                                std::span<const std::string> entries) {
  TRY(check_writable());
  TRY_ASSIGN(const auto log, planned_log(session_id, entries));
  TRY_ASSIGN(const bool made, make(log->commands(clock_.unix_ms()), session_id, log->head()));
  if (!made) return Error(Code::kIdConflict, "session " + session_id + " exists already");
  session(session_id)->has_seen(log->head().fold.count);
  return {};
}

Result<std::vector<std::size_t>> SqlBackend::create_all(std::vector<std::unique_ptr<NewLog>> logs) {
  TRY(check_writable());
  std::vector<std::unique_ptr<SqlAppend>> made;
  std::vector<sql::Command> commands;
  for (const auto& log : logs) {
    TRY_ASSIGN(auto one, planned_log(log->session_id(), entries_of(*log)));
    auto more = one->commands(clock_.unix_ms());
    std::move(more.begin(), more.end(), std::back_inserter(commands));
    made.push_back(std::move(one));
  }
  if (commands.empty()) return std::vector<std::size_t>();
  const auto done = make(commands, logs.front()->session_id(), made.front()->head());
  if (!done.ok() && may_have_happened(done.error())) return done.error();
  // No room for all of them is room for none: of those that were made an error would say that
  // they were not.
  if (!done.ok() && done.error().code() == Code::kNoSpace) return done.error();
  // One of them exists, or something is wrong: which, and what, each by itself says.
  if (!done.ok() || !*done) return Backend::create_all(std::move(logs));
  for (std::size_t i = 0; i < logs.size(); ++i) {
    session(logs[i]->session_id())->has_seen(made[i]->head().fold.count);
  }
  return std::vector<std::size_t>();
}

// --- appending ---------------------------------------------------------------------------

Result<void> SqlBackend::look(const std::string& session_id, Session& session,
                              std::shared_ptr<void>* turn) {
  if (turn != nullptr) {
    TRY_ASSIGN(const auto engine, primary_->lease());
    TRY_ASSIGN(*turn, engine->turn());
  }
  TRY_ASSIGN(session.head, head_of(*primary_, session_id));
  session.has_seen(session.head->fold.count);
  if (!session.inherited) {
    TRY_ASSIGN(session.inherited, ancestry(session_id));
  }
  return {};
}

Result<bool> SqlBackend::has_made_up_id(const std::string& session_id, const Batch& batch) {
  const auto draft = std::find_if(batch.drafts.begin(), batch.drafts.end(),
                                  [](const Draft& one) { return !one.id_given; });
  if (draft == batch.drafts.end()) return false;
  TRY_ASSIGN(const auto found, primary_->reading([&](sql::Engine& engine) {
    const sql::Param params[] = {session_id, draft->id.view()};
    return engine.number(kFindEntry, params);
  }));
  return found.has_value();
}

Result<AppendResult> SqlBackend::append(const std::string& session_id, const Batch& batch,
                                        const AppendOptions& options) {
  TRY(check_writable());
  const auto known = session(session_id);
  MutexLock lock(known->mutex);
  AppendResult result;
  result.session_id = session_id;
  result.entry_ids = batch.ids();
  result.last_appended_entry_id = result.entry_ids.back();
  result.durable = options.durability == Durability::kCommit;
  std::optional<Error> unsure;
  auto appended = append(*known, batch, options, result, unsure);
  if (appended.ok()) return result;
  // Once an answer was lost, errors of the storage say nothing about what became of the batch.
  if (unsure && is_of_storage(appended.error())) return *std::move(unsure);
  return std::move(appended).error();
}

// Once the answer to an attempt was lost, the batch may be there, or come to be there while we
// look. It is there whole or not at all, and where it stands nothing else can: so the next attempt
// finds it or goes before it.
Result<void> SqlBackend::append(Session& known, const Batch& batch, const AppendOptions& options,
                                AppendResult& result, std::optional<Error>& unsure) {
  const std::string& session_id = result.session_id;
  const nanoseconds deadline = clock_.monotonic() + wait_;
  nanoseconds pause = kFirstPause;
  // Who was too slow before keeps the others waiting while it looks, or might be for ever.
  std::shared_ptr<void> turn;
  bool is_late = false;
  for (bool on_trust = known.head.has_value();; on_trust = false) {
    if (!on_trust) TRY(look(session_id, known, is_late ? &turn : nullptr));
    if (unsure) {
      TRY_ASSIGN(const bool is_there, has_made_up_id(session_id, batch));
      if (is_there) return result.durable ? settle(session_id) : Result<void>();
    }
    SqlAppend append(*primary_, session_id, *known.head, *known.inherited, on_trust);
    auto planned = append.plan(batch, options);
    // Before it is refused, look at what others did.
    if (!planned.ok() && on_trust) continue;
    if (!planned.ok()) return std::move(planned).error();
    const bool is_there = planned->appended == 0;
    if (!is_there || !unsure) {
      result.appended_count = planned->appended;
      result.already_present = planned->already_present;
    }
    // Whoever stored it may not have waited for the disk.
    if (is_there) return result.durable ? settle(session_id) : Result<void>();
    auto done = commit(append.commands(clock_.unix_ms()),
                       result.durable ? sql::Sync::kNow : sql::Sync::kLater);
    if (done.ok()) {
      known.head = append.head();
      known.has_seen(append.head().fold.count);
      return {};
    }
    known.head.reset();
    if (may_have_happened(done.error())) {
      unsure = std::move(done).error();
    } else if (done.error().code() != Code::kIdConflict) {
      return done;
    }
    if (clock_.monotonic() >= deadline) {
      return Error(Code::kBusy, "others append to session " + session_id + " all the time");
    }
    is_late = true;
    if (on_trust) continue;
    turn.reset();
    clock_.sleep(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Of the same database as `survey`, which may have heard less than another.
std::unique_ptr<LogWatch> SqlBackend::watch() {
  return std::make_unique<PollingWatch>(clock_, [pool = replica_]() -> Result<std::string> {
    return pool->reading([](sql::Engine& engine) -> Result<std::string> {
      TRY_ASSIGN(auto stamp, engine.word(kStamp));
      return stamp ? *std::move(stamp) : std::string("nothing");
    });
  });
}

Result<void> SqlBackend::settle(const std::string& session_id) {
  static_cast<void>(session_id);  // a database has one log for all
  if (not_writable_) return {};
  const sql::Command command{.text = kSettle};
  const nanoseconds deadline = clock_.monotonic() + wait_;
  for (;;) {
    auto done = commit({&command, 1}, sql::Sync::kNow);
    // To do it twice is no harm.
    if (done.ok() || !may_have_happened(done.error()) || clock_.monotonic() >= deadline) {
      return done;
    }
  }
}

Result<std::vector<FeedEntry>> SqlBackend::feed(std::string_view cursor, std::size_t limit) {
  const std::size_t dot = std::min(cursor.find('.'), cursor.size());
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
    return value;
  };
  const auto transaction =
      cursor.empty() ? std::optional<std::int64_t>(0) : number(cursor.substr(0, dot));
  const auto position = cursor.empty() ? std::optional<std::int64_t>(0)
                                       : number(cursor.substr(std::min(dot + 1, cursor.size())));
  if (!transaction || !position) {
    return Error(Code::kInvalidArgument, "no cursor of a feed: " + std::string(cursor));
  }
  const std::string after = std::to_string(*transaction);
  return primary_->reading([&](sql::Engine& engine) -> Result<std::vector<FeedEntry>> {
    const sql::Param params[] = {after, *position, static_cast<std::int64_t>(limit)};
    TRY_ASSIGN(const auto rows, engine.ask(kReadFeed, params));
    std::vector<FeedEntry> entries;
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) return entries;
      entries.push_back(
          {.cursor = std::string(rows->text(0)) + "." + std::to_string(rows->integer(1)),
           .session_id = std::string(rows->text(2)),
           .ordinal = static_cast<Ordinal>(rows->integer(3)),
           .id = std::string(rows->text(4))});
    }
  });
}

Result<void> SqlBackend::close() {
  if (not_writable_) return {};
  if (is_unsettled_) TRY(settle({}));
  TRY_ASSIGN(const auto engine, primary_->lease());
  return engine->tidy();
}

}  // namespace quipu::sqlstore
