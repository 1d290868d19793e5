// KnownSources: what was imported, by where it was read from. From the catalogue.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

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
  /// Null: not imported from there.
  const KnownSource* find(const ImportSource& source) const;

 private:
  std::unordered_map<std::string, KnownSource> known_;
};

/// Its path, with `#part`.
std::string name_of(const ImportSource& source);
dialect::Source source_of(const ImportSource& source);

}  // namespace quipu::exchange
