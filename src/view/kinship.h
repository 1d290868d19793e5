// Kinship: which sessions are parts of others.
//
// A sub-agent's session belongs to the one that made it, one that goes on in another to
// that one, and the transcript that an agent's own library kept of a conversation to the
// session of the program that talked to the user. Only while the other is in the store,
// and never in a circle: of every family somebody is shown.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "view/session_row.h"

namespace quipu::view {

/// Among rows that are sorted by id; null when it is not there.
RowPointer find_row(std::span<const RowPointer> rows, const std::string& session_id);

/// What each part belongs to, by id. Rows are sorted by id.
std::unordered_map<std::string, std::string> find_parts(std::span<const RowPointer> rows);

/// The id under which the transcript of the model's side would be stored; empty: the
/// session has none.
std::string model_session_of(const SessionSummary& session);

}  // namespace quipu::view
