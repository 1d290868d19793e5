#include "exchange/finder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/try.h"
#include "exchange/listed_files.h"

namespace quipu::exchange {
namespace {

using dialect::Dialect;
using fs::HostKind;

// Most files show whose they are by the first or second of these. More is read of one that
// does not, and all that may be while its first line does not end.
constexpr std::size_t kFirstBytes = std::size_t{4} << 10;
constexpr std::size_t kHeadBytes = std::size_t{16} << 10;
constexpr std::size_t kMoreBytes = std::size_t{1} << 20;
constexpr int kDepthMax = 16;
// Takes what nobody else does.
constexpr std::string_view kLeast = "jsonl";
constexpr std::int64_t kNsPerMs = 1'000'000;

class Finder {
 public:
  Finder(fs::HostFiles& files, const KnownSources& known, std::int64_t since_ms)
      : files_(files), beside_(files), known_(known), since_ms_(since_ms) {}

  void walk(const std::string& path, const Place& place, bool was_named) {
    walk(path, place, was_named, 0);
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
  void walk(const std::string& path, const Place& place, bool was_named, int depth) {
    auto stat = files_.stat(path);
    // A link that was named is meant: the directory that it names is looked at. A file is
    // opened by its own name only, also the next time, when nobody names it.
    if (stat.ok() && stat->kind == HostKind::kLink && was_named) {
      auto target = files_.stat(path + "/.");
      if (target.ok() || !files_.exists(path)) stat = std::move(target);
    }
    if (!stat.ok()) {
      if (was_named || stat.error().code() != Code::kNotFound) complain(path, stat.error());
      return;
    }
    switch (stat->kind) {
      case HostKind::kDirectory:
        if (depth < kDepthMax) list(path, *stat, place, depth);
        break;
      case HostKind::kFile:
        offer(path, *stat, nullptr, place, was_named);
        break;
      case HostKind::kLink:
        found_.problems.push_back({.path = path, .what = "symbolic link: not followed"});
        break;
      case HostKind::kOther:
        found_.problems.push_back({.path = path, .what = "no regular file"});
        break;
    }
  }

  void list(const std::string& path, const fs::HostStat& stat, const Place& place, int depth) {
    if (!entered_.insert({stat.device, stat.inode}).second) return;
    const auto names = files_.list(path);
    if (!names.ok()) return complain(path, names.error());
    for (const fs::HostName& name : *names) {
      const std::string below = path + "/" + name.name;
      // A file is opened to see whose it is. Of one that is known, or may be too old, a look
      // may be enough.
      if (name.kind == HostKind::kFile && since_ms_ == 0 && !is_known(below, place)) {
        beside_.listed(path, *names);
        open(below, place);
      } else {
        walk(below, place, false, depth + 1);
      }
    }
  }

  void open(const std::string& path, const Place& place) {
    const auto file = files_.open(path);
    if (file.ok()) return offer(path, (*file)->stat(), file->get(), place, false);
    if (file.error().code() != Code::kNotFound) complain(path, file.error());
  }

  bool is_known(const std::string& path, const Place& place) const {
    return std::any_of(place.dialects.begin(), place.dialects.end(), [&](const Dialect* dialect) {
      return known_.find(dialect->name(), path) != nullptr;
    });
  }

  // `file`: null when it is not open yet.
  void offer(const std::string& path, const fs::HostStat& stat, fs::HostFile* file,
             const Place& place, bool was_named) {
    if (since_ms_ != 0 && changed(path, stat) < since_ms_) return;
    const auto dialect = whose(path, stat, file, place.dialects, was_named);
    if (!dialect.ok()) return complain(path, dialect.error());
    if (*dialect == nullptr) {
      if (was_named || is_missed(path, stat, place)) {
        found_.problems.push_back({.path = path, .what = "not recognised"});
      }
      return;
    }
    auto sources = (*dialect)->sources(path, file == nullptr ? files_ : beside_);
    if (!sources.ok()) return complain(path, sources.error());
    for (dialect::Source& source : *sources) {
      if (source.path == path) {
        add(std::move(source), stat, sources->size());
      } else if (const auto own = files_.stat(source.path); own.ok()) {
        // An agent may have written a session's file under another name, or moved to one.
        add(std::move(source), *own, sources->size());
      } else {
        complain(source.path, own.error());
      }
    }
  }

  // Null: nobody's.
  Result<const Dialect*> whose(const std::string& path, const fs::HostStat& stat,
                               fs::HostFile* file, const std::vector<const Dialect*>& dialects,
                               bool was_named) {
    for (const Dialect* dialect : dialects) {
      const KnownSource* known = known_.find(dialect->name(), path);
      if (known != nullptr && known->mark && known->mark->first == stat) return dialect;
    }
    std::unique_ptr<fs::HostFile> opened;
    if (file == nullptr) {
      TRY_ASSIGN(opened, files_.open(path));
      file = opened.get();
    }
    TRY_ASSIGN(const Dialect* const dialect, recognised(path, *file, dialects));
    if (dialect != nullptr || !was_named || dialects.size() != 1) return dialect;
    // Who names a file and its agent is believed, unless it is plainly another's.
    const Dialect* const named = dialects.front();
    TRY_ASSIGN(const Dialect* const other, recognised(path, *file, dialect::all_dialects()));
    if (other == nullptr || other->name() == kLeast) return named;
    return Error(Code::kInvalidArgument, "no session of " + std::string(named->name()) +
                                             ", but one of " + std::string(other->name()));
  }

  // Whose it is by its content. Null: nobody's.
  Result<const Dialect*> recognised(const std::string& path, fs::HostFile& file,
                                    std::span<const Dialect* const> dialects) {
    const std::uint64_t all = file.stat().size;
    // What is no text shows at once what it is.
    const bool is_text = path.find(".json", path.rfind('/') + 1) != std::string::npos;
    for (const std::size_t bytes : {kFirstBytes, kHeadBytes, kMoreBytes, dialect::kHeadBytesMax}) {
      head_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, all)));
      TRY_ASSIGN(const std::size_t got, file.read_at(std::span(head_), 0));
      std::string_view head = std::string_view(head_).substr(0, got);
      // A line that is cut may look like another one's.
      const bool is_cut = is_text && bytes == kFirstBytes && got < all;
      if (is_cut) head = head.substr(0, head.rfind('\n') + 1);
      if (is_cut && head.empty()) continue;
      for (const Dialect* dialect : dialects) {
        const bool waits = is_cut && dialect->name() == kLeast;
        if (!waits && dialect->recognises(path, head)) return dialect;
      }
      if (all <= bytes || (!is_text && bytes == kHeadBytes)) break;
      if (bytes == kMoreBytes && head.find('\n') != std::string_view::npos) break;
    }
    return nullptr;
  }

