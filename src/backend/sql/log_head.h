// LogHead: where a log stands. One row of `heads`, with what is computed beside it: all
// that an append has to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/fold.h"
#include "sql/engine.h"

namespace quipu::sqlstore {

/// What is computed from entries and changes with them: a row of `session_runtime_state`, where
/// arrays are JSON and their elements have an `id`, and the model in the row of `sessions`.
struct ComputedState {
  std::string run_id{};
  bool is_processing = false;
  std::int64_t generation = 0;
  std::string queued = "[]";
  std::string pending = "[]";
  /// Nearly every message names the model that the row has. Nothing: not known here.
  std::optional<std::string> model{};
};

struct LogHead {
  /// Of this log among all that ever had its name.
  std::int64_t number = 0;
  FoldState fold{};
  std::uint64_t bytes = 0;  // of all lines, each with a line feed
  std::int64_t modified_ms = 0;
  std::string head_id{};  // empty: no node yet
  std::string tail_id{};
  ComputedState computed{};
};

/// Nothing when there is no such log.
Result<std::optional<LogHead>> read_head(sql::Engine& engine, std::string_view session_id);

/// Of `FoldState::last_fact`: "type:ordinal" for those that there are.
std::string encode_last_facts(const FoldState& fold);

/// The place of an entry as its row has it.
Placement placement(std::string_view type, std::optional<std::int64_t> parent, std::int64_t depth,
                    bool orphan);

/// An ordinal as a column: null for none.
sql::Param ordinal_param(Ordinal ordinal);
/// A text as a column: null for an empty one.
sql::Param text_param(std::string_view text);
std::optional<std::int64_t> integer_or_null(const sql::Rows& rows, int column);

}  // namespace quipu::sqlstore
