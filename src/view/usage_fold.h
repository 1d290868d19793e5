// Folding a log into the requests that it speaks of.
#pragma once

#include "quipu/catalogue.h"
#include "view/usage_row.h"

namespace quipu::view {

/// Usage that is in no session's messages: a log of `usage` facts, each of which says
/// itself whose it is.
inline const std::string kUsageLog = std::string(kSystemPrefix) + "usage";

/// The row of a log as it is now. `known`, a row of the same log, is gone on from when the
/// log has only grown since: the answer is the same as without it. `log` is older than
/// `said`, which is what the catalogue says of the session (nothing of `kUsageLog`), and that
/// older than this call: what changes in between is then found the next time. `not_found`
/// when the log is gone.
Result<UsageRow> fold_usage(Backend& backend, const SurveyedLog& log, const SessionSummary& said,
                            const UsageRow* known);

}  // namespace quipu::view
