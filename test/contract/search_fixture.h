// Sessions to be searched, in a store of any engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "quipu/search.h"
#include "support/fresh_store.h"

namespace quipu::test {

inline const SearchOptions kEverywhere{.sessions = {.project = ProjectScope::all()}};

inline std::string quoted_json(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (c == '\n') {
      json += "\\n";
    } else {
      json += c;
    }
  }
  return json + '"';
}

inline NewEntry message(const std::string& id, const std::string& role, const std::string& text) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":")" + role + R"(","content":)" + quoted_json(text) + "}";
  return entry;
}

inline NewEntry call(const std::string& id, const std::string& call_id, const std::string& tool,
                     const std::string& argument) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":"assistant","content":[{"type":"tool_use","id":")" + call_id +
                  R"(","name":")" + tool + R"(","input":{"x":)" + quoted_json(argument) + "}}]}";
  return entry;
}

inline NewEntry result(const std::string& id, const std::string& call_id, const std::string& text) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":"tool","content":[{"type":"tool_result","toolUseId":")" + call_id +
                  R"(","content":)" + quoted_json(text) + "}]}";
  return entry;
}

inline NewEntry fact(const std::string& type, const std::string& payload) {
  NewEntry entry;
  entry.type = type;
  entry.payload = payload;
  return entry;
}

class SearchContract : public ::testing::TestWithParam<Engine> {
 protected:
  SearchContract() : place_(GetParam()), store_(open()), search_(store_) {}

  Store open() {
    auto store = Store::open(place_.url(), {.create = true});
    if (!store.ok()) {
      ADD_FAILURE() << store.error().message();
      std::abort();
    }
    return std::move(store).value();
  }

  void make(const std::string& id, const std::string& project = {}, const std::string& agent = {}) {
    NewSession session;
    session.id = id;
    session.project_id = project;
    session.agent_id = agent;
    const auto made = store_.sessions().create_session(session);
    ASSERT_TRUE(made.ok()) << made.error().message();
  }

  void append(const std::string& session, const std::vector<NewEntry>& entries) {
    append(store_, session, entries);
  }
  static void append(Store& store, const std::string& session,
                     const std::vector<NewEntry>& entries) {
    const auto added = store.sessions().append_session_entries(session, entries);
    ASSERT_TRUE(added.ok()) << added.error().message();
  }

  Page<SearchHit> page(const std::string& query, const SearchOptions& options = kEverywhere,
                       const PageRequest& request = {.after = {}, .limit = 1000}) {
    auto found = search_.search(query, options, request);
    EXPECT_TRUE(found.ok()) << query << ": " << found.error().message();
    return found.ok() ? std::move(found).value() : Page<SearchHit>();
  }

  /// "session/entry", sorted.
  static std::vector<std::string> places(const std::vector<SearchHit>& hits) {
    std::vector<std::string> places;
    for (const SearchHit& hit : hits) places.push_back(hit.session_id + "/" + hit.entry_id);
    std::sort(places.begin(), places.end());
    return places;
  }
  std::vector<std::string> find(const std::string& query,
                                const SearchOptions& options = kEverywhere) {
    return places(page(query, options).items);
  }

  using Places = std::vector<std::string>;

  FreshStore place_;
  Store store_;
  SessionSearch search_;
};

inline std::string engine_name(const ::testing::TestParamInfo<Engine>& one) {
  constexpr const char* kNames[] = {"memory", "file", "sqlite", "postgres"};
  return kNames[static_cast<int>(one.param)];
}

}  // namespace quipu::test
