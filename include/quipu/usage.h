// Usage: what the requests of all sessions took, each counted once.
//
// Agents write down what a request used more than once: line by line while it is
// answered, again in copies of a session, again in what a sub-agent is told. A request
// has a key that is the same everywhere; the last that a session says of it counts, and
// of several sessions the oldest.
//
// Thread-safety: every call from every thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quipu/catalogue.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

enum class UsageBy : unsigned char { kDay, kAgent, kModel, kProject, kSession };

struct UsageOptions {
  UsageBy by = UsageBy::kDay;
  ProjectScope project;
  /// At or after, and before.
  std::optional<std::int64_t> from_ms{};
  std::optional<std::int64_t> to_ms{};
};

struct UsageSum {
  /// A day (UTC), or the name of an agent, a model, a project, a session. Empty: unknown.
  std::string name{};
  std::uint64_t requests = 0;
  std::uint64_t tokens_in = 0;  // neither from the cache nor into it
  std::uint64_t tokens_out = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  std::uint64_t reasoning = 0;  // part of tokens_out
  /// What was recorded; billionths of a US dollar. Nothing is computed.
  std::int64_t cost_nano_usd = 0;

  UsageSum& operator+=(const UsageSum& more);
};

struct UsageTable {
  std::vector<UsageSum> rows;  // by name
  UsageSum total;
};

/// Reads the logs of the sessions that the scope admits.
Result<UsageTable> sum_usage(Store& store, const UsageOptions& options);

}  // namespace quipu
