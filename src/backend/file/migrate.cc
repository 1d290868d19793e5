// Migration: a version-0 file (plain lines of other programs) becomes a sealed
// log, as a new generation beside the old one.
//
// Order of the steps, so that every moment leaves one whole file under the name:
// write and sync the new file, read it back, keep the old one in trash (a second
// name, synced), then one rename, then sync the directory.
#include <charconv>

#include "backend/file/file_backend.h"
#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "log/quarantine.h"
#include "log/recover.h"
#include "log/seal.h"

namespace quipu::file {
namespace {

// The old payload with version and session id set; every other member stays as
// it was written.
std::string upgraded_payload(std::string_view old, const std::string& session_id) {
  std::string payload = "{\"version\":" + std::to_string(kSchemaVersion) +
                        ",\"sessionId\":" + json::quoted(session_id);
  json::MemberWalk walk(old);
  while (const auto member = walk.next()) {
    if (json::key_equals(member->key, "version") || json::key_equals(member->key, "sessionId")) {
      continue;
    }
    payload += ",\"";
    payload += member->key;
    payload += "\":";
    payload += member->value;
  }
  payload += '}';
  return payload;
}

std::string header_entry(const EntryText* old, const std::string& session_id,
                         std::string_view first_timestamp, Filler filler) {
  const std::int64_t now = filler.clock.unix_ms();
  const std::string id = old ? old->id : uuid_v7(now, filler.random);
  const std::string_view given = old ? old->envelope.timestamp.view() : first_timestamp;
  const std::string timestamp = given.empty() ? format_timestamp(now) : std::string(given);
  const std::string payload =
      upgraded_payload(old ? old->envelope.payload : "{\"dialect\":\"jsonl\"}", session_id);
  std::string json;
  append_entry_json(json, {.id = id,
                           .parent = std::nullopt,
                           .type = "session_header",
                           .timestamp = timestamp,
                           .run_id = {},
                           .payload = payload,
                           .meta = old ? old->envelope.meta : std::string_view()});
  return json;
}

struct Upgraded {
  std::string session_id;  // what the header says, and the chain begins with
  std::vector<std::string> entries;
};

// All entries as reads give them, envelopes whole, a header first.
Result<Upgraded> upgrade_entries(const Lineage& lineage, const SessionHeader& header,
                                 const std::string& stem, Filler filler) {
  Upgraded upgraded;
  upgraded.session_id = header.session_id.empty() ? stem : header.session_id;
  const std::string now = format_timestamp(filler.clock.unix_ms());
  EntryText text;
  for (Ordinal visible = lineage.base(); visible < lineage.size(); ++visible) {
    TRY(read_entry(lineage, visible, text));
    const bool is_header = text.envelope.type_code == EntryType::kSessionHeader;
    if (visible == lineage.base()) {
      upgraded.entries.push_back(header_entry(is_header ? &text : nullptr, upgraded.session_id,
                                              text.envelope.timestamp.view(), filler));
      if (is_header) continue;
    }
    const bool has_timestamp = !text.envelope.timestamp.empty();
    upgraded.entries.emplace_back(text.json);
    if (!has_timestamp) {
      upgraded.entries.back().insert(1, "\"timestamp\":\"" + now + "\",");
    }
  }
  if (upgraded.entries.empty()) {
    upgraded.entries.push_back(header_entry(nullptr, upgraded.session_id, {}, filler));
  }
  return upgraded;
}

class Counter : public log::LineSink {
 public:
  void accept(const log::Line& line) override { sealed += line.sealed ? 1 : 0; }
  void damaged(const log::Damage&) override {}
  bool knows(std::string_view) override { return false; }
  std::size_t sealed = 0;
};

Result<void> check_new_log(fs::File& file, const Upgraded& upgraded) {
  TRY_ASSIGN(const fs::Stat stat, file.stat());
  TRY_ASSIGN(const fs::Mapping bytes,
             file.map(0, static_cast<std::size_t>(stat.size), fs::MapMode::kRead));
  Counter counter;
  const log::Recovered recovered =
      log::recover({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0,
                   log::chain_seed(upgraded.session_id), counter);
  if (recovered.torn_bytes == 0 && counter.sealed == upgraded.entries.size()) return {};
  return Error(Code::kIoError, "the migrated file does not read back; the old one is in place");
}

// An interrupted migration may have kept the same file under the same name.
Result<void> keep_in_trash(fs::Fs& fs, const std::string& path, const std::string& kept) {
  auto linked = fs.link(path, kept);
  if (linked.ok() || linked.error().code() != Code::kIdConflict) return linked;
  TRY_ASSIGN(const fs::Stat old, fs.stat(path));
  TRY_ASSIGN(const fs::Stat there, fs.stat(kept));
  if (old.identity == there.identity) return {};
  return linked;
}

}  // namespace

// What readers did not see stays behind, and not in silence.
Result<std::vector<std::string>> FileBackend::quarantine_damage(const std::string& session_id) {
  const log::LogPaths paths = paths_of(session_id);
  TRY_ASSIGN(const VerifyReport report, verify_once(session_id));
  TRY_ASSIGN(const auto file, fs_->open(paths.log, fs::OpenMode::kRead));
  std::vector<std::string> quarantined;
  for (const Problem& problem : report.problems) {
    const bool is_hidden = problem.kind == "damaged_line" || problem.kind == "incomplete_batch" ||
                           problem.kind == "torn_tail";
    if (!is_hidden) continue;
    TRY_ASSIGN(std::string path, log::quarantine(*fs_, paths, *file, problem.offset, problem.bytes,
                                                 "migration: " + problem.kind, clock_));
    quarantined.push_back(std::move(path));
  }
  return quarantined;
}

Result<MigrationResult> FileBackend::migrate(const std::string& session_id) {
  const log::LogPaths paths = paths_of(session_id);
  MigrationResult result;
  result.session_id = session_id;
  result.to_version = kSchemaVersion;
  TRY(settle_names());
  TRY(session(session_id)->undisturbed([&]() -> Result<void> {
    TRY_ASSIGN(const SessionHeader old, header(session_id));
    TRY_ASSIGN(const auto seen, lineage(session_id));
    result.from_version = old.version;
    result.entries = seen->size();
    if (old.version > kSchemaVersion) {
      return Error(Code::kUnsupported, "session " + session_id + " is of a newer version");
    }
    if (old.version == kSchemaVersion) return {};
    TRY_ASSIGN(const Upgraded upgraded, upgrade_entries(*seen, old, session_id, filler()));
    result.entries = upgraded.entries.size();
    TRY_ASSIGN(const auto log, FileNewLog::begin(*fs_, paths.directory, upgraded.session_id));
    for (const std::string& entry : upgraded.entries) TRY(log->add(std::string_view(entry)));
    TRY(log->finish());
    const auto file = log->take_file();
    TRY(file->sync());
    TRY(check_new_log(*file, upgraded));
    const std::string beside = paths.directory + "/." + session_id + ".new";
    ignore(fs_->remove(beside), "left by an interrupted migration, or not there");
    TRY(fs_->link(*file, beside));
    const std::string kept = "trash/" + session_id + ".v" + std::to_string(old.version) + "." +
                             std::to_string(clock_.unix_ms()) + ".jsonl";
    TRY(keep_in_trash(*fs_, paths.log, kept));
    TRY_ASSIGN(result.quarantined, quarantine_damage(session_id));
    TRY(fs_->sync_dir("trash"));
    TRY(fs_->rename(beside, paths.log));
    TRY(sync_names(paths.directory));
    result.kept_as = kept;
    return {};
  }));
  return result;
}

}  // namespace quipu::file
