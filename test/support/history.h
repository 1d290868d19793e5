// Worked histories: the contract as data, one file a story.
//
// The language is described in test/contract/histories/README.md. A history is
// parsed once and run against any HistoryTarget; the answer is empty or says
// which line was not kept, and how.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/history_target.h"

namespace quipu::test {

struct HistoryStep {
  int line = 0;                    // in the file
  std::vector<std::string> words;  // up to " = ", which is left out
  std::string value;               // what follows " = "
  bool has_value = false;
  std::vector<std::string> batch;  // the indented lines below
};

struct History {
  std::string name;  // the file's stem
  std::vector<HistoryStep> steps;
  /// Lines written by other programs occur: only for logs that are files.
  bool needs_foreign = false;
};

/// Reads a file; a mistake in it ends the test run.
History load_history(const std::string& path);

/// All files of a folder that end in `.history`, sorted by name.
std::vector<History> load_histories(const std::string& folder);

struct RunOptions {
  /// Close and open the target after every step.
  bool reopen_each_step = false;
  /// `json` steps are about lines that are stored as they came.
  bool check_json = true;
};

/// Runs every step. Besides what the steps say it is checked that an operation
/// that fails changes no session, that it names the ids of its entries, and
/// that every successful append can be repeated without effect.
std::string run_history(const History& history, HistoryTarget& target, const RunOptions& options);

}  // namespace quipu::test
