#include "support/fresh_store.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

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
void empty_tables(const std::string& server) {
  static const std::unique_ptr<sql::Engine> engine = [&] {
    auto opened = sql::open_postgres(server, {});
    if (!opened.ok()) give_up(opened.error());
    return std::move(opened).value();
  }();
  std::vector<sql::Command> commands;
  for (const char* text :
       {"DELETE FROM @entries", "DELETE FROM @heads", "DELETE FROM @lineage",
        "DELETE FROM @attachments", "DELETE FROM @attachment_chunks", "DELETE FROM @projects",
        "DELETE FROM @chat_sessions", "DELETE FROM @messages", "DELETE FROM @message_parts",
        "DELETE FROM @session_runtime_state"}) {
    commands.push_back({.text = text});
  }
  if (auto done = engine->commit(commands); !done.ok()) give_up(done.error());
}

std::string empty_postgres_store() {
  static const std::string url = PostgresServer::shared().make_database("fresh");
  static const bool made = [] {
    auto store = Store::open(url, {.create = true});
    if (!store.ok()) give_up(store.error());
    return true;
  }();
  if (made) empty_tables(url);
  return url;
}

}  // namespace

FreshStore::FreshStore(Engine engine) {
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
      url_ = empty_postgres_store();
      break;
  }
}

}  // namespace quipu::test
