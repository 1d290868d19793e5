// Databases of every kind that an outbox can be in, and a clock that stands until it is told
// otherwise.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "search/index_database.h"
#include "sql/postgres_engine.h"
#include "sql/sqlite_engine.h"
#include "support/postgres_server.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::recall {

class OutboxClock : public Clock {
 public:
  std::int64_t unix_ms() override {
    const MutexLock lock(mutex_);
    return 1'800'000'000'000 + std::chrono::duration_cast<std::chrono::milliseconds>(now_).count();
  }
  std::chrono::nanoseconds monotonic() override {
    const MutexLock lock(mutex_);
    return now_;
  }
  void sleep(std::chrono::nanoseconds duration) override { advance(duration); }
  void advance(std::chrono::nanoseconds duration) {
    const MutexLock lock(mutex_);
    now_ += duration;
  }

 private:
  Mutex mutex_;
  std::chrono::nanoseconds now_ GUARDED_BY(mutex_){0};
};

enum class Place { kMemory, kFile, kPostgres };

inline std::string name_of(Place place) {
  switch (place) {
    case Place::kMemory:
      return "Memory";
    case Place::kFile:
      return "File";
    case Place::kPostgres:
      return "Postgres";
  }
  return "";
}

/// One database; each time it is opened as a new process would open it. What was opened before
/// must be gone by then.
class OutboxPlace {
 public:
  explicit OutboxPlace(Place place) : place_(place) {
    if (place != Place::kPostgres) return;
    static int number = 0;
    url_ = test::PostgresServer::shared().make_database("outbox_" + std::to_string(++number));
    auto engine = sql::open_postgres(url_, {});
    const sql::Command command{.text = "CREATE SCHEMA {schema}"};
    EXPECT_TRUE(engine.ok() && (*engine)->commit({&command, 1}).ok());
  }

  std::unique_ptr<search::IndexDatabase> open(Clock& clock) {
    constexpr std::chrono::seconds kWait(5);
    if (place_ == Place::kMemory) return std::make_unique<search::IndexDatabase>(clock);
    if (place_ == Place::kPostgres) {
      const auto open = [url = url_] { return sql::open_postgres(url, {}); };
      return std::make_unique<search::IndexDatabase>(
          std::make_shared<sql::Pool>(open, clock, kWait));
    }
    const auto open = [file = directory_ / "index.db"] {
      return sql::open_sqlite(file, {.create = true, .tokenizer = search::tokenizer()});
    };
    return std::make_unique<search::IndexDatabase>(std::make_shared<sql::Pool>(open, clock, kWait),
                                                   [] { return Result<void>(); });
  }

 private:
  const Place place_;
  std::string url_;
  fs::TemporaryDirectory directory_;
};

}  // namespace quipu::recall
