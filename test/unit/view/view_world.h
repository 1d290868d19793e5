// A store with a few sessions, and the question that every test here asks: does
// the list say what the logs say?
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "quipu/store.h"
#include "support/history_store.h"
#include "view/session_fold.h"

namespace quipu::test {

inline const PageRequest kEverything{.after = {}, .limit = std::numeric_limits<std::size_t>::max()};

inline const SessionFilter kAllProjects{.project = ProjectScope::all()};

inline Store open_store(const std::string& url, Clock* clock = nullptr) {
  StoreOptions options;
  options.create = true;
  options.clock = clock;
  auto store = Store::open(url, options);
  if (!store.ok()) {
    ADD_FAILURE() << store.error().message();
    std::abort();
  }
  return std::move(store).value();
}

inline NewEntry entry_of(const std::string& type, const std::string& payload) {
  NewEntry entry;
  entry.type = type;
  entry.payload = payload;
  return entry;
}

inline NewEntry user(const std::string& text) {
  return entry_of("message", R"({"role":"user","content":")" + text + "\"}");
}

inline NewEntry answer(const std::string& request, int tokens_out) {
  return entry_of("message", R"({"role":"assistant","content":"ok","model":"m","provider":"p",)"
                             R"("requestId":")" +
                                 request + R"(","usage":{"tokensIn":10,"tokensOut":)" +
                                 std::to_string(tokens_out) + R"(,"costUsd":0.1}})");
}

inline void make_session(Store& store, const std::string& id, const std::string& project = {}) {
  NewSession session;
  session.id = id;
  session.project_id = project;
  const auto made = store.sessions().create_session(session);
  ASSERT_TRUE(made.ok()) << made.error().message();
}

inline void append(Store& store, const std::string& id, const std::vector<NewEntry>& entries) {
  const auto stored = store.sessions().append_session_entries(id, entries);
  ASSERT_TRUE(stored.ok()) << stored.error().message();
}

/// Every session of the directory is listed, nothing else is, and every row says
/// what the log, read from its beginning, says.
inline testing::AssertionResult list_is_right(Store& store, std::size_t sessions) {
  const auto page = store.sessions().list_sessions(kAllProjects, kEverything);
  if (!page.ok()) return testing::AssertionFailure() << page.error().message();
  const auto ids = store.sessions().session_ids();
  if (!ids.ok()) return testing::AssertionFailure() << ids.error().message();
  std::vector<std::string> listed;
  for (const SessionSummary& session : page->items) {
    listed.push_back(session.session_id);
    const auto folded = view::fold_session(*store.backend(), session.session_id, nullptr);
    if (!folded.ok()) return testing::AssertionFailure() << folded.error().message();
    const SessionSummary& said = folded->summary;
    if (said != session) {
      return testing::AssertionFailure()
             << session.session_id << ": title '" << session.title << "' / '" << said.title
             << "', entries " << session.entries << " / " << said.entries << ", tokens "
             << session.counts.tokens_out << " / " << said.counts.tokens_out << ", active "
             << session.last_active_ms << " / " << said.last_active_ms;
    }
    const auto described = store.sessions().describe_session(session.session_id);
    if (!described.ok()) return testing::AssertionFailure() << described.error().message();
    if (*described != said) {
      return testing::AssertionFailure() << session.session_id << " is described otherwise";
    }
  }
  std::sort(listed.begin(), listed.end());
  if (listed != *ids) return testing::AssertionFailure() << "listed " << listed.size();
  if (listed.size() != sessions || page->total != sessions) {
    return testing::AssertionFailure() << listed.size() << " sessions, total " << page->total;
  }
  return testing::AssertionSuccess();
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
}

}  // namespace quipu::test
