// Putting requests together: from all rows to the requests that count, and from those to
// sums.
#pragma once

#include <string>
#include <vector>

#include "quipu/usage.h"
#include "view/usage_row.h"

namespace quipu {

/// A request in the one place where it counts. Points into rows, which must outlive it.
class CountedRequest {
 public:
  /// `row` has the request. `session` is the row of the session that it is of, for what the
  /// request itself does not say; null: there is none.
  CountedRequest(const view::Request& request, const view::UsageRow& row,
                 const view::UsageRow* session)
      : cost_nano_usd(request.cost_nano_usd),
        latency_ms(request.latency_ms),
        request_(&request),
        row_(&row),
        session_(session) {}

  const view::Request& request() const { return *request_; }
  const std::string& model() const { return said(request_->model, &view::UsageRow::model); }
  const std::string& provider() const { return row_->names[request_->provider]; }
  const std::string& agent() const { return said(request_->agent, &view::UsageRow::agent_id); }
  const std::string& project() const {
    return said(request_->project, &view::UsageRow::project_id);
  }
  const std::string& session() const {
    return said(request_->session, &view::UsageRow::session_id);
  }

  /// As in view::Request, or what another place knows better.
  std::int64_t cost_nano_usd;
  std::int64_t latency_ms;

 private:
  const std::string& said(view::Request::Name name, std::string view::UsageRow::*otherwise) const {
    return name == 0 && session_ != nullptr ? session_->*otherwise : row_->names[name];
  }

  const view::Request* request_;
  const view::UsageRow* row_;
  const view::UsageRow* session_;
};

/// Every request once: the oldest session that speaks of it counts. What the log of usage
/// that is in no session says comes last; of a request that counts already it gives the cost
/// and the latency that are not known. `rows` by id.
std::vector<CountedRequest> count_once(const std::vector<view::UsageRowPointer>& rows);

/// The sums of those that the query is about.
UsageReport sum_up(const std::vector<CountedRequest>& requests, const UsageQuery& query);

/// By nearest rank. Sorts.
UsageLatency percentiles(std::vector<std::uint64_t>& latencies_ms);

}  // namespace quipu
