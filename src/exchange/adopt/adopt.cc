// adopt_codepilot: where the phases are taken, and what is left behind.
//
// A copy is worked on without a name, in the place for temporary files, and gets its name when
// it is whole: whatever ends the process before leaves nothing.
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/try.h"
#include "dialect/database.h"
#include "exchange/adopt/phases.h"
#include "fs/posix_fs.h"
#include "quipu/adopt.h"

namespace quipu {
namespace {

constexpr std::chrono::milliseconds kBusyWait{1000};

Error in_file(Error error, const std::string& file) { return std::move(error).in(file); }

// Into an empty file.
Result<void> vacuum_into(sql::Connection& connection, const std::string& path) {
  TRY_ASSIGN(sql::Statement vacuum, connection.prepare("VACUUM INTO ?1"));
  auto done = vacuum.bind(1, std::string_view(path)).run();
  if (done.ok() || done.error().code() != Code::kNoSpace) return done;
  // To SQLite, a damaged chain of pages that leads out of the file is a full disk, too.
  TRY_ASSIGN(sql::Statement check, connection.prepare("PRAGMA quick_check(1)"));
  TRY_ASSIGN(const bool is_checked, check.step());
  if (!is_checked || check.text(0) == "ok") return done;
  return Error(Code::kCorrupt, "sqlite: " + std::string(check.text(0)));
}

// Writes the database to a file of that name: whole and durable, or not at all, and never over
// another. `id_conflict` when the name is taken.
Result<void> save_as(sql::Connection& connection, const std::string& path) {
  const std::filesystem::path full(path);
  const std::string name = full.filename().string();
  const std::string beside = "." + name + ".quipu-" + std::to_string(::getpid());
  const std::string directory = full.has_parent_path() ? full.parent_path().string() : ".";
  TRY_ASSIGN(const auto fs, fs::PosixFs::open(directory));
  if (fs->stat(name).ok()) return Error(Code::kIdConflict, path + " is there already");
  // Ours alone to read: what is in it is private.
  TRY_ASSIGN(const auto file, fs->open(beside, fs::OpenMode::kCreateNew));
  const auto write = [&]() -> Result<void> {
    TRY(vacuum_into(connection, directory + "/" + beside));
    TRY(file->sync());
    return fs->link(beside, name);
  };
  auto written = write();
  ignore(fs->remove(beside), "what cannot be removed is a file too many");
  if (!written.ok()) return in_file(std::move(written).error(), path);
  return fs->sync_dir("");
}

// The first name for a backup that is not taken.
Result<std::string> save_backup(sql::Connection& connection, const std::string& file, int phase) {
  const std::string name = file + ".before-phase-" + std::to_string(phase);
  for (int number = 0;; ++number) {
    const std::string path = number == 0 ? name : name + "." + std::to_string(number);
    auto saved = save_as(connection, path);
    if (saved.ok()) return path;
    if (saved.error().code() != Code::kIdConflict) return std::move(saved).error();
  }
}

using Before = std::function<Result<std::string>(int phase)>;  // the name of a backup

Result<std::vector<AdoptedPhase>> take_phases(sql::Connection& connection, int last,
                                              const Before& before) {
  TRY(adoption::require_adoptable(connection));
  std::vector<AdoptedPhase> phases;
  for (int phase = 0; phase <= last; ++phase) {
    AdoptedPhase& taken = phases.emplace_back();
    taken.phase = phase;
    TRY_ASSIGN(const bool is_due, adoption::is_due(connection, phase));
    taken.was_done = !is_due;
    if (!is_due) continue;
    TRY_ASSIGN(taken.backup, before(phase));
    auto changes = adoption::take_phase(connection, phase);
    if (!changes.ok()) {
      return in_file(std::move(changes).error(), "phase " + std::to_string(phase));
    }
    taken.changes = std::move(changes).value();
  }
  return phases;
}

Result<sql::Connection> open_copy(const std::string& file) {
  TRY_ASSIGN(sql::Connection connection, dialect::copy_aside(file, fs::HostFiles::system()));
  TRY(connection.execute("PRAGMA query_only=OFF"));
  TRY_ASSIGN(sql::Statement mode, connection.prepare("PRAGMA journal_mode"));
  TRY(mode.step());
  const bool has_log = mode.text(0) == "wal";
  mode.reset();
  // It has no name that a journal could be found by; the log of one that has a log is open.
  if (!has_log) TRY(connection.execute("PRAGMA journal_mode=MEMORY"));
  return connection;
}

// Nobody else can read or write the file until the connection is closed: what is saved before a
// phase is what the phase begins with.
Result<sql::Connection> open_alone(const std::string& file) {
  sql::ConnectionOptions options;
  options.create = false;
  options.busy_wait = kBusyWait;
  TRY_ASSIGN(sql::Connection connection, sql::Connection::open(file, options));
  TRY(connection.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL"));
  auto locked = connection.execute("BEGIN EXCLUSIVE; COMMIT");
  if (locked.ok()) return connection;
  if (locked.error().code() != Code::kBusy) return std::move(locked).error();
  return Error(Code::kBusy, "another program has it open")
      .with_hint("quit CodePilot and repeat, or leave out --in-place: a copy is adopted then");
}

Result<AdoptReport> adopt_in_place(const std::string& file, const AdoptOptions& options) {
  auto connection = open_alone(file);
  if (!connection.ok()) return in_file(std::move(connection).error(), file);
  auto phases = take_phases(*connection, options.phase,
                            [&](int phase) { return save_backup(*connection, file, phase); });
  if (!phases.ok()) return in_file(std::move(phases).error(), file);
  return AdoptReport{.adopted = file, .phases = std::move(phases).value()};
}

// A copy that an earlier call made, under the name that they have unless they are given one.
Result<bool> is_earlier_copy(const std::string& out, const AdoptOptions& options) {
  if (!options.out.empty()) return false;
  auto connection = open_alone(out);
  const bool is_busy = !connection.ok() && connection.error().code() == Code::kBusy;
  if (is_busy) return in_file(std::move(connection).error(), out);
  if (!connection.ok()) return false;
  if (!adoption::require_adoptable(*connection).ok()) return false;
  const auto is_due = adoption::is_due(*connection, 0);
  return is_due.ok() && !*is_due;
}

Result<AdoptReport> adopt_copy(const std::string& file, const AdoptOptions& options) {
  const std::string out = options.out.empty() ? file + ".adopted.db" : options.out;
  std::error_code failed;
  if (!options.dry_run && std::filesystem::exists(out, failed)) {
    TRY_ASSIGN(const bool is_ours, is_earlier_copy(out, options));
    if (is_ours) return adopt_in_place(out, options);
    return Error(Code::kIdConflict, out + " is there already")
        .with_hint("name another file with --out, or go on with that one by --in-place");
  }
  TRY_ASSIGN(sql::Connection connection, open_copy(file));
  AdoptReport report;
  auto phases = take_phases(connection, options.phase, [](int) { return std::string(); });
  if (!phases.ok()) return in_file(std::move(phases).error(), file);
  report.phases = std::move(phases).value();
  bool is_changed = false;
  for (const AdoptedPhase& phase : report.phases) is_changed |= !phase.was_done;
  if (options.dry_run || !is_changed) return report;
  TRY(save_as(connection, out));
  report.adopted = out;
  return report;
}

}  // namespace

Result<AdoptReport> adopt_codepilot(const std::string& file, const AdoptOptions& options) {
  if (options.phase < 0 || options.phase > kAdoptPhaseLast) {
    return Error(Code::kInvalidArgument, "no phase " + std::to_string(options.phase));
  }
  if (options.in_place && !options.out.empty()) {
    return Error(Code::kInvalidArgument, "in place, nothing is written elsewhere");
  }
  TRY_ASSIGN(const std::string head,
             fs::HostFiles::system().read(file, dialect::kDatabaseMagic.size()));
  if (head != dialect::kDatabaseMagic) {
    return Error(Code::kInvalidArgument, file + ": no database of SQLite");
  }
  return options.in_place && !options.dry_run ? adopt_in_place(file, options)
                                              : adopt_copy(file, options);
}

}  // namespace quipu
