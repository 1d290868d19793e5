#include "quipu/project.h"

#include <algorithm>
#include <filesystem>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "base/uuid.h"
#include "fs/host_files.h"
#include "store/guarded.h"
#include "store/header_entry.h"

namespace quipu {
namespace {

const std::string kLog = std::string(kSystemPrefix) + "projects";
constexpr int kTries = 100;
constexpr std::size_t kGitFileBytesMax = std::size_t{1} << 20;

Result<std::string> normalised(std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) {
    return Error(Code::kInvalidArgument, "not an absolute path: " + std::string(path));
  }
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

bool contains(const std::string& root, const std::string& path) {
  if (root.empty()) return false;
  return path == root || root == "/" ||
         (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/');
}

std::string last_part(const std::string& root) {
  std::string name = std::filesystem::path(root).filename().string();
  return name.empty() ? root : name;
}

Project read_project(std::string_view payload) {
  Project project;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "aliases" && member->kind == json::Kind::kArray) {
      json::ElementWalk aliases(member->value);
      while (const auto alias = aliases.next()) {
        if (alias->kind == json::Kind::kString) {
          project.aliases.push_back(json::decode_string(alias->value));
        }
      }
    }
    if (member->kind != json::Kind::kString) continue;
    if (member->key == "projectId") project.id = json::decode_string(member->value);
    if (member->key == "name") project.name = json::decode_string(member->value);
    if (member->key == "root") project.root = json::decode_string(member->value);
    if (member->key == "fingerprint") project.fingerprint = json::decode_string(member->value);
  }
  return project;
}

std::string project_payload(const Project& project) {
  std::string payload;
  json::Writer out(payload);
  out.begin_object()
      .member("projectId", project.id)
      .text_member("name", project.name)
      .text_member("root", project.root)
      .key("aliases")
      .begin_array();
  for (const std::string& alias : project.aliases) out.value(alias);
  out.end_array().text_member("fingerprint", project.fingerprint).end_object();
  return payload;
}

// The deepest root or alias that contains the path decides.
const Project* deepest(const std::vector<Project>& projects, const std::string& path,
                       std::string* place = nullptr) {
  const Project* found = nullptr;
  std::size_t depth = 0;
  const auto look = [&](const Project& project, const std::string& root) {
    if (!contains(root, path) || (found != nullptr && root.size() <= depth)) return;
    found = &project;
    depth = root.size();
    if (place != nullptr) *place = root;
  };
  for (const Project& project : projects) {
    look(project, project.root);
    for (const std::string& alias : project.aliases) look(project, alias);
  }
  return found;
}

Result<Project> project_of_id(const std::vector<Project>& projects, std::string_view id) {
  for (const Project& project : projects) {
    if (project.id == id) return project;
  }
  return Error(Code::kNotFound, "there is no project " + std::string(id))
      .with_hint("`quipu project list` shows them.");
}

Project moved_to(Project project, const std::string& root) {
  if (project.root == root) return project;
  std::erase(project.aliases, root);
  if (!project.root.empty()) project.aliases.push_back(project.root);
  project.root = root;
  return project;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// Whoever clones with a token in the URL has not asked for it to be kept here.
std::string without_secrets(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string plain(url);
  if (scheme != std::string_view::npos) {
    const std::size_t host = scheme + 3;
    const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
    if (at != std::string_view::npos && at >= host) plain.erase(host, at + 1 - host);
  }
  while (plain.ends_with('/')) plain.pop_back();
  if (plain.ends_with(".git")) plain.resize(plain.size() - 4);
  return plain;
}

std::string origin_url(std::string_view config) {
  bool in_origin = false;
  while (!config.empty()) {
    const std::size_t feed = std::min(config.find('\n'), config.size());
    const std::string_view line = trimmed(config.substr(0, feed));
    config.remove_prefix(std::min(feed + 1, config.size()));
    if (line.starts_with('[')) in_origin = line.starts_with("[remote \"origin\"]");
    if (!in_origin || !line.starts_with("url")) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trimmed(line.substr(0, equals)) != "url") continue;
    return without_secrets(trimmed(line.substr(equals + 1)));
  }
  return {};
}

}  // namespace

