// The fields of a query: what `role:user after:2026-03-01 …` means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/query.h"

namespace quipu {

/// A query and what its fields ask for. All given ones must hold; of a field that is given
/// twice one of the values.
struct SessionQuery {
  search::Query words{};
  std::vector<std::string> roles{};
  std::vector<std::string> tools{};
  std::vector<std::string> agents{};
  std::vector<std::string> projects{};  // ids or names
  std::vector<std::string> sessions{};  // ids, or their beginnings
  std::optional<std::string> branch{};
  std::optional<std::int64_t> from_ms{};  // the latest of them
  std::optional<std::int64_t> to_ms{};    // the earliest
};

/// A field whose value means nothing (`after:all`, `role:of`) is two words; so is a branch to an
/// entry when there is no session that it could be of.
SessionQuery read_session_query(std::string_view text, bool has_session);

/// RFC 3339 in UTC, or a day: the beginning of it.
std::optional<std::int64_t> read_search_time(std::string_view text);

bool is_search_role(std::string_view name);

}  // namespace quipu
