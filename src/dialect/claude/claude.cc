#include "dialect/claude/claude.h"

#include <algorithm>

#include "base/try.h"
#include "dialect/claude/conversation.h"
#include "dialect/claude/describe.h"
#include "dialect/claude/lift.h"
#include "dialect/claude/notes.h"
#include "dialect/claude/write.h"
#include "dialect/json_members.h"
#include "dialect/side_files.h"

namespace quipu::dialect::claude {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;
constexpr int kSideDepthMax = 8;
constexpr std::string_view kLines = ".jsonl";
constexpr std::string_view kMeta = ".meta.json";
constexpr std::string_view kAgent = "agent-";
constexpr std::string_view kSubagents = "/subagents/";

// The file's name without `.jsonl`.
std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  if (path.ends_with(kLines)) path.remove_suffix(kLines.size());
  return path;
}

// `<session>` of `…/<session>/subagents/…`; empty when the path is none.
std::string_view owner_of(std::string_view path) {
  const std::size_t at = path.rfind(kSubagents);
  if (at == std::string_view::npos) return {};
  path = path.substr(0, at);
  path.remove_prefix(path.rfind('/') + 1);
  return is_uuid(path) ? path : std::string_view();
}

// Whether a line, maybe cut off behind, is one of ours.
bool is_line(std::string_view line) {
  bool has_type = false;
  bool has_uuid = false;
  bool has_parent = false;
  bool has_session = false;
  bool is_ours = false;
  json::MemberWalk walk(line);
  while (const auto member = walk.next()) {
    if (member->key == "type" && member->kind == json::Kind::kString) {
      has_type = true;
      is_ours = is_metadata(json::decode_string(member->value));
    }
    if (member->key == "uuid") has_uuid = member->kind == json::Kind::kString;
    if (member->key == "parentUuid") has_parent = true;
    if (member->key == "sessionId" || member->key == "leafUuid" || member->key == "messageId") {
      has_session = member->kind == json::Kind::kString;
    }
  }
  // A long line is cut off within its message, before type and uuid.
  const bool is_node =
      has_parent && (has_session || (has_type && has_uuid) || line.starts_with("{\"parentUuid\":"));
  return is_node || (is_ours && has_session) || (has_type && has_uuid && has_session);
}

// What a side file is called as a record: those that say something have their own name.
std::string side_kind(std::string_view name) {
  if (name.ends_with("/custom-title.json")) return "title-file";
  if (name.ends_with("/archived.json")) return "archive-file";
  if (name.starts_with(kAgent) && name.ends_with(kMeta)) return "agent-file";
  return "file";
}

// All of a side directory but what belongs to a sub-agent's own source.
Result<void> add_side_files(const std::string& directory, fs::HostFiles& files, int depth,
                            std::vector<std::string>& found) {
  TRY_ASSIGN(const auto names, files.list(directory));
  for (const fs::HostName& name : names) {
    const std::string path = directory + "/" + name.name;
    if (name.kind == fs::HostKind::kDirectory && depth < kSideDepthMax) {
      TRY(add_side_files(path, files, depth + 1, found));
    }
    if (name.kind != fs::HostKind::kFile) continue;
    if (path.find(kSubagents) != std::string::npos && name.name.starts_with(kAgent)) {
      if (name.name.ends_with(kLines)) continue;
      const bool is_meta = name.name.ends_with(kMeta);
      const std::string lines = path.substr(0, path.size() - kMeta.size()) + std::string(kLines);
      if (is_meta && files.exists(lines)) continue;
    }
    found.push_back(path);
  }
  return {};
}

// Whose file it is, by its name and its first lines.
struct Identity {
  Outline outline;
  std::string named;  // the session that the file's name says; else empty
  bool is_agent = false;
};

