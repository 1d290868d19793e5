#include "backend/backend.h"

#include "base/sha256.h"
#include "base/try.h"

namespace quipu {
namespace {

// Headers are written by us, but may be edited into a circle.
constexpr int kForksMax = 1000;

class CollectedLog final : public NewLog {
 public:
  using NewLog::NewLog;

  Result<void> add(const EntryParts& entry) override {
    append_entry_json(entries_.emplace_back(), entry);
    return {};
  }
  Result<void> finish() override { return {}; }
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> entries_;
};

}  // namespace

Error no_session(const std::string& session_id) {
  return Error(Code::kNotFound, "there is no session " + session_id)
      .with_hint("Check the name; `quipu list --all` shows the sessions that exist.");
}

Result<std::unique_ptr<NewLog>> Backend::new_log(const std::string& session_id) {
  return std::unique_ptr<NewLog>(std::make_unique<CollectedLog>(session_id));
}

// Where nothing better is known: what everything looks like.
std::unique_ptr<LogWatch> Backend::watch() {
  return std::make_unique<PollingWatch>(filler().clock, [this]() -> Result<std::string> {
    std::string stamp;
    const auto add = [&](const SurveyedLog& log) {
      for (const std::uint64_t number :
           {log.device, log.inode, log.bytes, static_cast<std::uint64_t>(log.modified_ms)}) {
        stamp += std::to_string(number) + ' ';
      }
      stamp += log.session_id + '\n';
    };
    TRY_ASSIGN(const auto sessions, survey());
    for (const SurveyedLog& log : sessions) add(log);
    TRY_ASSIGN(const auto system, list_system());
    for (const std::string& id : system) {
      if (const auto log = survey(id); log.ok()) add(*log);
    }
    return sha256_hex(stamp);
  });
}

std::span<const std::string> Backend::entries_of(const NewLog& log) {
  return static_cast<const CollectedLog&>(log).entries();
}

Result<std::vector<std::size_t>> Backend::create_all(std::vector<std::unique_ptr<NewLog>> logs) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    auto created = create(logs[i]->session_id(), entries_of(*logs[i]));
    if (created.ok()) continue;
    if (created.error().code() != Code::kIdConflict) return std::move(created).error();
    taken.push_back(i);
  }
  return taken;
}

Result<std::shared_ptr<const Lineage>> Backend::lineage(const std::string& session_id) {
  return lineage(session_id, 0);
}

Result<std::shared_ptr<const Ancestry>> Backend::ancestry(const std::string& session_id) {
  return ancestry(session_id, 0);
}

Result<std::shared_ptr<const Lineage>> Backend::lineage(const std::string& session_id, int forks) {
  TRY_ASSIGN(auto inherited, ancestry(session_id, forks));
  TRY_ASSIGN(auto own, view(session_id, inherited));
  return Lineage::make(std::move(own), std::move(inherited));
}

Result<std::shared_ptr<const Ancestry>> Backend::ancestry(const std::string& session_id,
                                                          int forks) {
  TRY_ASSIGN(const SessionHeader parent, header(session_id));
  if (parent.parent_session.empty()) return std::shared_ptr<const Ancestry>();
  if (forks >= kForksMax || !is_session_id(parent.parent_session)) {
    return Error(Code::kCorrupt, "the header of " + session_id + " names an impossible parent");
  }
  auto older = lineage(parent.parent_session, forks + 1);
  if (!older.ok()) {
    if (older.error().code() != Code::kNotFound) return std::move(older).error();
    return Error(Code::kCorrupt, "session " + session_id + " was forked from " +
                                     parent.parent_session + ", which is not in this store");
  }
  auto made =
      Ancestry::of_fork(parent.parent_session, std::move(older).value(), parent.parent_entry);
  if (!made.ok()) return std::move(made).error().in(session_id);
  return made;
}

}  // namespace quipu
