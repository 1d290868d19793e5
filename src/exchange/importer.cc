#include "quipu/import.h"

#include "base/try.h"
#include "exchange/agent_place.h"
#include "exchange/finder.h"
#include "exchange/import_run.h"
#include "exchange/known_sources.h"
#include "exchange/watcher.h"
#include "fs/host_files.h"
#include "store/guarded.h"

namespace quipu {
namespace {

ImportReport unchanged(const ImportSource& source) {
  ImportReport report;
  report.source = exchange::name_of(source);
  report.agent = source.agent;
  report.session_id = source.session_id;
  report.total = source.records;
  return report;
}

}  // namespace

std::vector<std::string> known_agents() {
  std::vector<std::string> names;
  for (const dialect::Dialect* dialect : dialect::all_dialects()) {
    names.emplace_back(dialect->name());
  }
  return names;
}

Importer::Importer(Store& store, fs::HostFiles* files,
                   const std::map<std::string, std::string>* variables)
    : store_(store),
      files_(files != nullptr ? *files : fs::HostFiles::system()),
      variable_(exchange::variables(variables)) {}

Result<FoundSources> Importer::find(const FindOptions& options) {
  return guarded([&]() -> Result<FoundSources> {
    TRY_ASSIGN(const auto places, exchange::places_of(files_, variable_, options));
    TRY_ASSIGN(const auto known, exchange::KnownSources::of(store_));
    return exchange::find_in(files_, known, places, options.since_ms);
  });
}

Result<void> Importer::run(const std::vector<ImportSource>& sources, const ImportOptions& options,
                           const std::function<bool(const ImportReport&)>& done) {
  return guarded([&]() -> Result<void> {
    std::vector<ImportSource> changed;
    for (const ImportSource& source : sources) {
      if (!source.is_current) {
        changed.push_back(source);
      } else if (!done(unchanged(source))) {
        return {};
      }
    }
    if (changed.empty()) return {};
    TRY_ASSIGN(const auto known, exchange::KnownSources::of(store_));
    exchange::ImportRun(store_, files_, known, options, changed, done).run();
    return {};
  });
}

Result<void> Importer::watch(const FindOptions& find, const ImportOptions& options,
                             const std::function<bool(const ImportReport&)>& done,
                             const std::function<bool()>& is_over) {
  return guarded([&] {
    return exchange::Watcher(store_, files_, variable_, find, options, done).run(is_over);
  });
}

}  // namespace quipu
