#include "exchange/known_sources.h"

#include <limits>

#include "base/try.h"

namespace quipu::exchange {

Result<KnownSources> KnownSources::of(Store& store) {
  KnownSources sources;
  TRY_ASSIGN(const auto all, store.sessions().list_sessions(
                                 {.project = ProjectScope::all()},
                                 {.after = {}, .limit = std::numeric_limits<std::size_t>::max()}));
  for (const SessionSummary& session : all.items) sources.add(session);
  return sources;
}

Result<void> KnownSources::look_at(Store& store, const std::string& session_id) {
  TRY_ASSIGN(const SessionSummary session, store.sessions().describe_session(session_id));
  add(session);
  return {};
}

void KnownSources::add(const SessionSummary& session) {
  sessions_.insert(session.session_id);
  if (session.source.empty()) return;
  auto mark = read_mark(session.import_mark);
  const std::string& name = mark && !mark->source.empty() ? mark->source : session.source;
  const std::string key = session.agent_id + ":" + name;
  known_[key] = {.session_id = session.session_id, .mark = std::move(mark)};
}

const KnownSource* KnownSources::find(std::string_view agent, std::string_view name) const {
  if (known_.empty()) return nullptr;
  std::string key;
  key.reserve(agent.size() + 1 + name.size());
  key.append(agent).append(":").append(name);
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

std::string name_of(const ImportSource& source) {
  return source.part.empty() ? source.path : source.path + "#" + source.part;
}

std::string name_of(const dialect::Source& source) {
  return source.part.empty() ? source.path : source.path + "#" + source.part;
}

dialect::Source source_of(const ImportSource& source) {
  return {.agent = source.agent,
          .path = source.path,
          .part = source.part,
          .files = source.files,
          .root = source.root,
          .index = source.index,
          .database = source.database,
          .state = source.state};
}

std::optional<fs::HostStat> seen_of(const ImportSource& source) {
  if (source.seen.inode == 0) return std::nullopt;
  return fs::HostStat{.kind = fs::HostKind::kFile,
                      .device = source.seen.device,
                      .inode = source.seen.inode,
                      .size = source.seen.size,
                      .modified_ns = source.seen.modified_ns};
}

}  // namespace quipu::exchange
