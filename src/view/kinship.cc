#include "view/kinship.h"

#include <algorithm>

#include "dialect/reader.h"

namespace quipu::view {
namespace {

// Longer chains are made by hand.
constexpr int kChainMax = 1000;

}  // namespace

RowPointer find_row(std::span<const RowPointer> rows, const std::string& session_id) {
  const auto at = std::lower_bound(
      rows.begin(), rows.end(), session_id,
      [](const RowPointer& row, const std::string& id) { return row->session_id < id; });
  return at != rows.end() && (*at)->session_id == session_id ? *at : nullptr;
}

std::string model_session_of(const SessionSummary& session) {
  if (session.sdk_session_id.empty() || session.agent_id == "claude") return {};
  return dialect::session_id_of("claude", session.sdk_session_id);
}

std::unordered_map<std::string, std::string> find_parts(std::span<const RowPointer> rows) {
  std::unordered_map<std::string, std::string> parts;
  const auto note = [&](const std::string& part, const std::string& whole) {
    if (!whole.empty() && part != whole && find_row(rows, part) && find_row(rows, whole)) {
      parts.try_emplace(part, whole);
    }
  };
  for (const RowPointer& row : rows) {
    const SessionSummary& session = row->summary;
    note(session.session_id, session.spawned_by);
    note(session.session_id, session.continued_in);
    note(model_session_of(session), session.session_id);
  }
  const auto has_end = [&](const std::string* at) {
    for (int step = 0; step < kChainMax; ++step) {
      const auto above = parts.find(*at);
      if (above == parts.end()) return true;
      at = &above->second;
    }
    return false;
  };
  std::unordered_map<std::string, std::string> sound;
  for (const auto& [part, whole] : parts) {
    if (has_end(&whole)) sound.emplace(part, whole);
  }
  return sound;
}

}  // namespace quipu::view
