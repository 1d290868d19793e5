#include "sql/postgres_engine.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/siphash.h"
#include "base/try.h"
#include "sql/libpq.h"
#include "sql/postgres_error.h"
#include "sql/postgres_params.h"

namespace quipu::sql {
namespace {

using std::chrono::nanoseconds;

constexpr auto kCancelWait = std::chrono::seconds(2);
constexpr const char* kNoWait = "SELECT set_config('synchronous_commit', 'off', true)";
constexpr const char* kWait = "SELECT set_config('synchronous_commit', 'on', true)";

struct Clear {
  const Libpq* pq;
  void operator()(PGresult* result) const { pq->clear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

class PostgresRows : public Rows {
 public:
  PostgresRows(const Libpq& pq, Answer answer)
      : pq_(pq), answer_(std::move(answer)), rows_(pq.ntuples(answer_.get())) {}
  Result<bool> next() override { return ++row_ < rows_; }
  std::int64_t integer(int column) const override { return read_integer(text(column)); }
  std::string_view text(int column) const override {
    return {pq_.getvalue(answer_.get(), row_, column),
            static_cast<std::size_t>(pq_.getlength(answer_.get(), row_, column))};
  }
  bool is_null(int column) const override {
    return pq_.getisnull(answer_.get(), row_, column) != 0;
  }

 private:
  const Libpq& pq_;
  Answer answer_;
  int rows_;
  int row_ = -1;
};

// Same name, same text: behind a pooler others may have prepared it already.
std::string statement_name(std::string_view sql) {
  const std::uint64_t hash = siphash({0x7175697075, 0x73716c}, sql);
  char name[32];
  std::snprintf(name, sizeof name, "quipu_%016llx", static_cast<unsigned long long>(hash));
  return name;
}

class PostgresEngine : public Engine {
 public:
  PostgresEngine(const Libpq& pq, PGconn* connection, const PostgresOptions& options)
      : pq_(pq),
        connection_(connection, End{&pq}),
        clock_(*options.clock),
        call_wait_(options.call_wait),
        schema_(quoted_name(options.schema)),
        prefix_(schema_ + ".") {
    pq_.setNoticeReceiver(connection, &PostgresEngine::note, this);
  }

  static Result<std::unique_ptr<Engine>> open(const std::string& url,
                                              const PostgresOptions& options);

  Result<std::unique_ptr<Rows>> ask(const Text& text, std::span<const Param> params) override {
    const Command command{.text = text, .params = {params.begin(), params.end()}};
    TRY_ASSIGN(Answer answer, round_trip({&command, 1}));
    return std::unique_ptr<Rows>(std::make_unique<PostgresRows>(pq_, std::move(answer)));
  }

  Result<void> commit(std::span<const Command> commands, Sync sync) override {
    std::vector<Command> all;
    const bool must_say = sync == Sync::kLater || !waits_by_default_;
    if (must_say) {
      all.reserve(commands.size() + 1);
      all.push_back({.text = sync == Sync::kLater ? kNoWait : kWait});
      all.insert(all.end(), commands.begin(), commands.end());
      commands = all;
    }
    unsure_ = false;
    auto done = round_trip(commands);
    if (done.ok() && !unsure_) return {};
    if (unsure_) {
      return Error(Code::kDurabilityUnknown, "the server did not wait for its standby");
    }
    if (!is_usable_ && done.error().code() == Code::kStorageGone) {
      return Error(Code::kDurabilityUnknown,
                   "the connection ended before the answer: " + done.error().message());
    }
    return std::move(done).error();
  }

  Result<std::string> back_up(std::string_view) override {
    return Error(Code::kUnsupported, "a backup of a PostgreSQL database is not made from here")
        .with_hint("make one with pg_dump or the server's own means");
  }

  // In a thread of its own, because libpq waits for ever on a server that does not answer.
  // Whether it worked is seen on the connection itself.
  void cancel() override {
    PGcancel* cancel = pq_.getCancel(connection_.get());
    if (cancel == nullptr) return;
    try {
      std::thread([pq = &pq_, cancel] {
        char ignored[256];
        pq->cancel(cancel, ignored, sizeof ignored);
        pq->freeCancel(cancel);
      }).detach();
    } catch (const std::system_error&) {  // no thread to be had
      pq_.freeCancel(cancel);
    }
  }

  bool is_usable() const override { return is_usable_; }

  void abandon() override {
    [[maybe_unused]] PGconn* leaked = connection_.release();
    is_usable_ = false;
  }

 private:
  struct End {
    const Libpq* pq;
    void operator()(PGconn* connection) const { pq->finish(connection); }
  };

  static void note(void* engine, const PGresult* notice) {
    auto* self = static_cast<PostgresEngine*>(engine);
    const char* severity = self->pq_.resultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    // Committed here, and perhaps not on the standby that was to be waited for. Nothing but its
    // words, which may be in any language, tells that warning from others.
    if (severity != nullptr && std::string_view(severity) == "WARNING") self->unsure_ = true;
  }

  Result<void> begin();

  Result<Answer> round_trip(std::span<const Command> commands) {
    if (!is_usable_) return gone("the connection was lost");
    auto answer = attempt(commands);
    if (answer.ok() || !prepares_ || !is_about_prepared(state_)) return answer;
    prepares_ = false;
    return attempt(commands);
  }

  Result<Answer> attempt(std::span<const Command> commands) {
    const nanoseconds deadline = clock_.monotonic() + call_wait_;
    state_.clear();
    sent_.clear();
    for (const Command& command : commands) TRY(send(command));
    if (pq_.pipelineSync(connection_.get()) == 0) return lost();
    TRY(flush(deadline));
    return receive(deadline);
  }

  Result<void> send(const Command& command) {
    const Text& text = command.text;
    const bool is_one = text.kinds != nullptr && command.params.size() == std::strlen(text.kinds);
    const std::string& sql = expanded_text(is_one ? text.sqlite : text.postgres);
    const PostgresParams params(is_one ? nullptr : text.kinds, command.params);
    PGconn* connection = connection_.get();
    if (!prepares_) {
      sent_.emplace_back();
      const int sent = pq_.sendQueryParams(connection, sql.c_str(), params.count(), params.types(),
                                           params.values(), params.lengths(), params.formats(), 1);
      return sent != 0 ? Result<void>() : lost();
    }
    const std::string name = statement_name(sql);
    if (prepared_.insert(name).second) {
      if (pq_.sendPrepare(connection, name.c_str(), sql.c_str(), params.count(), params.types()) ==
          0) {
        return lost();
      }
      sent_.push_back(name);
    }
    sent_.emplace_back();
    const int sent = pq_.sendQueryPrepared(connection, name.c_str(), params.count(),
                                           params.values(), params.lengths(), params.formats(), 1);
    return sent != 0 ? Result<void>() : lost();
  }

  // Sends what is buffered, and takes in what comes meanwhile: both sides may have to
  // wait for each other otherwise.
  Result<void> flush(nanoseconds deadline) {
    for (;;) {
      const int left = pq_.flush(connection_.get());
      if (left == 0) return {};
      if (left < 0) return lost();
      TRY_ASSIGN(const short ready, wait(POLLIN | POLLOUT, deadline));
      if (ready == 0) return give_up();
      if ((ready & POLLIN) != 0 && pq_.consumeInput(connection_.get()) == 0) return lost();
    }
  }

  // The answer to the last command that has one, or the first error.
  Result<Answer> receive(nanoseconds deadline) {
    Answer last(nullptr, Clear{&pq_});
    std::optional<Error> failed;
    bool was_cancelled = false;
    for (std::size_t number = 0;;) {
      while (pq_.isBusy(connection_.get()) != 0) {
        TRY_ASSIGN(const short ready, wait(POLLIN, deadline));
        if (ready == 0) {
          // Others hold what we wait for: ended by the server, it has not happened.
          if (was_cancelled) return give_up();
          was_cancelled = true;
          cancel();
          deadline = clock_.monotonic() + kCancelWait;
        } else if (pq_.consumeInput(connection_.get()) == 0) {
          return lost();
        }
      }
      Answer result(pq_.getResult(connection_.get()), Clear{&pq_});
      if (result == nullptr) {
        if (pq_.status(connection_.get()) != CONNECTION_OK) return lost();
        continue;
      }
      const ExecStatusType status = pq_.resultStatus(result.get());
      if (status == PGRES_PIPELINE_SYNC) break;
      const std::string prepared = number < sent_.size() ? sent_[number++] : "";
      if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        last = std::move(result);
        continue;
      }
      prepared_.erase(prepared);  // was not
      if (status != PGRES_PIPELINE_ABORTED && !failed) failed = error_of(result.get());
    }
    // The cancel may arrive only now, and would meet the next call.
    if (was_cancelled) is_usable_ = false;
    if (failed) return *std::move(failed);
    return last;
  }

  Error error_of(const PGresult* result) {
    const char* state = pq_.resultErrorField(result, PG_DIAG_SQLSTATE);
    const char* text = pq_.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (text == nullptr) text = pq_.resultErrorMessage(result);
    state_ = state == nullptr ? "" : state;
    const char* severity = pq_.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const bool is_error = severity == nullptr || std::strcmp(severity, "ERROR") == 0;
    // FATAL and PANIC: the server goes, and what it was doing may have happened.
    if (!is_error || ends_connection(state_)) {
      is_usable_ = false;
      return gone(text == nullptr ? "" : text);
    }
    return postgres_error(state_, text == nullptr ? "" : text);
  }

  /// What is ready; 0 after the deadline.
  Result<short> wait(int events, nanoseconds deadline) {
    pollfd one{
        .fd = pq_.socket(connection_.get()), .events = static_cast<short>(events), .revents = 0};
    for (;;) {
      const nanoseconds left = deadline - clock_.monotonic();
      if (left <= nanoseconds::zero()) return short{0};
      const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
      const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(ms, 1 << 30)));
      if (ready > 0) return one.revents;
      if (ready < 0 && errno != EINTR) return lost();
    }
  }

