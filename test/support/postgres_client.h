// libpq for tests: connections and answers that are closed at their end. What the library's own
// driver does is judged from here, without it.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace quipu::test {

struct PostgresClose {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using PostgresConnection = std::unique_ptr<PGconn, PostgresClose>;
using PostgresResult = std::unique_ptr<PGresult, PostgresClose>;

/// Throws std::runtime_error when there is no connection.
PostgresConnection connect(const std::string& url);

/// Runs `sql` (several statements are one transaction, unless it says otherwise) and gives the
/// first column of the last statement's first row, "" without rows. Throws the server's message.
std::string ask(PGconn* connection, const std::string& sql);
inline std::string ask(const PostgresConnection& connection, const std::string& sql) {
  return ask(connection.get(), sql);
}

}  // namespace quipu::test
