#include "backend/backend.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "quipu/store.h"
#include "store/guarded.h"
#include "store/header_entry.h"
#include "view/catalogue.h"

namespace quipu {
namespace {

Error store_is_closed() { return {Code::kInvalidArgument, "the store is closed"}; }

template <class Work>
auto guarded(const std::atomic<bool>& closed, Work&& work) -> decltype(work()) {
  if (closed) return store_is_closed();
  return quipu::guarded(std::forward<Work>(work));
}

Result<std::string> new_session_id(const std::string& wanted, Filler filler) {
  if (wanted.empty()) return uuid_v7(filler.clock.unix_ms(), filler.random);
  return checked_session_id(wanted);
}

// Redactions belong to the log that holds their entry, so that they hold in
// every fork of it. Names that log when the batch is made of such redactions.
// What goes to another log must be new here as well.
Result<void> check_seen_ids(Backend& backend, const std::string& session_id,
                            const std::string& owner, const Batch& batch) {
  TRY_ASSIGN(const auto lineage, backend.lineage(session_id));
  for (const Draft& draft : batch.drafts) {
    TRY_ASSIGN(const auto found, lineage->find(draft.id.view()));
    if (!found) continue;
    const bool is_own = found->ordinal >= lineage->base();
    if (!is_own && lineage->ancestry()->session(found->ordinal) == owner) continue;
    return Error(Code::kIdConflict,
                 "entry " + std::string(draft.id.view()) + " is stored with other content");
  }
  return {};
}

Result<std::string> owning_session(Backend& backend, const std::string& session_id,
                                   const Batch& batch, const AppendOptions& options) {
  bool redacts = false;
  for (const Draft& draft : batch.drafts) redacts = redacts || draft.type == EntryType::kRedaction;
  if (!redacts) return session_id;
  TRY_ASSIGN(const auto ancestry, backend.ancestry(session_id));
  if (!ancestry) return session_id;
  std::optional<std::string> owner;
  for (const Draft& draft : batch.drafts) {
    std::string wanted = session_id;
    if (draft.type == EntryType::kRedaction) {
      TRY_ASSIGN(const auto found, ancestry->find(draft.target.view()));
      if (found) wanted = ancestry->session(found->ordinal);
    }
    if (owner && *owner != wanted) {
      return Error(Code::kBadBatch,
                   "a redaction of an inherited entry goes to the log that holds it, so it cannot "
                   "share a batch with anything else");
    }
    owner = std::move(wanted);
  }
  if (*owner != session_id && (options.expected_tail || options.expected_head || options.fence)) {
    return Error(Code::kBadBatch,
                 "a redaction of an inherited entry goes to another log, so it cannot expect a "
                 "tail, head or run of this one");
  }
  if (*owner != session_id) TRY(check_seen_ids(backend, session_id, *owner, batch));
  return *owner;
}

Result<AppendResult> append_batch(Backend& backend, const std::string& session_id,
                                  const Batch& batch, const AppendOptions& options) {
  auto result = [&]() -> Result<AppendResult> {
    TRY_ASSIGN(const std::string owner, owning_session(backend, session_id, batch, options));
    return backend.append(owner, batch, options);
  }();
  if (result.ok()) return result;
  return std::move(result).error().with_entry_ids(batch.ids());
}

}  // namespace

std::string header_entry(const SessionHeader& header, Filler filler) {
  const std::int64_t now = filler.clock.unix_ms();
  const std::string id = uuid_v7(now, filler.random);
  const std::string timestamp = format_timestamp(now);
  const std::string payload = session_header_payload(header);
  std::string json;
  append_entry_json(json, {.id = id,
                           .parent = std::nullopt,
                           .type = "session_header",
                           .timestamp = timestamp,
                           .run_id = {},
                           .payload = payload,
                           .meta = {}});
  return json;
}

SessionStore::SessionStore(std::shared_ptr<Backend> backend,
                           std::shared_ptr<view::Catalogue> catalogue)
    : backend_(std::move(backend)), catalogue_(std::move(catalogue)) {
  if (!catalogue_) catalogue_ = std::make_shared<view::Catalogue>(backend_, nullptr);
}

Result<SessionHandle> SessionStore::create_session(const NewSession& session) {
  return guarded(closed_, [&]() -> Result<SessionHandle> {
    TRY_ASSIGN(std::string id, new_session_id(session.id, backend_->filler()));
    SessionHeader header;
    header.version = kSchemaVersion;
    header.session_id = id;
    header.cwd = session.cwd;
    if (!json::is_utf8(session.title)) {
      return Error(Code::kInvalidArgument, "the title is not UTF-8");
    }
    header.title = session.title;
    header.agent_id = session.agent_id;
    header.preset_id = session.preset_id;
    header.project_id = session.project_id;
    const std::string entry = header_entry(header, backend_->filler());
    TRY(backend_->create(id, {&entry, 1}));
    return SessionHandle{.session_id = std::move(id), .schema_version = kSchemaVersion};
  });
}

Result<EntryReader> SessionStore::read_session(std::string_view session_id, EntryRange range) {
  return guarded(closed_, [&]() -> Result<EntryReader> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(auto lineage, backend_->lineage(id));
    return EntryReader(std::move(lineage), range);
  });
}

