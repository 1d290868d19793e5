// Import: the sessions of other agents, taken into a store.
//
// Every record of a source becomes an entry with the record's own bytes, also those
// that nobody understands and those that are damaged: `export_session` to the same agent gives
// the file back, byte for byte. Importing again adds what is new and nothing else. A
// source is only ever read.
//
//   quipu::Importer importer(*store);
//   auto found = importer.find({});             // everything on this machine
//   importer.run(found->sources, {}, [](const ImportReport& report) { … });
//
// Thread-safety: one thread at a time; the importer uses several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

namespace fs {
class HostFiles;
}
namespace dialect {
class Database;
}

/// One session of an agent as it lies on a machine.
struct ImportSource {
  std::string agent;               // "claude", "codex" …
  std::string path;                // a file; a database that holds several sessions
  std::string part;                // which of them; else empty
  std::vector<std::string> files;  // all it is read from; the first is `path`
  std::string root{};              // the directory that they are named from; empty: that of `path`
  std::uint64_t bytes = 0;         // of `path`; a part's: its share
  std::int64_t modified_ms = 0;
  /// The session it was imported to, if it was, and how many records it had then;
  /// `is_current`: it has not changed since, and `run` passes over it.
  std::string session_id;
  std::uint64_t records = 0;
  bool is_current = false;

  /// A database is imported as it was when it was found: the copy of it that all of its
  /// sessions share. `index`: the one of `files` that they share. `state`: what says
  /// whether this one's part of either has changed.
  std::shared_ptr<dialect::Database> database{};
  std::string index{};
  std::string state{};

  /// The file of `path` as it was when it was found. What comes to it later is new the next
  /// time, if it was not read already. `inode` 0: nobody has looked.
  struct Seen {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
  } seen{};
};

/// What could not be looked at, or not be read as it should be.
struct ImportProblem {
  std::string path;
  std::string what;
  std::uint64_t count = 1;
};

struct FoundSources {
  std::vector<ImportSource> sources;  // by agent, then path
  std::vector<ImportProblem> problems;
};

/// What became of a source.
struct ImportReport {
  std::string source;  // its path, with `#part`
  std::string agent;
  std::string session_id;
  bool was_read = false;    // else it has not changed since the last time
  std::uint64_t added = 0;  // records
  std::uint64_t total = 0;  // records of the source that are stored now
  /// What is not as it should be, each kind once: torn, not_json, lost …
  std::vector<ImportProblem> problems;
  /// Nothing was imported, and why.
  std::optional<Error> error;
};

/// The agents whose sessions can be read, as `ImportSource::agent` names them.
std::vector<std::string> known_agents();

struct FindOptions {
  /// Empty: all.
  std::vector<std::string> agents{};
  /// Files and directories; empty: where the agents keep them on this machine.
  std::vector<std::string> paths{};
  /// Changed at or after; 0: any time.
  std::int64_t since_ms = 0;
};

struct ImportOptions {
  /// Give the sessions to this project instead of the one of their directory.
  std::string project_id{};
  /// 0: one for each core.
  unsigned threads = 0;
  /// Leave a last line that is cut off for the next time: its agent is writing it.
  bool is_live = false;
};

class Importer {
 public:
  /// `files` and `variables` are for tests: null means the machine's own.
  explicit Importer(Store& store, fs::HostFiles* files = nullptr,
                    const std::map<std::string, std::string>* variables = nullptr);

  /// Reads directories and the beginnings of files. `invalid_argument` for an
  /// agent nobody knows; what cannot be looked at is a problem of the answer.
  Result<FoundSources> find(const FindOptions& options);

  /// Imports what has changed, several at a time, and calls `done` with each
  /// report from one thread at a time, in no order. Durable on return. Stops when
  /// `done` answers false.
  Result<void> run(const std::vector<ImportSource>& sources, const ImportOptions& options,
                   const std::function<bool(const ImportReport&)>& done);

  /// Imports what is there, and from then on what changes and what is new, within a
  /// second. `done` gets reports that say something new. Ends when `done` answers false
  /// or `is_over` answers true, which is asked several times a second; everything that
  /// was reported is durable.
  Result<void> watch(const FindOptions& find, const ImportOptions& options,
                     const std::function<bool(const ImportReport&)>& done,
                     const std::function<bool()>& is_over);

 private:
  Store& store_;
  fs::HostFiles& files_;
  std::function<std::string(const std::string&)> variable_;
};

}  // namespace quipu
