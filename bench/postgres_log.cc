#include "postgres_log.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "measure.h"

namespace quipu::bench {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kInsert =
    "INSERT INTO bare (id, parent, type, payload) VALUES ($1, $2, $3, $4)";

// As another user when we are root.
int shell(const std::string& command) {
  const bool is_root = ::geteuid() == 0;
  const std::string line =
      is_root ? "runuser -u postgres -- sh -c '" + command + "'" : "sh -c '" + command + "'";
  return std::system(line.c_str());
}

std::string binaries() {
  // Where Debian has them; elsewhere they are in the path.
  std::string newest;
  std::error_code none;
  for (const auto& version : stdfs::directory_iterator("/usr/lib/postgresql", none)) {
    newest = std::max(newest, (version.path() / "bin/").string());
  }
  return newest;
}

}  // namespace

PostgresServer::PostgresServer(const stdfs::path& place) : place_(stdfs::absolute(place)) {
  stdfs::create_directories(place_);
  // The directories above belong to us alone otherwise.
  for (auto above = place_; above != above.root_path(); above = above.parent_path()) {
    std::error_code ignored;
    stdfs::permissions(above, stdfs::perms::others_exec, stdfs::perm_options::add, ignored);
  }
  stdfs::permissions(place_, stdfs::perms::all);
  const std::string data = (place_ / "data").string();
  const std::string quiet = " >" + (place_ / "log").string() + " 2>&1";
  check(shell(binaries() + "initdb -U quipu -A trust -E UTF8 --locale=C -D " + data + quiet) == 0,
        "initdb");
  check(shell(binaries() + "pg_ctl -w -D " + data +
              " -o \"-c listen_addresses= -c unix_socket_directories=" + place_.string() + "\"" +
              " start" + quiet) == 0,
        "pg_ctl start");
}

PostgresServer::~PostgresServer() {
  const std::string data = (place_ / "data").string();
  if (shell(binaries() + "pg_ctl -w -m immediate -D " + data + " stop >/dev/null 2>&1") != 0) {
    std::fprintf(stderr, "quipu_bench: a server is left in %s\n", place_.c_str());
  }
}

std::string PostgresServer::url() const {
  return "postgres://quipu@/postgres?host=" + place_.string();
}

double PostgresServer::pgbench(std::size_t clients, std::size_t transactions,
                               std::span<const std::string> payloads) const {
  std::string scripts;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    std::string text = payloads[i];
    // A colon would begin a variable of pgbench.
    std::replace(text.begin(), text.end(), ':', ';');
    const stdfs::path script = place_ / ("insert" + std::to_string(i) + ".sql");
    std::ofstream(script) << "INSERT INTO bare (id, parent, type, payload) VALUES "
                             "(gen_random_uuid()::text, $q$p$q$, $q$message$q$, $q$"
                          << text << "$q$);\n";
    scripts += " -f " + script.string();
  }
  const stdfs::path out = place_ / "pgbench.out";
  check(shell(binaries() + "pgbench -n -M prepared -U quipu -h " + place_.string() + " -c " +
              std::to_string(clients) + " -j 2 -t " + std::to_string(transactions) + scripts +
              " postgres >" + out.string() + " 2>&1") == 0,
        "pgbench");
  std::ifstream in(out);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("tps = ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  throw CheckFailed("pgbench says nothing");
}

PostgresLog::PostgresLog(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  check(PQstatus(connection_) == CONNECTION_OK, PQerrorMessage(connection_));
  run("CREATE TABLE IF NOT EXISTS bare (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
      " id TEXT NOT NULL UNIQUE, parent TEXT, type TEXT NOT NULL, payload TEXT NOT NULL)");
  PQclear(PQprepare(connection_, "insert", kInsert, 4, nullptr));
}

PostgresLog::~PostgresLog() { PQfinish(connection_); }

void PostgresLog::run(const char* statement) {
  PGresult* result = PQexec(connection_, statement);
  const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  check(done, statement);
}

void PostgresLog::append(const NewEntry& entry) {
  const std::string parent = entry.parent.id();
  const char* values[] = {entry.id.c_str(), parent.c_str(), entry.type.c_str(),
                          entry.payload.c_str()};
  PGresult* result = PQexecPrepared(connection_, "insert", 4, values, nullptr, nullptr, 0);
  const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  check(done, "INSERT");
}

void PostgresLog::append_all(std::span<const NewEntry> entries) {
  check(PQenterPipelineMode(connection_) == 1, "pipeline");
  for (const NewEntry& entry : entries) {
    const std::string parent = entry.parent.id();
    const char* values[] = {entry.id.c_str(), parent.c_str(), entry.type.c_str(),
                            entry.payload.c_str()};
    check(PQsendQueryPrepared(connection_, "insert", 4, values, nullptr, nullptr, 0) == 1, "send");
  }
  check(PQpipelineSync(connection_) == 1, "sync");
  for (bool done = false; !done;) {
    PGresult* result = PQgetResult(connection_);
    if (result == nullptr) continue;
    const ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    done = status == PGRES_PIPELINE_SYNC;
    check(done || status == PGRES_COMMAND_OK, "pipelined INSERT");
  }
  check(PQexitPipelineMode(connection_) == 1, "pipeline");
}

std::uint64_t PostgresLog::count() {
  PGresult* result = PQexec(connection_, "SELECT count(*) FROM bare");
  const std::uint64_t count = std::strtoull(PQgetvalue(result, 0, 0), nullptr, 10);
  PQclear(result);
  return count;
}

}  // namespace quipu::bench
