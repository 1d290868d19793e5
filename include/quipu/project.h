// Projects: what keeps the sessions of one piece of work apart from others.
//
// A project has an id of its own and is never named by its path: directories
// move, and sessions must not be lost with them. Where it lies now (`root`) and
// where it lay before (`aliases`) only say which project a path belongs to. A
// session names its project in its header or, later, in a `session_info`; it can
// be given to another at any time.
//
// Projects are entries of type `project` in the store's own log
// `system/projects`; for each project the last one wins. That log is no session.
//
//   quipu::Projects projects(*store);
//   auto project = projects.ensure("/home/ada/engine/src");
//   store->sessions().create_session({.cwd = …, .project_id = project->id});
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

namespace fs {
class HostFiles;
}

struct Project {
  std::string id{};
  std::string name{};
  /// An absolute path, normalised by its text alone: no link is resolved.
  std::string root{};
  /// Earlier roots; paths below them are still the project's.
  std::vector<std::string> aliases{};
  /// What a repository is called wherever it lies: the URL of its `origin`,
  /// without user and password. Empty: none.
  std::string fingerprint{};

  bool operator==(const Project&) const = default;
};

/// The projects of a store. Every call reads the log of projects anew, and what
/// changes something is durable on return. Thread-safe, also between processes.
/// Paths must be absolute: `invalid_argument` otherwise.
class Projects {
 public:
  /// Keeps what it needs of the store. `files` is for tests: null means the
  /// machine's own.
  explicit Projects(const Store& store, fs::HostFiles* files = nullptr);

  /// The project whose root or alias contains the path; of several the deepest.
  /// When none does: the one with the fingerprint of the repository that the path
  /// is in, if all its own places are gone, so that it must have moved here.
  Result<std::optional<Project>> resolve(std::string_view path);

  /// The same, and when there is none a new one: its root is the nearest directory
  /// upwards with a `.git` (if that can be a root), else the path itself; its name the given one,
  /// else the last part of the root. A project that has moved here is relocated. A repository
  /// inside of another project's directory is a project of its own. `invalid_argument` for a root
  /// that work of all kinds lies below (`/`, the home directory, `/tmp`, `/var/tmp`, `$TMPDIR`):
  /// everything there would be one project.
  Result<Project> ensure(std::string_view path, std::string_view name = {});

  /// `not_found` when there is none of this id.
  Result<Project> get(std::string_view id);
  /// In the order they were made.
  Result<std::vector<Project>> list();

  Result<Project> rename(std::string_view id, std::string_view name);
  /// The old root becomes an alias. `id_conflict` when the new one belongs to
  /// another project, `invalid_argument` for one that `ensure` would refuse.
  Result<Project> relocate(std::string_view id, std::string_view new_root);

 private:
  struct Known;  // all projects, and the tail of the log they were read from
  using Decide = std::function<Result<Project>(const std::vector<Project>&)>;

  Result<Known> load();
  Result<Project> change(const Decide& decide);
  Result<void> check_root(const std::string& root);
  std::string repository_of(const std::string& path);
  std::string fingerprint_of(const std::string& root);
  std::optional<Project> moved_here(const std::vector<Project>& projects, const std::string& path);

  std::shared_ptr<Backend> backend_;
  fs::HostFiles& files_;
};

}  // namespace quipu