  // Whether a session should be in a file that nobody recognises.
  static bool is_missed(const std::string& path, const fs::HostStat& stat, const Place& place) {
    return place.is_own && stat.size != 0 &&
           std::any_of(place.dialects.begin(), place.dialects.end(),
                       [&](const Dialect* dialect) { return dialect->is_session_name(path); });
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
                              .state = std::move(source.state),
                              .seen = {.device = stat.device,
                                       .inode = stat.inode,
                                       .size = stat.size,
                                       .modified_ns = stat.modified_ns}});
  }

  void complain(const std::string& path, const Error& error) {
    found_.problems.push_back({.path = path, .what = error.message()});
  }

  fs::HostFiles& files_;
  ListedFiles beside_;
  const KnownSources& known_;
  const std::int64_t since_ms_;
  FoundSources found_;
  std::string head_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> entered_;
};

// What may not be looked at is there, too: the walk says why.
bool is_there(fs::HostFiles& files, const std::string& place) {
  if (files.exists(place)) return true;
  auto stat = files.stat(place);
  if (stat.ok() && stat->kind == HostKind::kLink) stat = files.stat(place + "/.");
  return stat.ok() || stat.error().code() != Code::kNotFound;
}

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

std::string whole_path(const std::string& path) {
  std::error_code none;  // the current directory may be gone
  const auto absolute = std::filesystem::absolute(path, none);
  if (none) return path;
  std::string whole = absolute.lexically_normal().string();
  if (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

Result<std::vector<Place>> places_of(fs::HostFiles& files, const Variable& variable,
                                     const FindOptions& options) {
  TRY_ASSIGN(const auto dialects, wanted(options.agents));
  std::vector<Place> places;
  for (const std::string& path : options.paths) places.push_back({whole_path(path), dialects});
  if (!places.empty()) return places;
  const dialect::Machine machine{.files = files, .home = variable("HOME"), .variable = variable};
  for (const Dialect* dialect : dialects) {
    for (const std::string& place : dialect->places(machine)) {
      if (is_there(files, place)) places.push_back({place, {dialect}, /*is_own=*/true});
    }
  }
  return places;
}

FoundSources find_in(fs::HostFiles& files, const KnownSources& known,
                     const std::vector<Place>& places, std::int64_t since_ms) {
  Finder finder(files, known, since_ms);
  for (const Place& place : places) finder.walk(place.path, place, true);
  return finder.finish();
}

FoundSources find_changed(fs::HostFiles& files, const KnownSources& known,
                          const std::vector<Place>& places,
                          const std::vector<std::string>& changed) {
  Finder finder(files, known, 0);
  for (const std::string& path : changed) {
    for (const Place& place : places) {
      if (path == place.path) {
        finder.walk(path, place, true);
      } else if (path.starts_with(place.path + "/")) {
        finder.walk(path, place, false);
      }
    }
  }
  return finder.finish();
}

}  // namespace quipu::exchange
