#include "support/fresh_store.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "quipu/store.h"
#include "sql/postgres_engine.h"
#include "support/postgres_server.h"

namespace quipu::test {
namespace {

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  std::abort();
}

// Making the tables takes longer than most tests: they are made once and emptied.
class PostgresPlace {
 public:
  explicit PostgresPlace(int number)
      : url_(PostgresServer::shared().make_database("fresh" + std::to_string(number))) {
    auto store = Store::open(url_, {.create = true});
    if (!store.ok()) give_up(store.error());
    auto opened = sql::open_postgres(url_, {});
    if (!opened.ok()) give_up(opened.error());
    engine_ = std::move(opened).value();
  }

  const std::string& emptied() {
    std::vector<sql::Command> commands;
    for (const char* text :
         {"DELETE FROM @entries", "DELETE FROM @heads", "DELETE FROM @lineage",
          "DELETE FROM @attachments", "DELETE FROM @attachment_chunks", "DELETE FROM @projects",
          "DELETE FROM @sessions", "DELETE FROM @session_runtime_state"}) {
      commands.push_back({.text = text});
    }
    if (auto done = engine_->commit(commands); !done.ok()) give_up(done.error());
    return url_;
  }

 private:
  const std::string url_;
  std::unique_ptr<sql::Engine> engine_;
};

std::string empty_postgres_store(int number) {
  static std::map<int, PostgresPlace> places;
  return places.try_emplace(number, number).first->second.emptied();
}

}  // namespace

FreshStore::FreshStore(Engine engine, int number) {
  // What is computed from a database must not end up in somebody's home.
  ::setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1);
  switch (engine) {
    case Engine::kMemory:
      url_ = "memory:";
      break;
    case Engine::kFile:
      url_ = scratch_.path() + "/store";
      break;
    case Engine::kSqlite:
      url_ = "sqlite:" + scratch_.path() + "/store.db";
      break;
    case Engine::kPostgres:
      url_ = empty_postgres_store(number);
      break;
  }
}

}  // namespace quipu::test
