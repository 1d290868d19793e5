// A store on PostgreSQL for a test, and a look at its tables that does not use the store.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backend/sql/sql_stores.h"
#include "quipu/store.h"
#include "sql/postgres_engine.h"
#include "support/agent_store.h"
#include "support/cutting_proxy.h"
#include "support/history_store.h"
#include "support/postgres_client.h"
#include "support/postgres_server.h"
#include "support/scale.h"

namespace quipu::test {

using std::chrono::milliseconds;

/// What is computed from a database must not end up in somebody's home.
class ScratchCache {
 public:
  ScratchCache() { ::setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1); }

 private:
  ScratchDir scratch_;
};

/// `count` messages with the ids PREFIX-0, PREFIX-1 …; without ids for an empty prefix.
inline std::vector<NewEntry> batch_of(const std::string& prefix, std::size_t count) {
  std::vector<NewEntry> batch;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    batch.push_back(message(prefix.empty() ? "" : prefix + "-" + number, "user", "text " + number));
  }
  return batch;
}

/// The ids of a session's entries in their order, the header's left out, each with a blank behind
/// it; then what beside the entries does not agree with them.
inline std::string stored_ids(const PostgresConnection& direct, const std::string& session) {
  return ask(direct,
             "SELECT coalesce(string_agg(id || ' ', '' ORDER BY ordinal)"
             " FILTER (WHERE ordinal > 0), '')"
             " || CASE WHEN count(*) = coalesce(max(ordinal), -1) + 1 THEN '' ELSE 'gap' END"
             " || CASE WHEN count(*) = (SELECT coalesce(sum(entries), 0) FROM quipu.heads h"
             "   WHERE h.session_id = '" +
                 session +
                 "') THEN '' ELSE 'heads differ' END"
                 " || CASE WHEN count(*) FILTER (WHERE type = 'message') = (SELECT count(*) FROM"
                 "   quipu.messages m JOIN quipu.message_parts p ON p.session_id = m.session_id AND"
                 "   p.message_id = m.id WHERE m.session_id = '" +
                 session +
                 "') THEN ''"
                 "   ELSE 'messages differ' END"
                 " FROM quipu.entries WHERE session_id = '" +
                 session + "'");
}

/// A store that keeps nothing but its connections: `Store::open` also has a file of views.
inline Store bare_store(const std::string& url, milliseconds wait = std::chrono::seconds(5)) {
  auto open = must(sqlstore::connections(url, false, Clock::system(), wait));
  return Store(must(sqlstore::SqlBackend::open(std::move(open), nullptr, Clock::system(),
                                               Random::system(), {.create = false, .wait = wait})));
}

inline std::string joined(const std::vector<std::string>& ids) {
  std::string all;
  for (const std::string& id : ids) all += id + " ";
  return all;
}

/// A store in a database of the test's own, on the server that all share.
class OnPostgres : public ::testing::Test {
 protected:
  OnPostgres()
      : name_(testing::UnitTest::GetInstance()->current_test_info()->name()),
        url_(server_.make_database(name_)),
        store_(must(Store::open(url_, {.create = true}))),
        direct_(connect(url_)) {}

  std::string new_session(const std::string& id) {
    return must(store_.sessions().create_session({.id = id})).session_id;
  }

  PostgresServer& server_ = PostgresServer::shared();
  ScratchCache cache_;
  const std::string name_;
  const std::string url_;
  Store store_;  // never through a proxy
  const PostgresConnection direct_;
};

}  // namespace quipu::test