  Error lost() {
    is_usable_ = false;
    const char* text = pq_.errorMessage(connection_.get());
    return gone(text == nullptr ? "" : text);
  }
  Error give_up() {
    is_usable_ = false;
    return gone("no answer in time");
  }
  static Error gone(const std::string& why) { return postgres_error("08006", why); }

  const std::string& expanded_text(const char* text) {
    auto& known = texts_[text];
    if (known.empty()) {
      known = expanded(text, {.table = prefix_,
                              .schema = schema_,
                              .key = "TEXT COLLATE \"C\"",
                              .bytes = "BYTEA",
                              .clustered = ""});
    }
    return known;
  }

  const Libpq& pq_;
  std::unique_ptr<PGconn, End> connection_;
  Clock& clock_;
  const nanoseconds call_wait_;
  const std::string schema_;
  const std::string prefix_;
  std::unordered_map<std::string, std::string> texts_;
  std::unordered_set<std::string> prepared_;
  std::vector<std::string> sent_;  // what each answer is to: the name to prepare, or a command
  std::string state_;              // SQLSTATE of the last error
  bool prepares_ = true;
  bool waits_by_default_ = false;
  bool unsure_ = false;
  bool is_usable_ = true;
};

Result<std::unique_ptr<Engine>> PostgresEngine::open(const std::string& url,
                                                     const PostgresOptions& options) {
  TRY_ASSIGN(const Libpq* pq, libpq());
  // libpq's own way of waiting is the only one by which it goes on to the next host when one
  // does not answer. What comes later counts: the URL may say otherwise.
  const std::string seconds =
      std::to_string(std::chrono::ceil<std::chrono::seconds>(options.connect_wait).count());
  const char* const names[] = {"connect_timeout", "dbname", nullptr};
  const char* const values[] = {seconds.c_str(), url.c_str(), nullptr};
  PGconn* raw = pq->connectdbParams(names, values, 1);
  if (raw == nullptr) return Error(Code::kNoMemory, "no memory for a connection");
  auto engine = std::make_unique<PostgresEngine>(*pq, raw, options);
  if (pq->status(raw) != CONNECTION_OK) return postgres_connect_error(pq->errorMessage(raw));
  TRY(engine->begin());
  return std::unique_ptr<Engine>(std::move(engine));
}

Result<void> PostgresEngine::begin() {
  if (pq_.setnonblocking(connection_.get(), 1) != 0 ||
      pq_.enterPipelineMode(connection_.get()) == 0) {
    return lost();
  }
  // `on` and `remote_apply` wait for the disk here, and there if there is a standby.
  TRY_ASSIGN(const auto setting, word("SELECT current_setting('synchronous_commit')"));
  waits_by_default_ = setting == "on" || setting == "remote_apply";
  return {};
}

}  // namespace

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

Result<std::unique_ptr<Engine>> open_postgres(const std::string& url,
                                              const PostgresOptions& options) {
  return PostgresEngine::open(url, options);
}

}  // namespace quipu::sql