struct Projects::Known {
  std::vector<Project> projects;
  std::string tail;  // empty: there is no log yet
};

Projects::Projects(const Store& store, fs::HostFiles* files)
    : backend_(store.backend()), files_(files != nullptr ? *files : fs::HostFiles::system()) {}

Result<Projects::Known> Projects::load() {
  Known known;
  auto lineage = backend_->lineage(kLog);
  if (!lineage.ok() && lineage.error().code() == Code::kNotFound) return known;
  if (!lineage.ok()) return std::move(lineage).error();
  EntryReader reader(std::move(lineage).value(), {});
  for (;;) {
    TRY_ASSIGN(const auto entry, reader.next());
    if (!entry) return known;
    known.tail = entry->id;
    if (entry->type != "project") continue;
    Project project = read_project(entry->payload);
    if (project.id.empty()) continue;
    const auto older = std::find_if(known.projects.begin(), known.projects.end(),
                                    [&](const Project& one) { return one.id == project.id; });
    if (older != known.projects.end()) {
      *older = std::move(project);
    } else {
      known.projects.push_back(std::move(project));
    }
  }
}

// Decides on what the log says and appends only if it still says so.
Result<Project> Projects::change(const Decide& decide) {
  for (int i = 0; i < kTries; ++i) {
    TRY_ASSIGN(const Known known, load());
    TRY_ASSIGN(const Project wanted, decide(known.projects));
    const auto same = std::find(known.projects.begin(), known.projects.end(), wanted);
    if (same != known.projects.end()) return wanted;
    if (known.tail.empty()) {
      SessionHeader header;
      header.version = kSchemaVersion;
      header.session_id = kLog;
      const std::string first = header_entry(header, backend_->filler());
      auto made = backend_->create(kLog, {&first, 1});
      if (!made.ok() && made.error().code() != Code::kIdConflict) return std::move(made).error();
      continue;
    }
    NewEntry entry;
    entry.type = "project";
    entry.payload = project_payload(wanted);
    AppendOptions options;
    options.expected_tail = known.tail;
    TRY_ASSIGN(const Batch batch, admit_entries({&entry, 1}, backend_->filler()));
    auto stored = backend_->append(kLog, batch, options);
    if (stored.ok()) return wanted;
    if (stored.error().code() != Code::kTailMoved) return std::move(stored).error();
  }
  return Error(Code::kBusy, "others change the projects all the time");
}

// A repository of everything (a home directory under version control) makes
// nothing below it one piece of work.
std::string Projects::repository_of(const std::string& path) {
  for (std::string at = path; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    if (files_.exists(at + "/.git")) return check_root(at).ok() ? at : std::string();
  }
  return {};
}

// A worktree or submodule has a file `.git` that says where the rest is.
std::string Projects::fingerprint_of(const std::string& root) {
  std::string directory = root + "/.git";
  if (const auto link = files_.read(directory, kGitFileBytesMax); link.ok()) {
    std::string_view text = *link;
    text = trimmed(text.substr(0, text.find('\n')));
    if (!text.starts_with("gitdir:")) return {};
    const std::filesystem::path target(trimmed(text.substr(7)));
    directory = (root / target).lexically_normal().string();
    if (const auto common = files_.read(directory + "/commondir", kGitFileBytesMax); common.ok()) {
      const std::string_view where =
          trimmed(std::string_view(*common).substr(0, common->find('\n')));
      directory = (std::filesystem::path(directory) / where).lexically_normal().string();
    }
  }
  const std::string file = (std::filesystem::path(directory) / "config").string();
  const auto config = files_.read(file, kGitFileBytesMax);
  return config.ok() ? origin_url(*config) : std::string();
}

