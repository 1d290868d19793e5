// Upgrades of a schema, step by step.
//
// A schema has a version; a version is made by statements. Where a database stands is in
// it: `quipu_schema` says the version and how many statements of the next one have been
// taken. Each statement and its count are one commit, so an upgrade that is interrupted
// anywhere goes on where it stopped, and nothing is done twice. Until it is whole nobody
// may write.
//
//   version = known, 0 taken      | current
//   version < known, 0 taken      | older: read only until it is upgraded
//   something taken               | half upgraded: read only until it is whole
//   version > known               | newer: read only for this program
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "sql/engine.h"

namespace quipu::sql {

struct Version {
  const char* what;  // for people
  std::span<const Text> statements;
};

struct SchemaState {
  std::int64_t version = 0;  // 0: there is none
  std::int64_t taken = 0;    // statements of the next one
};

/// Where the database stands. Nothing without a schema of ours.
Result<std::optional<SchemaState>> schema_state(Engine& engine);

/// Makes the newest schema where there is none, all or nothing, together with `more`.
/// `id_conflict` when somebody else was faster.
Result<void> make_schema(Engine& engine, std::span<const Version> versions,
                         std::span<const Command> more);

/// Why nobody may write; nothing when the schema is current.
std::optional<Error> not_writable(const SchemaState& state, std::span<const Version> versions);

/// Before each version that is begun (not when one is continued): the place for a backup.
using BeforeVersion = std::function<Result<void>(std::int64_t version)>;

/// Takes every statement that is missing. `unsupported` for a newer schema.
Result<void> upgrade(Engine& engine, std::span<const Version> versions,
                     const BeforeVersion& before);

}  // namespace quipu::sql
