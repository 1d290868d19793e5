#include "support/postgres_client.h"

#include <stdexcept>

namespace quipu::test {

PostgresConnection connect(const std::string& url) {
  PostgresConnection connection(PQconnectdb(url.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    throw std::runtime_error(PQerrorMessage(connection.get()));
  }
  // Notices would go to stderr.
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  return connection;
}

std::string ask(PGconn* connection, const std::string& sql) {
  const PostgresResult result(PQexec(connection, sql.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection));
  }
  if (PQntuples(result.get()) == 0) return "";
  return PQgetvalue(result.get(), 0, 0);
}

}  // namespace quipu::test
