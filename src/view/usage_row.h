// UsageRow: the requests to models that one log speaks of, and what is known of its
// session where they are counted.
//
// A request has a key that is the same wherever it is written down. Of that a hash is
// kept, so that rows are short; two requests with the same hash will not be met. Requests
// stay packed as they are in the file: an answer walks over all of a store, once.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"
#include "view/log_cursor.h"

namespace quipu::view {

/// The first half of the SHA-256 of a key.
struct RequestKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const RequestKey&) const = default;
};
RequestKey hash_key(std::string_view key);

/// One request, as the last entry of the log that speaks of it says.
struct Request {
  /// A place in UsageRow::names; 0: not said.
  using Name = std::uint32_t;
  static constexpr std::int64_t kUnknown = -1;

  RequestKey key{};
  std::optional<std::int64_t> time_ms{};
  Name model = 0;
  Name provider = 0;
  /// Only in the log of usage that is in no session; elsewhere the session says it.
  Name agent = 0;
  Name project = 0;
  Name session = 0;
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  std::uint64_t reasoning = 0;
  std::int64_t cost_nano_usd = kUnknown;
  std::int64_t latency_ms = kUnknown;

  bool operator==(const Request&) const = default;
};

struct UsageRow;
using UsageRowPointer = std::shared_ptr<const UsageRow>;

struct UsageRow {
  std::string session_id{};
  LogCursor cursor{};
  /// As the catalogue has it; see SessionSummary.
  std::string created{};
  std::string agent_id{};
  std::string project_id{};
  std::string model{};
  /// Where the transcript of the model's side would be stored; empty: there is none.
  std::string model_session{};
  std::string note_memory{};  // see dialect::Note
  std::vector<std::string> names{""};
  std::string requests{};  // packed, each key once: see RequestWalk
  /// Why the log could not be read: not kept.
  std::string problem{};

  bool operator==(const UsageRow&) const = default;
};

/// Walks over the requests of a row, which must outlive it. Total: stops at what is none.
class RequestWalk {
 public:
  explicit RequestWalk(const UsageRow& row) : left_(row.requests), names_(row.names.size()) {}
  /// False at the end.
  bool next(Request& into);

 private:
  std::string_view left_;
  std::size_t names_;
  std::uint64_t time_ = 0;  // of the request before
};
std::string pack_requests(const std::vector<Request>& requests);

/// Numbers as in a log; a cost that is no sum of money, and 0, which agents write when they
/// do not know, are nothing.
void take_numbers(const Usage& usage, Request& into);

/// As bytes, without id and cursor; and back. Nothing when they are no such row.
std::string encode_usage_row(const UsageRow& row);
std::optional<UsageRow> decode_usage_row(std::string session_id, const LogCursor& cursor,
                                         std::string_view record);

}  // namespace quipu::view
