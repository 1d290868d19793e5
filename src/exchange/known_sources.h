// KnownSources: what was imported, by where it was read from. From the catalogue.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "exchange/import_mark.h"
#include "quipu/import.h"

namespace quipu::exchange {

struct KnownSource {
  std::string session_id;
  std::optional<ImportMark> mark;
};

class KnownSources {
 public:
  static Result<KnownSources> of(Store& store);
  /// Learns what has become of one session.
  Result<void> look_at(Store& store, const std::string& session_id);
  /// Null: not imported from there. `name`: see `name_of`.
  const KnownSource* find(std::string_view agent, std::string_view name) const;
  /// Whether there was such a session, from wherever, when it was looked.
  bool has_session(const std::string& session_id) const { return sessions_.contains(session_id); }

 private:
  void add(const SessionSummary& session);

  std::unordered_map<std::string, KnownSource> known_;
  std::unordered_set<std::string> sessions_;
};

/// Its path, with `#part`.
std::string name_of(const ImportSource& source);
std::string name_of(const dialect::Source& source);
dialect::Source source_of(const ImportSource& source);
/// Its first file as it was when it was found, if somebody looked.
std::optional<fs::HostStat> seen_of(const ImportSource& source);

}  // namespace quipu::exchange
