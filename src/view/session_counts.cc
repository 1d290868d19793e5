#include "quipu/catalogue.h"

#include <algorithm>
#include <string_view>

namespace quipu {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

template <class T>
bool passes(const std::optional<T>& wanted, const T& value) {
  return !wanted || *wanted == value;
}

}  // namespace

SessionCounts& SessionCounts::operator+=(const SessionCounts& more) {
  messages += more.messages;
  tokens_in += more.tokens_in;
  tokens_out += more.tokens_out;
  cache_read += more.cache_read;
  cache_write += more.cache_write;
  cost_nano_usd += more.cost_nano_usd;
  return *this;
}

bool SessionFilter::matches(const SessionSummary& session) const {
  return project.admits(session.project_id) && passes(agent, session.agent_id) &&
         passes(archived, session.archived) && passes(parent, session.parent_session) &&
         passes(status, session.status) && (!since_ms || session.last_active_ms >= *since_ms) &&
         (!until_ms || session.last_active_ms < *until_ms) &&
         (!tag ||
          std::find(session.tags.begin(), session.tags.end(), *tag) != session.tags.end()) &&
         (title_contains.empty() || contains(session.title, title_contains));
}

}  // namespace quipu
