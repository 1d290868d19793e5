// Putting requests together: from all rows to the requests that count, and from those to
// sums.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "quipu/usage.h"
#include "view/usage_row.h"

namespace quipu {

/// A request in the one place where it counts. Its texts live as long as the rows.
struct CountedRequest {
  /// With what another place knows better.
  view::Request request{};
  /// The row that has it, and the one of the session that it is of, for what the request does
  /// not say itself; null: there is none.
  const view::UsageRow* row = nullptr;
  const view::UsageRow* session_row = nullptr;

  const std::string& model() const { return said(request.model, &view::UsageRow::model); }
  const std::string& provider() const { return row->names[request.provider]; }
  const std::string& agent() const { return said(request.agent, &view::UsageRow::agent_id); }
  const std::string& project() const { return said(request.project, &view::UsageRow::project_id); }
  const std::string& session() const { return said(request.session, &view::UsageRow::session_id); }

 private:
  const std::string& said(view::Request::Name name, std::string view::UsageRow::*otherwise) const {
    return name == 0 && session_row != nullptr ? session_row->*otherwise : row->names[name];
  }
};

/// Calls `count` for every request once, in the place of the oldest session that speaks of it.
/// The log of usage that is in no session gives the cost and the latency that the session does
/// not say, and comes last with what no session speaks of. `rows` by id.
void count_once(const std::vector<view::UsageRowPointer>& rows,
                const std::function<void(const CountedRequest&)>& count);

/// The sums of those requests that the query is about.
UsageReport sum_up(const std::vector<view::UsageRowPointer>& rows, const UsageQuery& query);

/// By nearest rank. Sorts.
UsageLatency percentiles(std::vector<std::uint64_t>& latencies_ms);

}  // namespace quipu