Result<Identity> identify(const std::string& path, LineWindow& lines) {
  Identity who;
  std::string session;
  std::string agent;
  bool is_aside = false;
  bool has_node = false;
  TRY(lines.peek(kHeadBytes, [&](const Fields& fields) {
    if (session.empty()) session = fields.text("sessionId");
    if (who.outline.cwd.empty()) who.outline.cwd = fields.text("cwd");
    if (who.outline.created.empty()) who.outline.created = fields.text("timestamp");
    if (!has_node && fields.find("parentUuid") != nullptr) {
      has_node = true;
      is_aside = fields.is_true("isSidechain");
      agent = fields.text("agentId");
    }
    return !has_node || session.empty() || who.outline.cwd.empty() || who.outline.created.empty();
  }));
  const std::string_view stem = stem_of(path);
  if (is_uuid(stem)) {
    who.named = stem;
    who.outline.session = stem;
    return who;
  }
  const std::string_view owner = owner_of(path);
  if (stem.starts_with(kAgent)) {
    who.is_agent = true;
    agent = stem.substr(kAgent.size());
  } else {
    who.is_agent = is_aside && !agent.empty();
  }
  if (!owner.empty()) session = owner;
  if (session.empty()) session = stem;
  who.outline.session = who.is_agent ? session + "." + agent : session;
  return who;
}

}  // namespace

std::vector<std::string> Claude::places(const Machine& machine) const {
  const std::string own = machine.variable("CLAUDE_CONFIG_DIR");
  if (!own.empty()) return {own + "/projects"};
  return {machine.home + "/.claude/projects", machine.home + "/.config/claude/projects"};
}

bool Claude::is_session_name(std::string_view path) const {
  if (!path.ends_with(".jsonl")) return false;
  if (path.substr(path.rfind('/') + 1).starts_with("agent-")) return true;
  // projects/<slug>/<session>.jsonl. What lies deeper belongs to a session.
  constexpr std::string_view kProjects = "/projects/";
  const std::size_t at = path.rfind(kProjects);
  const std::string_view inside = path.substr(at == path.npos ? 0 : at + kProjects.size());
  return std::count(inside.begin(), inside.end(), '/') < 2;
}

bool Claude::recognises(const std::string& path, std::string_view head) const {
  if (!path.ends_with(kLines) || path.find("/tool-results/") != std::string::npos) return false;
  if (path.find(kSubagents) != std::string::npos && !stem_of(path).starts_with(kAgent)) {
    return false;
  }
  while (!head.empty()) {
    if (is_line(next_line(head))) return true;
  }
  return false;
}

Result<std::vector<Source>> Claude::sources(const std::string& path, fs::HostFiles& files) const {
  Source source{.agent = std::string(name()), .path = path, .part = {}, .files = {path}};
  const std::string base = path.substr(0, path.size() - kLines.size());
  if (stem_of(path).starts_with(kAgent)) {
    if (files.exists(base + std::string(kMeta))) source.files.push_back(base + std::string(kMeta));
  } else if (is_uuid(stem_of(path)) && files.exists(base)) {
    TRY(add_side_files(base, files, 0, source.files));
  }
  return std::vector<Source>{std::move(source)};
}

Result<std::unique_ptr<Reader>> Claude::open(const Source& source, fs::HostFiles& files,
                                             const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  LineWindow lines(std::move(file), from);
  TRY_ASSIGN(Identity who, identify(source.path, lines));
  auto reader = std::make_unique<LineReader>(std::move(lines), std::move(who.outline),
                                             Describer(std::move(who.named), who.is_agent));
  if (source.files.size() < 2) return std::unique_ptr<Reader>(std::move(reader));
  return std::unique_ptr<Reader>(
      std::make_unique<SideFiles>(std::move(reader), source, files, side_kind));
}

bool Claude::leads(std::string_view kind) const { return speaks(kind); }

void Claude::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  lift_line(kind, payload, into);
}

void Claude::note(std::string_view kind, std::string_view payload, Note& into) const {
  note_line(kind, payload, into);
}

std::vector<Pick> Claude::conversation(std::span<const StoredRecord> records,
                                       std::uint32_t at) const {
  return picks_of(records, at);
}

bool Claude::goes_on_from(std::string_view record) const {
  return !text_in(record, "uuid").empty() && token_in(record, "agentId").empty();
}

Result<Written> Claude::write(const Transcript& transcript) const {
  return write_files(transcript);
}

}  // namespace quipu::dialect::claude
