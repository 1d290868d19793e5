#include "support/postgres_server.h"

#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/postgres_client.h"

namespace quipu::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Far over what anything here takes, also under a sanitizer on a busy machine.
constexpr std::chrono::seconds kPatience{60};
constexpr milliseconds kBetweenLooks{2};
constexpr const char* kStandbyName = "standby";

std::string program(const char* name) { return std::string(QUIPU_POSTGRES_BINARIES "/") + name; }

// In memory if nothing is about disks and there is room for some servers.
std::filesystem::path place_for(const PostgresOptions& options) {
  constexpr std::uintmax_t kEnough = 1'000'000'000;
  const char* const memory = "/dev/shm";
  std::error_code error;
  const auto space = std::filesystem::space(memory, error);
  const bool fits = !error && space.available >= kEnough && ::access(memory, W_OK) == 0;
  return fits && !options.fsync ? memory : std::filesystem::temp_directory_path();
}

// What initdb makes. It takes longer than all else on the way to a server, so a process makes one
// and copies it.
class EmptyCluster {
 public:
  static const EmptyCluster& get() {
    static const EmptyCluster cluster;
    return cluster;
  }
  std::string data() const { return directory_ / "data"; }
  std::string wal() const { return directory_ / "wal"; }

 private:
  EmptyCluster() : directory_(place_for({})) {
    give_to_children(directory_.path());
    ChildProcess::run({program("initdb"), "--pgdata=" + data(), "--waldir=" + wal(), "--no-sync",
                       "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=quipu"},
                      directory_ / "log");
  }
  const fs::TemporaryDirectory directory_;
};

void copy_directory(const std::string& from, const std::string& to, const std::string& log) {
  ChildProcess::run({"/bin/cp", "--archive", from + "/.", to}, log);
}

// The server's lock file: its process, and more of which we read two lines.
struct LockFile {
  explicit LockFile(const std::string& data) {
    std::ifstream file(data + "/postmaster.pid");
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      std::istringstream words(line);
      if (number == 1) words >> process;
      if (number == 7) words >> memory_key >> memory;
      if (number == 8) words >> state;
    }
  }
  pid_t process = -1;
  unsigned long memory_key = 0;
  int memory = -1;
  std::string state;  // "ready" when it takes connections
};

}  // namespace

PostgresServer::PostgresServer(const PostgresOptions& options) : PostgresServer(options, nullptr) {}

PostgresServer::PostgresServer(const PostgresOptions& options, PostgresServer* primary)
    : options_(options),
      is_standby_(primary != nullptr),
      directory_(place_for(options)),
      data_(directory_ / "data"),
      wal_(directory_ / "wal"),
      log_(directory_ / "log") {
  give_to_children(directory_.path());
  for (const std::string& path : {data_, wal_}) {
    if (::mkdir(path.c_str(), 0700) != 0) throw std::runtime_error("cannot make " + path);
    give_to_children(path);
  }
  if (options_.data_bytes_max > 0) data_disk_.emplace(data_, options_.data_bytes_max);
  if (options_.wal_bytes_max > 0) wal_disk_.emplace(wal_, options_.wal_bytes_max);
  fill(primary);
  start();
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

std::unique_ptr<PostgresServer> PostgresServer::standby_of(PostgresServer& primary) {
  const PostgresConnection connection = connect(primary.url());
  ask(connection, std::string("ALTER SYSTEM SET synchronous_standby_names = ") + kStandbyName);
  ask(connection, "SELECT pg_reload_conf()");
  // A new connection knows what the server's first process knows, and that tells all others before
  // it starts another. The copy begins with a checkpoint, made by the process that switches
  // waiting on; so no commit that follows slips through.
  primary.wait_until("new settings", [&] {
    return ask(connect(primary.url()), "SHOW synchronous_standby_names") == kStandbyName;
  });
  std::unique_ptr<PostgresServer> standby(new PostgresServer(primary.options_, &primary));
  standby->wait_until("replication", [&] {
    return ask(connection, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") ==
           "1";
  });
  return standby;
}

void PostgresServer::fill(PostgresServer* primary) {
  if (primary == nullptr) {
    const EmptyCluster& empty = EmptyCluster::get();
    copy_directory(empty.data(), data_, log_);
    copy_directory(empty.wal(), wal_, log_);
    const std::string link = data_ + "/pg_wal";
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(wal_, link);
    return;
  }
  ChildProcess::run({program("pg_basebackup"), "--dbname=" + primary->url(), "--pgdata=" + data_,
                     "--waldir=" + wal_, "--checkpoint=fast", "--no-sync", "--write-recovery-conf"},
                    log_);
  // The copy has the primary's settings. It has no standby to wait for; the last line counts.
  std::ofstream(data_ + "/postgresql.auto.conf", std::ios::app)
      << "synchronous_standby_names = ''\n";
}

void PostgresServer::start() {
  std::vector<std::string> command{program("postgres"), "-D", data_, "-k", directory_.path()};
  const auto set = [&](const std::string& setting) {
    command.push_back("-c");
    command.push_back(setting);
  };
  set("listen_addresses=");
  set("port=5432");  // names the socket
  set(options_.fsync ? "fsync=on" : "fsync=off");
  set("shared_buffers=32MB");
  // In the data directory, where it is removed with everything else.
  set("dynamic_shared_memory_type=mmap");
  // Parallel statements would need room in the data directory for that.
  if (options_.data_bytes_max > 0) set("max_parallel_workers_per_gather=0");
  if (options_.wal_bytes_max > 0) {
    set("restart_after_crash=off");
  }
  if (is_standby_) {
    set(std::string("cluster_name=") + kStandbyName);
    set("wal_retrieve_retry_interval=50ms");
  }
  for (const std::string& setting : options_.settings) set(setting);
  process_.emplace(command, log_);
  wait_until("its start", [&] {
    const LockFile lock(data_);
    return lock.process == process_->id() && lock.state == "ready";
  });
}

template <class Condition>
void PostgresServer::wait_until(const char* what, Condition condition) const {
  const auto limit = steady_clock::now() + kPatience;
  while (!condition()) {
    const bool ended = process_->ends_within(kBetweenLooks);
    if (ended || steady_clock::now() > limit) {
      throw std::runtime_error(std::string("PostgreSQL ") + (ended ? "ended" : "is too slow") +
                               ", waiting for " + what + ":\n" + end_of(log_));
    }
  }
}

std::string PostgresServer::url(std::string_view database) const {
  return "postgres://quipu@/" + std::string(database) + "?host=" + host() + "&port=5432";
}

std::string PostgresServer::socket() const { return directory_ / ".s.PGSQL.5432"; }

std::string PostgresServer::make_database(const std::string& name) {
  ask(connect(url()), "CREATE DATABASE \"" + name + "\"");
  return url(name);
}

void PostgresServer::kill_hard() {
  kill_family(process_->id());
  process_->wait();
  process_.reset();
  // A machine that fails would not leave this behind. It marks the data directory as being in use.
  const int memory = LockFile(data_).memory;
  if (memory >= 0) ::shmctl(memory, IPC_RMID, nullptr);
}

void PostgresServer::start_again() {
  if (process_) process_->wait();
  start();
}

void PostgresServer::promote() {
  if (ask(connect(url()), "SELECT pg_promote()") != "t") {
    throw std::runtime_error("the standby was not promoted:\n" + end_of(log_));
  }
}

void PostgresServer::resize_disks(std::uint64_t bytes) {
  if (data_disk_) data_disk_->resize(bytes);
  if (wal_disk_) wal_disk_->resize(bytes);
}

}  // namespace quipu::test
