// Session facts: what is said of a session as a whole, and the rules of
// `sdk_cwd`.
//
// Title, tags, directories and so on are `session_info` facts; for each member
// the last fact that has it wins, the header stands for what no fact says.
//
// `sdk_cwd` is the directory that an agent's own session (`sdk_session_id`) belongs to.
// It is the working directory at first and may move with it as long as there is nothing to
// resume; after that it stays, or the agent would look for its session in the
// wrong place:
//
//   messages or an sdk_session_id? | set_working_directory moves
//   -------------------------------+-----------------------------------
//   neither                        | working directory and sdk_cwd
//   one of them                    | the working directory only
//
// "Messages" are those on the path of the head since the last `context_reset`.
//
// Each change is one batch, durable on return, and decided on the log as it is
// at that moment: when others append in between, it is decided again
// (`tail_moved` only if that happens many times in a row).
//
// Thread-safety: every call from every thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct SessionFacts {
  std::string title;
  std::string agent_id;
  std::string preset_id;
  std::string project_id;
  std::string status = "active";  // or "terminated"
  bool archived = false;
  std::vector<std::string> tags;
  std::string working_directory;
  std::string sdk_cwd;
  std::string sdk_session_id;  // empty: none
};

struct FactsOptions {
  /// See AppendOptions::fence.
  std::optional<std::string> fence{};
};

/// Reads as many facts as it takes to know all members; never the whole log.
Result<SessionFacts> read_session_facts(Store& store, std::string_view session_id);

/// Whether there is nothing to resume: see above.
Result<bool> can_update_sdk_cwd(Store& store, std::string_view session_id);

struct DirectoryMove {
  /// Whether `sdk_cwd` moved too.
  bool sdk_cwd_moved = false;
};
Result<DirectoryMove> set_working_directory(Store& store, std::string_view session_id,
                                            std::string_view directory,
                                            const FactsOptions& options = {});

/// From now on `sdk_cwd` stays. Empty: forget the id.
Result<void> set_sdk_session_id(Store& store, std::string_view session_id,
                                std::string_view sdk_session_id, const FactsOptions& options = {});

/// The agent could not resume `failed_id`: forgets it, so that the next request
/// is built from summary and window. False when another id has been set
/// meanwhile, or none: then nothing is changed.
Result<bool> resume_failed(Store& store, std::string_view session_id, std::string_view failed_id,
                           const FactsOptions& options = {});

/// Begins anew without deleting anything: a `context_reset` on the head, no `sdk_session_id`,
/// `sdk_cwd` where the working directory is, in one batch. The answer is the
/// id of the `context_reset`; a SessionWriter must be told (`continue_from`).
Result<std::string> reset_context(Store& store, std::string_view session_id,
                                  const FactsOptions& options = {});

}  // namespace quipu
