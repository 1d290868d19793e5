#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/import_json.h"
#include "quipu/export.h"

namespace quipu::cli {
namespace {

struct ExportArguments {
  std::string session;
  std::string to;
  std::string out = ".";
  bool report = false;
  bool normalise = false;
};

// Files below one directory, none of which was there before.
class NewFiles {
 public:
  explicit NewFiles(std::string directory) : directory_(std::move(directory)) {}

  Result<void> write(const std::string& path, std::string_view bytes) {
    auto& file = open_[path];
    if (file == nullptr) {
      if (!is_below(path)) return Error(Code::kCorrupt, "no name for a file: " + path);
      const std::filesystem::path full = std::filesystem::path(directory_) / path;
      std::error_code failed;
      std::filesystem::create_directories(full.parent_path(), failed);
      file.reset(std::fopen(full.c_str(), "wxb"));
      if (file == nullptr) {
        const bool exists = errno == EEXIST;
        return Error(exists ? Code::kIdConflict : Code::kIoError,
                     fmt::format("cannot write {}: {}", full.string(),
                                 exists ? "it is there already" : std::strerror(errno)))
            .with_hint("nothing is overwritten: name another directory with --out");
      }
      paths_.push_back(full.string());
    }
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
      return Error(Code::kIoError, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
    return {};
  }

  Result<void> close() {
    for (auto& [path, file] : open_) {
      if (std::fclose(file.release()) != 0) {
        return Error(Code::kIoError,
                     fmt::format("cannot write {}: {}", path, std::strerror(errno)));
      }
    }
    return {};
  }

  const std::vector<std::string>& paths() const { return paths_; }

 private:
  // Names come from what was imported: none may lead out of the directory.
  static bool is_below(const std::filesystem::path& path) {
    if (path.empty() || path.is_absolute()) return false;
    for (const auto& part : path) {
      if (part == "..") return false;
    }
    return true;
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string directory_;
  std::map<std::string, std::unique_ptr<std::FILE, Close>> open_;
  std::vector<std::string> paths_;
};

Result<int> run_export(Context& context, const ExportArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), arguments.session);
  if (!id) return std::move(id).error();
  NewFiles files(arguments.out);
  auto report = export_session(
      *store, *id, {.to = arguments.to, .head = {}, .normalise = arguments.normalise},
      [&](const std::string& path, std::string_view bytes) { return files.write(path, bytes); });
  if (!report) return std::move(report).error();
  if (auto closed = files.close(); !closed) return std::move(closed).error();
  if (context.json) {
    context.out.data_line(export_report_json(*report, files.paths()));
    return kExitOk;
  }
  for (const std::string& path : files.paths()) context.out.data_line(path);
  if (!report->lost.empty() && !arguments.report) {
    context.note(fmt::format("{} things could not be carried over: --report names them",
                             report->lost.size()));
  }
  if (arguments.report) {
    for (const ExportLoss& loss : report->lost) {
      context.note(fmt::format("{}: {}: {}", loss.entry_id, loss.what, loss.why));
    }
  }
  return kExitOk;
}

}  // namespace

void add_export(CommandLine& line) {
  line.add<ExportArguments>(
      "export", "write a session as files of an agent",
      [](Declare& declare, ExportArguments& arguments) {
        declare.session(arguments.session)
            .required_option("--to", "AGENT", arguments.to, "whose files: claude, codex, pi …")
            .option("--out", "DIR", arguments.out, "where to; default: here")
            .flag("--report", arguments.report, "say what could not be carried over")
            .flag("--normalise", arguments.normalise,
                  "to its own agent: write anew instead of giving the records back")
            .footer(
                "To the agent that it was imported from, every record comes back byte for byte.\n"
                "Nothing is overwritten. With --json: {session, to, files, lost}.");
      },
      run_export);
}

}  // namespace quipu::cli
