#include "quipu/session_facts.h"

#include <functional>

#include "backend/backend.h"
#include "base/try.h"
#include "base/uuid.h"
#include "dialect/lift.h"
#include "model/session_info.h"
#include "store/fact_walk.h"
#include "store/guarded.h"

namespace quipu {
namespace {

// Decisions that others disturb: how often to decide again.
constexpr int kDecideTries = 16;

bool knows_all(const SessionInfo& info) {
  return info.title && info.project_id && info.status && info.working_directory && info.sdk_cwd &&
         info.sdk_session_id && info.archived && info.tags;
}

Result<SessionInfo> fold_session_info(const Lineage& lineage) {
  SessionInfo info;
  FactWalk walk(lineage, EntryType::kSessionInfo);
  while (!knows_all(info)) {
    TRY_ASSIGN(const auto fact, walk.next());
    if (!fact) break;
    // Walking from the newest: what is known already wins.
    SessionInfo older = read_session_info(fact->payload);
    older.apply(info);
    info = std::move(older);
  }
  return info;
}

SessionFacts facts_of(const SessionHeader& header, const SessionInfo& info) {
  SessionFacts facts;
  facts.title = info.title.value_or(header.title);
  facts.agent_id = header.agent_id;
  facts.preset_id = header.preset_id;
  facts.project_id = info.project_id.value_or(header.project_id);
  facts.status = info.status.value_or("active");
  facts.archived = info.archived.value_or(false);
  facts.tags = info.tags.value_or(std::vector<std::string>());
  facts.working_directory = info.working_directory.value_or(header.cwd);
  // Sessions from before there was such a member: where they were made.
  facts.sdk_cwd = info.sdk_cwd.value_or(header.cwd);
  if (facts.sdk_cwd.empty()) facts.sdk_cwd = facts.working_directory;
  facts.sdk_session_id = info.sdk_session_id.value_or("");
  return facts;
}

// On the path of the head, since the last reset.
Result<bool> has_messages(const Lineage& lineage) {
  for (Ordinal node = lineage.head(); node != kNone;) {
    TRY_ASSIGN(const StoredEntry stored, lineage.entry(node));
    if (stored.place.type == EntryType::kContextReset) return false;
    if (stored.place.type == EntryType::kMessage) return true;
    if (stored.place.type == EntryType::kOther) {
      Envelope envelope = read_envelope_prefix(stored.text);
      if (stored.adopted) adopt(envelope, stored.text);
      if (dialect::carries_message(envelope.type.view())) return true;
    }
    node = stored.place.parent;
  }
  return false;
}

/// A session at one moment, as the rules look at it.
struct Situation {
  SessionFacts facts;
  bool has_messages = false;
  bool can_update() const { return !has_messages && facts.sdk_session_id.empty(); }
};

Result<Situation> look(const Store& store, const std::string& session_id, const Lineage& lineage) {
  Situation situation;
  TRY_ASSIGN(const SessionHeader header, store.backend()->header(session_id));
  TRY_ASSIGN(const SessionInfo info, fold_session_info(lineage));
  situation.facts = facts_of(header, info);
  TRY_ASSIGN(situation.has_messages, has_messages(lineage));
  return situation;
}

NewEntry info_fact(const SessionInfo& info) {
  NewEntry fact;
  fact.type = "session_info";
  fact.payload = session_info_payload(info);
  return fact;
}

/// Looks, decides and appends, as if in one step: the append expects the log that
/// was looked at. No entries: nothing is to be done.
using Decide = std::function<std::vector<NewEntry>(const Situation&)>;
Result<void> change(Store& store, std::string_view session_id, const FactsOptions& options,
                    const Decide& decide) {
  const std::string id(session_id);
  for (int tries = 1;; ++tries) {
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(id));
    TRY_ASSIGN(const Situation situation, look(store, id, *lineage));
    const std::vector<NewEntry> batch = decide(situation);
    if (batch.empty()) return {};
    AppendOptions append;
    append.fence = options.fence;
    TRY_ASSIGN(append.expected_tail, tail_of(*lineage));
    auto stored = store.sessions().append_session_entries(id, batch, append);
    if (stored.ok()) return {};
    if (stored.error().code() != Code::kTailMoved || tries == kDecideTries) {
      return std::move(stored).error();
    }
  }
}

}  // namespace

Result<SessionFacts> read_session_facts(Store& store, std::string_view session_id) {
  return guarded([&]() -> Result<SessionFacts> {
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
    TRY_ASSIGN(const SessionHeader header, store.backend()->header(std::string(session_id)));
    TRY_ASSIGN(const SessionInfo info, fold_session_info(*lineage));
    return facts_of(header, info);
  });
}

Result<bool> can_update_sdk_cwd(Store& store, std::string_view session_id) {
  return guarded([&]() -> Result<bool> {
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
    TRY_ASSIGN(const Situation situation, look(store, std::string(session_id), *lineage));
    return situation.can_update();
  });
}

Result<DirectoryMove> set_working_directory(Store& store, std::string_view session_id,
                                            std::string_view directory,
                                            const FactsOptions& options) {
  return guarded([&]() -> Result<DirectoryMove> {
    DirectoryMove move;
    TRY(change(store, session_id, options, [&](const Situation& situation) {
      SessionInfo info;
      info.working_directory = std::string(directory);
      move.sdk_cwd_moved = situation.can_update();
      if (move.sdk_cwd_moved) info.sdk_cwd = info.working_directory;
      return std::vector{info_fact(info)};
    }));
    return move;
  });
}

Result<void> set_sdk_session_id(Store& store, std::string_view session_id,
                                std::string_view sdk_session_id, const FactsOptions& options) {
  return guarded([&] {
    return change(store, session_id, options, [&](const Situation& situation) {
      SessionInfo info;
      info.sdk_session_id = std::string(sdk_session_id);
      // Said from now on, whatever the header or older facts leave open.
      info.sdk_cwd = situation.facts.sdk_cwd;
      return std::vector{info_fact(info)};
    });
  });
}

Result<bool> resume_failed(Store& store, std::string_view session_id, std::string_view failed_id,
                           const FactsOptions& options) {
  return guarded([&]() -> Result<bool> {
    bool cleared = false;
    TRY(change(store, session_id, options, [&](const Situation& situation) {
      cleared = !failed_id.empty() && situation.facts.sdk_session_id == failed_id;
      std::vector<NewEntry> batch;
      if (!cleared) return batch;
      SessionInfo info;
      info.sdk_session_id = "";
      batch.push_back(info_fact(info));
      return batch;
    }));
    return cleared;
  });
}

Result<std::string> reset_context(Store& store, std::string_view session_id,
                                  const FactsOptions& options) {
  return guarded([&]() -> Result<std::string> {
    const Filler filler = store.backend()->filler();
    NewEntry reset;
    reset.type = "context_reset";
    reset.id = uuid_v7(filler.clock.unix_ms(), filler.random);
    if (options.fence) reset.run_id = *options.fence;
    TRY(change(store, session_id, options, [&](const Situation& situation) {
      SessionInfo info;
      info.sdk_session_id = "";
      info.sdk_cwd = situation.facts.working_directory;
      return std::vector{reset, info_fact(info)};
    }));
    return reset.id;
  });
}

}  // namespace quipu
