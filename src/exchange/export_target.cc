#include "exchange/export_target.h"

#include <algorithm>
#include <filesystem>

#include "base/try.h"
#include "exchange/agent_place.h"

namespace quipu::exchange {
namespace {

constexpr std::size_t kIndexBytesMax = std::size_t{64} << 20;

// Names come from what was imported: a relative one stays below what it is relative to.
bool is_below(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && !path.is_absolute() &&
         std::find(path.begin(), path.end(), "..") == path.end();
}

}  // namespace

ExportTarget::ExportTarget(const dialect::Dialect& dialect, const dialect::Machine& machine,
                           const ExportOptions& options, std::string cwd, const ExportSink& sink)
    : dialect_(dialect), machine_(machine), options_(options), cwd_(std::move(cwd)), sink_(sink) {}

Result<void> ExportTarget::write(const std::string& name, std::string_view bytes) {
  if (is_index(name)) {
    index_ = name;
    part_ += bytes;
    return {};
  }
  return pass(name, bytes);
}

Result<void> ExportTarget::finish(ExportReport& report) {
  if (!index_.empty()) {
    TRY_ASSIGN(const std::string path, path_of(index_));
    const bool is_placed = options_.install || !options_.directory.empty();
    if (!is_placed || !machine_.files.exists(path)) {
      TRY(pass(index_, part_));
    } else {
      TRY_ASSIGN(std::string there, machine_.files.read(path, kIndexBytesMax));
      auto joined = dialect_.join(there, part_);
      if (!joined.ok()) {
        return Error(joined.error().code(), path + ": " + joined.error().message())
            .with_hint("it is left as it is; write the session elsewhere with --out");
      }
      if (joined->text != there) {
        report.indexes.push_back({.path = path,
                                  .before = std::move(there),
                                  .after = std::move(joined->text),
                                  .lock = std::move(joined->lock)});
      }
    }
  }
  report.files = std::move(paths_);
  if (options_.install) report.taken_in_by = dialect_.takes_in_by();
  report.cwd = cwd_;
  return {};
}

Result<std::string> ExportTarget::path_of(const std::string& name) const {
  if (!is_below(name)) return Error(Code::kCorrupt, "no name for a file: " + name);
  if (options_.install && !dialect_.takes_in_by().empty()) return name;
  if (options_.install) return installed_path(dialect_, name, cwd_, machine_);
  return options_.directory.empty() ? name : options_.directory + "/" + name;
}

bool ExportTarget::is_index(const std::string& name) const {
  const std::string_view index = dialect_.index_name();
  return !index.empty() && std::string_view(name).substr(name.rfind('/') + 1) == index;
}

Result<void> ExportTarget::pass(const std::string& name, std::string_view bytes) {
  std::string& path = by_name_[name];
  if (path.empty()) {
    TRY_ASSIGN(path, path_of(name));
    paths_.push_back(path);
  }
  return sink_(path, bytes);
}

}  // namespace quipu::exchange