Result<std::vector<Entry>> SessionStore::load_session_entries(std::string_view session_id,
                                                              EntryRange range) {
  return guarded(closed_, [&]() -> Result<std::vector<Entry>> {
    TRY_ASSIGN(EntryReader reader, read_session(session_id, range));
    std::vector<Entry> entries;
    for (;;) {
      TRY_ASSIGN(const auto entry, reader.next());
      if (!entry) return entries;
      entries.emplace_back(*entry);
    }
  });
}

Result<AppendResult> SessionStore::append_session_entries(std::string_view session_id,
                                                          std::span<const NewEntry> entries,
                                                          const AppendOptions& options) {
  return guarded(closed_, [&]() -> Result<AppendResult> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(const Batch batch, admit_entries(entries, backend_->filler()));
    return append_batch(*backend_, id, batch, options);
  });
}

Result<AppendResult> SessionStore::append_session_lines(std::string_view session_id,
                                                        std::span<const std::string_view> lines,
                                                        const AppendOptions& options) {
  return guarded(closed_, [&]() -> Result<AppendResult> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(const Batch batch, admit_lines(lines, backend_->filler()));
    return append_batch(*backend_, id, batch, options);
  });
}

Result<SessionHandle> SessionStore::branch_from_entry(std::string_view session_id,
                                                      std::string_view from_entry,
                                                      const ForkOptions& options) {
  return guarded(closed_, [&]() -> Result<SessionHandle> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(const auto lineage, backend_->lineage(id));
    TRY_ASSIGN(const auto from, lineage->find(from_entry));
    if (!from) {
      return Error(Code::kNotFound, "there is no entry " + std::string(from_entry) + " in " + id);
    }
    if (!from->is_node) {
      return Error(Code::kInvalidArgument, "a fact cannot be forked from; name a node of the tree");
    }
    TRY_ASSIGN(std::string new_id, new_session_id(options.new_id, backend_->filler()));
    SessionHeader header;
    header.version = kSchemaVersion;
    header.session_id = new_id;
    TRY_ASSIGN(const SessionHeader parent, backend_->header(id));
    header.cwd = parent.cwd;
    header.agent_id = parent.agent_id;
    header.preset_id = parent.preset_id;
    header.project_id = parent.project_id;
    const bool inherited = from->ordinal < lineage->base();
    const std::string owner = inherited ? lineage->ancestry()->session(from->ordinal) : id;
    // The entry may be one that a killed writer left unsynced: a fork must not
    // outlive it.
    if (!options.detach) TRY(backend_->settle(owner));
    (options.detach ? header.detached_session : header.parent_session) = owner;
    (options.detach ? header.detached_entry : header.parent_entry) = std::string(from_entry);
    std::vector<std::string> entries{header_entry(header, backend_->filler())};
    if (options.detach) {
      TRY_ASSIGN(const SessionTree tree, SessionTree::of(lineage));
      EntryText text;
      for (const Ordinal node : tree.path(from->ordinal)) {
        TRY(read_entry(*lineage, node, text));
        entries.emplace_back(text.json);
      }
    }
    TRY(backend_->create(new_id, entries));
    return SessionHandle{.session_id = std::move(new_id), .schema_version = kSchemaVersion};
  });
}

Result<MigrationResult> SessionStore::migrate_session(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<MigrationResult> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    return backend_->migrate(id);
  });
}

Result<SessionTree> SessionStore::session_tree(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<SessionTree> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(auto lineage, backend_->lineage(id));
    return SessionTree::of(std::move(lineage));
  });
}

Result<void> SessionStore::check_open() const {
  return closed_ ? Result<void>(store_is_closed()) : Result<void>();
}

Result<std::shared_ptr<const Lineage>> SessionStore::lineage(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<std::shared_ptr<const Lineage>> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    return backend_->lineage(id);
  });
}

Result<SessionEnds> SessionStore::session_ends(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<SessionEnds> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(const auto lineage, backend_->lineage(id));
    SessionEnds ends;
    ends.entries = lineage->own().fold().count;
    ends.damaged = lineage->own().damaged();
    if (lineage->head() != kNone) {
      TRY_ASSIGN(ends.head, lineage->id(lineage->head()));
    }
    if (ends.entries > 0) {
      TRY_ASSIGN(ends.tail, lineage->id(lineage->size() - 1));
    }
    return ends;
  });
}

Result<SessionSummary> SessionStore::describe_session(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<SessionSummary> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    return catalogue_->describe(id);
  });
}

Result<std::vector<std::string>> SessionStore::session_ids() {
  return guarded(closed_, [&] { return backend_->list(); });
}

Result<Page<SessionSummary>> SessionStore::list_sessions(const SessionFilter& filter,
                                                         const PageRequest& page) {
  return guarded(closed_, [&] { return catalogue_->list(filter, page); });
}

Result<VerifyReport> SessionStore::verify_session(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<VerifyReport> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    return backend_->verify(id);
  });
}

Result<RepairReport> SessionStore::repair_session(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<RepairReport> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(RepairReport report, backend_->repair(id));
    if (!report.actions.empty()) catalogue_->forget(id);
    return report;
  });
}

Result<std::vector<DumpLine>> SessionStore::dump_session(std::string_view session_id) {
  return guarded(closed_, [&]() -> Result<std::vector<DumpLine>> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    return backend_->dump(id);
  });
}

Result<void> SessionStore::close() {
  if (closed_.exchange(true)) return {};
  return backend_->close();
}

}  // namespace quipu