std::optional<Project> Projects::moved_here(const std::vector<Project>& projects,
                                            const std::string& path) {
  const std::string repository = repository_of(path);
  const std::string fingerprint = repository.empty() ? "" : fingerprint_of(repository);
  if (fingerprint.empty()) return std::nullopt;
  for (const Project& project : projects) {
    if (project.fingerprint != fingerprint || files_.exists(project.root)) continue;
    const bool elsewhere =
        std::any_of(project.aliases.begin(), project.aliases.end(),
                    [&](const std::string& alias) { return files_.exists(alias); });
    if (!elsewhere) return project;
  }
  return std::nullopt;
}

Result<std::optional<Project>> Projects::resolve(std::string_view path) {
  return guarded([&]() -> Result<std::optional<Project>> {
    TRY_ASSIGN(const std::string place, normalised(path));
    TRY_ASSIGN(const Known known, load());
    if (const Project* found = deepest(known.projects, place)) return std::optional(*found);
    return moved_here(known.projects, place);
  });
}

// A project owns all that lies below its root.
Result<void> Projects::check_root(const std::string& root) {
  for (const std::string& shared : files_.shared_places()) {
    TRY_ASSIGN(const std::string place, normalised(shared));
    if (root != place) continue;
    return Error(Code::kInvalidArgument, root + " holds work of all kinds, so it is no project")
        .with_hint("name a directory in it");
  }
  return {};
}

Result<Project> Projects::ensure(std::string_view path, std::string_view name) {
  return guarded([&]() -> Result<Project> {
    TRY_ASSIGN(const std::string place, normalised(path));
    const std::string repository = repository_of(place);
    // Made once: a repeated attempt is about the same project.
    const Filler filler = backend_->filler();
    const std::string id = uuid_v7(filler.clock.unix_ms(), filler.random);
    return change([&](const std::vector<Project>& projects) -> Result<Project> {
      std::string there;
      const Project* found = deepest(projects, place, &there);
      const bool inner = !repository.empty() && repository != there && contains(there, repository);
      if (found != nullptr && !inner) return *found;
      if (auto moved = moved_here(projects, place)) return moved_to(*std::move(moved), repository);
      Project made;
      made.id = id;
      made.root = repository.empty() ? place : repository;
      TRY(check_root(made.root));
      made.name = name.empty() ? last_part(made.root) : std::string(name);
      if (!repository.empty()) made.fingerprint = fingerprint_of(repository);
      return made;
    });
  });
}

Result<Project> Projects::get(std::string_view id) {
  return guarded([&]() -> Result<Project> {
    TRY_ASSIGN(const Known known, load());
    return project_of_id(known.projects, id);
  });
}

Result<std::vector<Project>> Projects::list() {
  return guarded([&]() -> Result<std::vector<Project>> {
    TRY_ASSIGN(Known known, load());
    return std::move(known.projects);
  });
}

Result<Project> Projects::rename(std::string_view id, std::string_view name) {
  return guarded([&]() -> Result<Project> {
    return change([&](const std::vector<Project>& projects) -> Result<Project> {
      TRY_ASSIGN(Project project, project_of_id(projects, id));
      project.name = name;
      return project;
    });
  });
}

Result<Project> Projects::relocate(std::string_view id, std::string_view new_root) {
  return guarded([&]() -> Result<Project> {
    TRY_ASSIGN(const std::string root, normalised(new_root));
    TRY(check_root(root));
    return change([&](const std::vector<Project>& projects) -> Result<Project> {
      TRY_ASSIGN(Project project, project_of_id(projects, id));
      for (const Project& other : projects) {
        const auto& aliases = other.aliases;
        const bool taken =
            other.root == root || std::find(aliases.begin(), aliases.end(), root) != aliases.end();
        if (other.id == project.id || !taken) continue;
        return Error(Code::kIdConflict, root + " belongs to project " + other.id)
            .with_hint("move that project elsewhere first, or give the sessions to it");
      }
      return moved_to(std::move(project), root);
    });
  });
}

}  // namespace quipu
