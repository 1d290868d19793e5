#include "dialect/craft/craft.h"

#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/line_reader.h"
#include "dialect/side_files.h"
#include "dialect/unix_time.h"

namespace quipu::dialect::craft {
namespace {

constexpr std::string_view kFile = "/session.jsonl";
constexpr std::string_view kTemporary = "/session.jsonl.tmp";
constexpr std::string_view kSessionPath = "{{SESSION_PATH}}";
constexpr std::size_t kConfigBytes = std::size_t{1} << 20;

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_header(const Fields& fields) {
  return fields.find("workspaceRootPath") != nullptr && fields.find("type") == nullptr;
}

void describe(const Fields& fields, Record& record) {
  if (is_header(fields)) {
    // Every save has another one: an id that is the same would make a chain of them.
    record.kind = "header";
    record.is_fact = true;
    return;
  }
  record.kind = fields.text("type").empty() ? "unknown" : "message";
  record.is_fact = record.kind != "message";
  record.id = fields.text("id");
  if (const json::Member* time = fields.find("timestamp")) record.timestamp = time_of(time->value);
}

// Paths of the file as they are on the machine that has it.
class Paths {
 public:
  Paths(const std::string& file, const std::string& workspace) : directory_(parent_of(file)) {
    // `<workspace>/sessions/<id>`: what the header writes `~/…` ends in the same way.
    const std::string root = parent_of(parent_of(directory_));
    if (workspace.starts_with("~/") && root.ends_with(workspace.substr(1))) {
      home_ = root.substr(0, root.size() - workspace.size() + 1);
    }
  }

  /// Absolute; empty when that cannot be said.
  std::string real(const std::string& path) const {
    if (path.starts_with('/')) return path;
    if (path.starts_with(kSessionPath)) return directory_ + path.substr(kSessionPath.size());
    if (path.starts_with("~/") && !home_.empty()) return home_ + path.substr(1);
    return {};
  }

 private:
  std::string directory_;
  std::string home_;
};

Outline outline_of(const Fields& header, const std::string& path) {
  Outline outline;
  outline.session = header.text("id");
  if (const json::Member* created = header.find("createdAt")) {
    outline.created = time_of(created->value);
  }
  const Paths paths(path, header.text("workspaceRootPath"));
  for (const std::string_view key : {"workingDirectory", "workspaceRootPath"}) {
    if (outline.cwd.empty()) outline.cwd = paths.real(header.text(key));
  }
  return outline;
}

}  // namespace

// Workspaces lie together, but for those that the configuration says lie elsewhere.
std::vector<std::string> Craft::places(const Machine& machine) const {
  std::string own = machine.variable("CRAFT_CONFIG_DIR");
  if (own.empty()) own = machine.home + "/.craft-agent";
  const std::string together = own + "/workspaces";
  std::vector<std::string> places{together};
  const auto config = machine.files.read(own + "/config.json", kConfigBytes);
  if (!config.ok() && config.error().code() != Code::kNotFound) {
    places.push_back(own + "/config.json");
  }
  if (!config.ok() || !json::validate(*config).ok()) return places;
  json::ElementWalk walk(array_in(*config, "workspaces"));
  while (const auto workspace = walk.next()) {
    std::string root = text_in(workspace->value, "rootPath");
    if (root.starts_with("~/")) root = machine.home + root.substr(1);
    if (root.empty() || root.starts_with(together + "/")) continue;
    places.push_back(root + "/sessions");
  }
  return places;
}

// A workspace holds all kinds of files.
bool Craft::is_session_name(std::string_view path) const {
  return path.ends_with("/session.jsonl");
}

bool Craft::recognises(const std::string& path, std::string_view head) const {
  if (!path.ends_with(kFile) && !path.ends_with(kTemporary)) return false;
  while (true) {
    const std::string_view line = next_object(head);
    if (line.empty()) return false;
    if (!token_in(line, "id").empty() && json::find_member(line, "workspaceRootPath") &&
        !json::find_member(line, "type")) {
      return true;
    }
  }
}

Result<std::vector<Source>> Craft::sources(const std::string& path, fs::HostFiles& files) const {
  Source source{.agent = std::string(name()), .path = path, .part = {}, .files = {}};
  const std::string directory = parent_of(path);
  if (path.ends_with(kTemporary) && files.exists(directory + std::string(kFile))) {
    source.path = directory + std::string(kFile);
  }
  source.files.push_back(source.path);
  for (const char* part : {"attachments", "data", "downloads", "long_responses", "plans"}) {
    TRY(add_files_below(directory + "/" + part, files, source.files));
  }
  return std::vector<Source>{std::move(source)};
}

Result<std::unique_ptr<Reader>> Craft::open(const Source& source, fs::HostFiles& files,
                                            const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  Outline outline;
  LineWindow lines(std::move(file), from);
  TRY(lines.peek(kHeadBytesMax, [&](const Fields& fields) {
    if (is_header(fields)) outline = outline_of(fields, source.path);
    return outline.session.empty();
  }));
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, source.path + ": no session of craft-agents");
  }
  auto reader = std::make_unique<WholeLineReader>(std::move(lines), std::move(outline), describe);
  if (source.files.size() < 2) return std::unique_ptr<Reader>(std::move(reader));
  return std::unique_ptr<Reader>(std::make_unique<SideFiles>(std::move(reader), source, files));
}

bool Craft::leads(std::string_view) const { return true; }

}  // namespace quipu::dialect::craft
