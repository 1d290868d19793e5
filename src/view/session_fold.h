// Folding a log into its row of the catalogue.
#pragma once

#include "backend/backend.h"
#include "view/session_row.h"

namespace quipu::view {

/// The row of a session as it is now. `known`, a row of the same session, is gone
/// on from when the log has only grown since: the answer is the same as without
/// it, in every member. `not_found` when the session is gone.
Result<SessionRow> fold_session(Backend& backend, const std::string& session_id,
                                const SessionRow* known);

}  // namespace quipu::view
