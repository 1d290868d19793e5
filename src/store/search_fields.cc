#include "store/search_fields.h"

#include <algorithm>
#include <array>

#include "base/time_text.h"

namespace quipu {
namespace {

constexpr std::array<std::string_view, 7> kRoles{"user",    "assistant", "system", "tool",
                                                 "summary", "title",     "label"};
constexpr std::array<std::string_view, 8> kFields{"role",    "tool",   "agent", "project",
                                                  "session", "branch", "after", "before"};

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return low;
}

// False: the value means nothing.
bool take(SessionQuery& query, const std::string& field, const std::string& value) {
  if (value.empty()) return false;
  if (field == "role") {
    query.roles.push_back(lower(value));
    return is_search_role(query.roles.back());
  }
  if (field == "tool") query.tools.push_back(lower(value));
  if (field == "agent") query.agents.push_back(value);
  if (field == "project") query.projects.push_back(value);
  if (field == "session") query.sessions.push_back(value);
  if (field == "branch") query.branch = value;
  if (field != "after" && field != "before") return true;
  const auto time = read_search_time(value);
  if (!time) return false;
  if (field == "after") query.from_ms = std::max(query.from_ms.value_or(*time), *time);
  if (field == "before") query.to_ms = std::min(query.to_ms.value_or(*time), *time);
  return true;
}

}  // namespace

bool is_search_role(std::string_view name) {
  return std::find(kRoles.begin(), kRoles.end(), name) != kRoles.end();
}

std::optional<std::int64_t> read_search_time(std::string_view text) {
  if (const auto time = parse_timestamp(text)) return time;
  return parse_timestamp(std::string(text) + "T00:00:00Z");
}

SessionQuery read_session_query(std::string_view text, bool has_session) {
  std::vector<std::string_view> known(kFields.begin(), kFields.end());
  for (;;) {
    SessionQuery query;
    query.words = search::parse_query(text, known);
    const auto strange =
        std::find_if(query.words.fields.begin(), query.words.fields.end(),
                     [&](const auto& field) { return !take(query, field.first, field.second); });
    std::string word = strange != query.words.fields.end() ? strange->first : std::string();
    const bool is_of_session = has_session || !query.sessions.empty();
    if (query.branch && query.branch != "head" && !is_of_session) word = "branch";
    if (word.empty()) return query;
    // A word like all others, with all its values.
    if (std::erase(known, word) == 0) known.clear();
  }
}

}  // namespace quipu
