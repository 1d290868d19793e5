// Servers that are there and say nothing: every call comes to an end, in the time that it was
// given and two seconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <sstream>

#include "fault/postgres_fixture.h"

namespace quipu::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// A port at which connections are made by the system and nobody ever answers.
class SilentPort {
 public:
  SilentPort() : file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(file_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(file_, 16) != 0 ||
        ::getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port");
    }
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() { ::close(file_); }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;
  std::string port() const { return std::to_string(port_); }

 private:
  int file_;
  int port_ = 0;
};

template <class Call>
auto timed(Call call, milliseconds& took) {
  const auto begin = steady_clock::now();
  auto result = call();
  took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  return result;
}

constexpr milliseconds kPatience{100};
// Two seconds more for the cancel, and as much as a busy machine may want.
constexpr milliseconds kEndMax{20'000};

class PostgresHang : public OnPostgres {
 protected:
  std::unique_ptr<sql::Engine> engine(const std::string& url, milliseconds wait = kPatience) {
    sql::PostgresOptions options;
    options.call_wait = wait;
    return must(sql::open_postgres(url, options));
  }
  std::string rows() const { return ask(direct_, "SELECT count(*) FROM quipu.t"); }
  void SetUp() override { ask(direct_, "CREATE TABLE quipu.t (n int PRIMARY KEY)"); }

  const sql::Command insert_{.text = "INSERT INTO @t VALUES ($1::int8)", .params = {7}};
};

// What the server did with a commit that it was sent is not known, whether the commit got
// through or the answer did not.
TEST_F(PostgresHang, SilenceEndsACallAndSaysWhatIsKnown) {
  CuttingProxy lost_question(server_.socket());
  CuttingProxy lost_answer(server_.socket());
  CuttingProxy lost_read(server_.socket());
  const auto commit_at = [&](CuttingProxy& proxy, ProxyFault fault) {
    return std::async(std::launch::async, [&, fault] {
      const auto hanging = engine(proxy.url(name_));
      proxy.arm(fault);
      milliseconds took{};
      const auto done = timed([&] { return hanging->commit({&insert_, 1}); }, took);
      EXPECT_GE(took, kPatience);
      EXPECT_LT(took, kEndMax);
      EXPECT_FALSE(hanging->is_usable());
      return code_of(done);
    });
  };
  auto question = commit_at(lost_question, {.message = 1, .hangs = true});
  EXPECT_EQ(question.get(), Code::kDurabilityUnknown);
  lost_question.wait_until_settled();
  EXPECT_EQ(rows(), "0");
  auto answer = commit_at(lost_answer, {.sender = Sender::kServer, .message = 1, .hangs = true});
  auto read = std::async(std::launch::async, [&] {
    const auto hanging = engine(lost_read.url(name_));
    lost_read.arm({.sender = Sender::kServer, .message = 1, .hangs = true});
    milliseconds took{};
    const auto asked = timed([&] { return hanging->number("SELECT 1"); }, took);
    EXPECT_LT(took, kEndMax);
    return code_of(asked);
  });
  EXPECT_EQ(answer.get(), Code::kDurabilityUnknown);
  EXPECT_EQ(read.get(), Code::kStorageGone);
  lost_answer.wait_until_settled();
  EXPECT_EQ(rows(), "1");
}

// Others hold what it needs: the server ends it, and that it has not happened is known.
TEST_F(PostgresHang, WaitingForOthersEndsBusy) {
  const auto waiting = engine(url_);
  ask(direct_, "BEGIN");
  ask(direct_, "INSERT INTO quipu.t VALUES (7)");
  EXPECT_EQ(code_of(waiting->commit({&insert_, 1})), Code::kBusy);
  EXPECT_FALSE(waiting->is_usable()) << "a cancel that comes late would meet the next call";
  ask(direct_, "ROLLBACK");
  EXPECT_EQ(rows(), "0");
  must(engine(url_)->commit({&insert_, 1}));
  EXPECT_EQ(rows(), "1");
}

// Nobody takes even the cancel.
TEST_F(PostgresHang, StoppedServerEndsACall) {
  PostgresServer server;
  const auto hanging = engine(server.url());
  const auto witness = connect(server.url());
  std::vector<pid_t> stopped;
  std::istringstream processes(
      ask(witness,
          "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1) || ' ' ||"
          " string_agg(pid::text, ' ') FROM pg_stat_activity"));
  for (pid_t process = 0; processes >> process;) stopped.push_back(process);
  ASSERT_GE(stopped.size(), 3u);
  for (const pid_t process : stopped) ::kill(process, SIGSTOP);
  milliseconds took{};
  const auto asked = timed([&] { return hanging->number("SELECT 1"); }, took);
  for (const pid_t process : stopped) ::kill(process, SIGCONT);
  EXPECT_EQ(code_of(asked), Code::kStorageGone);
  EXPECT_LT(took, kEndMax);
}

TEST_F(PostgresHang, HostThatDoesNotAnswerIsPassedOver) {
  const SilentPort silent;
  const CuttingProxy proxy(server_.socket());
  const std::string url = proxy.url(name_);
  const std::size_t colon = url.rfind(':');
  const std::string both = url.substr(0, colon) + ":" + silent.port() + "," +
                           url.substr(url.find('@') + 1, colon - url.find('@') - 1) +
                           url.substr(colon);
  sql::PostgresOptions options;
  options.connect_wait = milliseconds(100);  // two seconds, to libpq
  milliseconds took{};
  const auto opened = timed([&] { return sql::open_postgres(both, options); }, took);
  EXPECT_EQ(code_of(opened), std::nullopt) << both;
  EXPECT_LT(took, kEndMax);

  const std::string alone = url.substr(0, colon) + ":" + silent.port() + "/" + name_;
  const auto refused = timed([&] { return sql::open_postgres(alone, options); }, took);
  EXPECT_EQ(code_of(refused), Code::kStorageGone) << alone;
  EXPECT_LT(took, kEndMax);
}

// The same through a store: an append to a server that swallows it goes on by itself.
TEST_F(PostgresHang, StoreGoesOnAfterSilence) {
  CuttingProxy proxy(server_.socket());
  const std::string session = new_session("s");
  const auto open = [&]() -> Result<std::unique_ptr<sql::Engine>> {
    sql::PostgresOptions options;
    options.call_wait = kPatience;
    return sql::open_postgres(proxy.url(name_), options);
  };
  Store store(must(sqlstore::SqlBackend::open(open, nullptr, Clock::system(), Random::system(),
                                              {.create = false, .wait = seconds(20)})));
  must(store.sessions().append_session_entries(session, batch_of("a", 1)));
  proxy.arm({.sender = Sender::kServer, .message = 2, .hangs = true});
  const auto done = must(store.sessions().append_session_entries(session, batch_of("b", 2)));
  EXPECT_TRUE(proxy.fired());
  EXPECT_EQ(done.appended_count, 2u);
  EXPECT_EQ(stored_ids(direct_, session), "a-0 b-0 b-1 ");
}

}  // namespace
}  // namespace quipu::test
