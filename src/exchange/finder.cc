#include "exchange/finder.h"

#include <algorithm>
#include <set>

#include "base/try.h"

namespace quipu::exchange {
namespace {

using dialect::Dialect;
using fs::HostKind;

constexpr std::size_t kHeadBytes = std::size_t{16} << 10;
constexpr int kDepthMax = 16;
constexpr std::int64_t kNsPerMs = 1'000'000;

class Finder {
 public:
  Finder(fs::HostFiles& files, const KnownSources& known, std::int64_t since_ms)
      : files_(files), known_(known), since_ms_(since_ms) {}

  void walk(const std::string& path, const std::vector<const Dialect*>& dialects, bool was_named) {
    walk(path, dialects, was_named, 0);
  }

  FoundSources finish() {
    auto& sources = found_.sources;
    const auto key = [](const ImportSource& source) {
      return std::tie(source.agent, source.path, source.part);
    };
    std::sort(sources.begin(), sources.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    sources.erase(std::unique(sources.begin(), sources.end(),
                              [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                  sources.end());
    return std::move(found_);
  }

 private:
  void walk(const std::string& path, const std::vector<const Dialect*>& dialects, bool was_named,
            int depth) {
    auto stat = files_.stat(path);
    // A link that was named is meant: its target is looked at.
    if (stat.ok() && stat->kind == HostKind::kLink && was_named) stat = files_.stat(path + "/.");
    if (!stat.ok()) {
      if (was_named || stat.error().code() != Code::kNotFound) complain(path, stat.error());
      return;
    }
    switch (stat->kind) {
      case HostKind::kDirectory:
        if (depth < kDepthMax) list(path, *stat, dialects, depth);
        break;
      case HostKind::kFile:
        offer(path, *stat, dialects, was_named);
        break;
      case HostKind::kLink:
        found_.problems.push_back({.path = path, .what = "symbolic link: not followed"});
        break;
      case HostKind::kOther:
        found_.problems.push_back({.path = path, .what = "no regular file"});
        break;
    }
  }

  void list(const std::string& path, const fs::HostStat& stat,
            const std::vector<const Dialect*>& dialects, int depth) {
    if (!entered_.insert({stat.device, stat.inode}).second) return;
    const auto names = files_.list(path);
    if (!names.ok()) return complain(path, names.error());
    for (const fs::HostName& name : *names) {
      walk(path + "/" + name.name, dialects, false, depth + 1);
    }
  }

  void offer(const std::string& path, const fs::HostStat& stat,
             const std::vector<const Dialect*>& dialects, bool was_named) {
    if (since_ms_ != 0 && changed(path, stat) < since_ms_) return;
    const auto dialect = whose(path, stat, dialects, was_named);
    if (!dialect.ok()) return complain(path, dialect.error());
    if (*dialect == nullptr) {
      if (was_named) found_.problems.push_back({.path = path, .what = "not recognised"});
      return;
    }
    auto sources = (*dialect)->sources(path, files_);
    if (!sources.ok()) return complain(path, sources.error());
    for (dialect::Source& source : *sources) add(std::move(source), stat, sources->size());
  }

  // Null: nobody's.
  Result<const Dialect*> whose(const std::string& path, const fs::HostStat& stat,
                               const std::vector<const Dialect*>& dialects, bool was_named) {
    for (const Dialect* dialect : dialects) {
      const KnownSource* known = known_.find(dialect->name(), path);
      if (known != nullptr && known->mark && known->mark->first == stat) return dialect;
    }
    TRY_ASSIGN(const std::string head, files_.read(path, kHeadBytes));
    // Who names a file and its agent is believed, unless it is plainly another's.
    if (was_named && dialects.size() == 1) {
      const Dialect* const named = dialects.front();
      const Dialect* const other = named->recognises(path, head) ? nullptr : owner(path, head);
      if (other == nullptr) return named;
      return Error(Code::kInvalidArgument, "no session of " + std::string(named->name()) +
                                               ", but one of " + std::string(other->name()));
    }
    for (const Dialect* dialect : dialects) {
      if (dialect->recognises(path, head)) return dialect;
    }
    return nullptr;
  }

  // Whose it is by its content. Null: nobody's, or of no agent in particular.
  static const Dialect* owner(const std::string& path, std::string_view head) {
    for (const Dialect* dialect : dialect::all_dialects()) {
      if (dialect->name() != "jsonl" && dialect->recognises(path, head)) return dialect;
    }
    return nullptr;
  }

  // What a database has not taken in yet lies beside it.
  std::int64_t changed(const std::string& path, const fs::HostStat& stat) {
    std::int64_t last = stat.modified_ns;
    if (const auto log = files_.stat(path + "-wal"); log.ok()) {
      last = std::max(last, log->modified_ns);
    }
    return last / kNsPerMs;
  }

  void add(dialect::Source source, const fs::HostStat& stat, std::size_t parts) {
    const std::int64_t modified_ms =
        source.modified_ms != 0 ? source.modified_ms : stat.modified_ns / kNsPerMs;
    if (modified_ms < since_ms_) return;
    const KnownSource* known = known_.find(source.agent, name_of(source));
    const bool is_marked = known != nullptr && known->mark;
    const bool is_current = is_marked && known->mark->is_same_state(look_at(source, stat, files_));
    found_.sources.push_back({.agent = std::move(source.agent),
                              .path = std::move(source.path),
                              .part = std::move(source.part),
                              .files = std::move(source.files),
                              .root = std::move(source.root),
                              .bytes = stat.size / parts,
                              .modified_ms = modified_ms,
                              .session_id = known != nullptr ? known->session_id : "",
                              .records = is_marked ? known->mark->records : 0,
                              .is_current = is_current,
                              .database = std::move(source.database),
                              .index = std::move(source.index),
                              .state = std::move(source.state)});
  }

  void complain(const std::string& path, const Error& error) {
    found_.problems.push_back({.path = path, .what = error.message()});
  }

  fs::HostFiles& files_;
  const KnownSources& known_;
  const std::int64_t since_ms_;
  FoundSources found_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> entered_;
};

Result<std::vector<const Dialect*>> wanted(const std::vector<std::string>& agents) {
  const auto all = dialect::all_dialects();
  if (agents.empty()) return std::vector<const Dialect*>(all.begin(), all.end());
  std::vector<const Dialect*> dialects;
  for (const std::string& agent : agents) {
    const Dialect* dialect = dialect::find_dialect(agent);
    if (dialect == nullptr) {
      std::string names;
      for (const Dialect* known : all)
        names += (names.empty() ? "" : ", ") + std::string(known->name());
      return Error(Code::kInvalidArgument, "no agent is called " + agent)
          .with_hint("known: " + names);
    }
    dialects.push_back(dialect);
  }
  return dialects;
}

}  // namespace

Result<std::vector<Place>> places_of(fs::HostFiles& files, const Variable& variable,
                                     const FindOptions& options) {
  TRY_ASSIGN(const auto dialects, wanted(options.agents));
  std::vector<Place> places;
  for (const std::string& path : options.paths) places.push_back({path, dialects});
  if (!places.empty()) return places;
  const dialect::Machine machine{.files = files, .home = variable("HOME"), .variable = variable};
  for (const Dialect* dialect : dialects) {
    for (const std::string& place : dialect->places(machine)) {
      if (files.exists(place)) places.push_back({place, {dialect}});
    }
  }
  return places;
}

FoundSources find_in(fs::HostFiles& files, const KnownSources& known,
                     const std::vector<Place>& places, std::int64_t since_ms) {
  Finder finder(files, known, since_ms);
  for (const Place& place : places) finder.walk(place.path, place.dialects, true);
  return finder.finish();
}

FoundSources find_changed(fs::HostFiles& files, const KnownSources& known,
                          const std::vector<Place>& places,
                          const std::vector<std::string>& changed) {
  Finder finder(files, known, 0);
  for (const std::string& path : changed) {
    for (const Place& place : places) {
      if (path == place.path) {
        finder.walk(path, place.dialects, true);
      } else if (path.starts_with(place.path + "/")) {
        finder.walk(path, place.dialects, false);
      }
    }
  }
  return finder.finish();
}

}  // namespace quipu::exchange
