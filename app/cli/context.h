// What every command needs: the options all share, the two streams, the store.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/errors.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "quipu/store.h"

namespace quipu::cli {

/// A command answers with an exit code, or with an error that `main` reports.
using Run = std::function<Result<int>()>;

struct Context {
  // The options that all commands share.
  std::string store;    // empty: QUIPU_STORE, else the default place
  std::string schema;   // of a PostgreSQL store; empty: as its URL says
  std::string replica;  // URL; empty: none
  bool json = false;
  bool no_pager = false;
  ColorMode color = ColorMode::kAuto;

  Terminal err;
  Output out;
  /// What the command line asked for.
  Run run;

  Context();

  /// Looks at the streams; after the options are read.
  void inspect_streams();

  /// Its URL or directory.
  Result<std::string> store_location() const;
  Result<Store> open_store(bool create = false) const;
  /// For those who only look: where there is no store, an empty one that is gone afterwards.
  Result<Store> open_store_or_none() const;

  /// One line on stderr: `quipu: warning: ...`, or `{"warning":...}` with --json.
  void warn(std::string_view message) const;
  /// For people only: nothing with --json.
  void note(std::string_view message) const;
  void report(const Error& error) const;
  /// The arguments make no sense together: reported, and the exit code is that of
  /// all usage errors.
  int refuse(const Error& error) const {
    report(error);
    return kExitUsage;
  }
  /// Flushes, reports what went wrong, and gives the exit code.
  int finish(const Result<int>& result);

  /// Damaged lines that a read passed over are never silent.
  void warn_of_damage(std::string_view session_id, std::uint32_t damaged) const;

  /// Content as one line for people on standard output.
  std::string shown(std::string_view content) const {
    return safe_line(content, out.terminal().charset());
  }

 private:
  Result<std::string> store_place() const;
};

}  // namespace quipu::cli
