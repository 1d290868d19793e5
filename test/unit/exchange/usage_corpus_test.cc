// Usage totals equal an independent count over the corpora: by a counter that knows nothing of
// notes, views and keys. It reads the records themselves, agent by agent.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/json_scan.h"
#include "quipu/import.h"
#include "quipu/usage.h"
#include "support/corpora.h"

namespace quipu {
namespace {

struct Numbers {
  std::uint64_t requests = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  std::uint64_t reasoning = 0;
  std::int64_t cost_nano_usd = 0;

  bool operator==(const Numbers&) const = default;
  Numbers& operator+=(const Numbers& more) {
    requests += more.requests;
    in += more.in;
    out += more.out;
    cache_read += more.cache_read;
    cache_write += more.cache_write;
    reasoning += more.reasoning;
    cost_nano_usd += more.cost_nano_usd;
    return *this;
  }
};

std::ostream& operator<<(std::ostream& out, const Numbers& n) {
  return out << n.requests << " requests, " << n.in << " in, " << n.out << " out, " << n.cache_read
             << " read, " << n.cache_write << " written, " << n.reasoning << " reasoning, "
             << n.cost_nano_usd << " nano-dollars";
}

struct Request {
  std::string session;
  std::string agent;
  std::string model;
  std::string day;
  Numbers numbers;
};

// ---- JSON, the slow way

std::string_view in(std::string_view object, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!object.starts_with('{')) return {};
    const auto member = json::find_member(object, key);
    object = member ? member->value : std::string_view();
  }
  return object;
}
std::string text(std::string_view object, std::initializer_list<std::string_view> path) {
  const std::string_view value = in(object, path);
  return value.starts_with('"') ? json::decode_string(value) : std::string();
}
double number(std::string_view object, std::initializer_list<std::string_view> path) {
  const std::string_view value = in(object, path);
  double read = 0;
  std::from_chars(value.data(), value.data() + value.size(), read);
  return read;
}
std::uint64_t count(std::string_view object, std::initializer_list<std::string_view> path) {
  return static_cast<std::uint64_t>(number(object, path));
}
std::int64_t nano(double dollars) { return std::llround(dollars * 1e9); }

class NaiveCount {
 public:
  explicit NaiveCount(Store& store) : store_(store) {
    std::vector<SessionSummary> sessions =
        store.sessions()
            .list_sessions({.project = ProjectScope::all()}, {.after = {}, .limit = 1'000'000})
            .value()
            .items;
    std::sort(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) {
      return std::pair(a.created, a.session_id) < std::pair(b.created, b.session_id);
    });
    for (const SessionSummary& session : sessions) count_session(session);
  }

  std::map<std::string, Numbers> by(const std::string Request::*what) const {
    std::map<std::string, Numbers> sums;
    for (const auto& [key, request] : requests_) sums[request.*what] += request.numbers;
    return sums;
  }
  Numbers total() const {
    Numbers sum;
    for (const auto& [key, request] : requests_) sum += request.numbers;
    return sum;
  }

 private:
  // Several agents' side of one conversation do not occur in the corpora.
  void count_session(const SessionSummary& session) {
    session_ = session;
    root_.clear();
    thread_.clear();
    totals_.clear();
    turn_model_.clear();
    const auto entries = store_.sessions().load_session_entries(session.session_id);
    ASSERT_TRUE(entries.ok());
    for (Entry entry : *entries) {
      // What is spread over several lines of its file is stored as text.
      if (std::string raw = text(entry.payload, {"raw"}); !raw.empty()) entry.payload = raw;
      if (session.agent_id == "claude") claude(entry);
      if (session.agent_id == "codex") codex(entry);
      if (session.agent_id == "pi") pi(entry);
      if (session.agent_id == "gemini") gemini(entry);
      if (session.agent_id == "opencode") opencode(entry);
    }
  }

  void note(const Entry& entry, std::string key, const std::string& model, Numbers numbers) {
    if (key.empty()) key = session_.session_id + " " + entry.id;
    key = session_.agent_id + " " + key;
    const auto known = requests_.find(key);
    if (known != requests_.end() && known->second.session != session_.session_id) return;
    numbers.requests = 1;
    requests_[key] = {.session = session_.session_id,
                      .agent = session_.agent_id,
                      .model = model.empty() ? session_.model : model,
                      .day = entry.timestamp.substr(0, 10),
                      .numbers = numbers};
  }

  // Every answer, several lines each, says what its request took so far.
  void claude(const Entry& entry) {
    const std::string_view usage = in(entry.payload, {"message", "usage"});
    const std::string model = text(entry.payload, {"message", "model"});
    if (entry.type != "claude.assistant" || !usage.starts_with('{')) return;
    if (model.empty() || model == "<synthetic>") return;
    if (in(entry.payload, {"isApiErrorMessage"}) == "true") return;
    const std::string id = text(entry.payload, {"message", "id"});
    const std::string key = id.empty() ? "" : id + " " + text(entry.payload, {"requestId"});
    note(entry, key, model,
         {.in = count(usage, {"input_tokens"}),
          .out = count(usage, {"output_tokens"}),
          .cache_read = count(usage, {"cache_read_input_tokens"}),
          .cache_write = count(usage, {"cache_creation_input_tokens"}),
          .cost_nano_usd = nano(number(entry.payload, {"costUSD"}))});
  }

  // Counts of a thread go up with each request; a fork begins with its parent's.
  void codex(const Entry& entry) {
    const std::string type = text(entry.payload, {"type"});
    if (type == "turn_context") {
      const std::string model = text(entry.payload, {"payload", "model"});
      if (!model.empty()) turn_model_ = model;
    }
    if (type == "session_meta") {
      const std::string id = text(entry.payload, {"payload", "id"});
      if (thread_.empty()) thread_ = root_ = id;
      if (id != thread_) root_ = id;
    }
    const std::string_view info = in(entry.payload, {"payload", "info"});
    if (text(entry.payload, {"payload", "type"}) != "token_count") return;
    const std::string_view total = in(info, {"total_token_usage"});
    const std::string_view last = in(info, {"last_token_usage"});
    if (total.empty() || last.empty() || total == totals_) return;
    totals_ = total;
    const std::uint64_t cached = count(last, {"cached_input_tokens"});
    note(entry, root_ + " " + std::string(total), turn_model_,
         {.in = count(last, {"input_tokens"}) - cached,
          .out = count(last, {"output_tokens"}),
          .cache_read = cached,
          .reasoning = count(last, {"reasoning_output_tokens"})});
  }

  void pi(const Entry& entry) {
    const std::string_view message = in(entry.payload, {"message"});
    const std::string_view usage = in(message, {"usage"});
    if (text(message, {"role"}) != "assistant" || usage.empty()) return;
    std::string key = text(message, {"responseId"});
    if (key.empty() && !in(message, {"timestamp"}).empty()) {
      key = text(entry.payload, {"id"}) + " " + std::string(in(message, {"timestamp"}));
    }
    note(entry, key, text(message, {"model"}),
         {.in = count(usage, {"input"}),
          .out = count(usage, {"output"}),
          .cache_read = count(usage, {"cacheRead"}),
          .cache_write = count(usage, {"cacheWrite"}),
          .reasoning = count(usage, {"reasoning"}),
          .cost_nano_usd = nano(number(usage, {"cost", "total"}))});
  }

  void gemini(const Entry& entry) {
    const std::string_view tokens = in(entry.payload, {"tokens"});
    if (entry.type != "gemini.message" || tokens.empty()) return;
    const std::uint64_t thoughts = count(tokens, {"thoughts"});
    const std::uint64_t cached = count(tokens, {"cached"});
    note(entry, text(entry.payload, {"id"}), text(entry.payload, {"model"}),
         {.in = count(tokens, {"input"}) - cached,
          .out = count(tokens, {"output"}) + thoughts,
          .cache_read = cached,
          .reasoning = thoughts});
  }

  // A row of a database, an element of an export, or a file of its own.
  void opencode(const Entry& entry) {
    std::string_view info = entry.payload;
    for (const std::string_view place : {"data", "info"}) {
      if (const std::string_view inner = in(entry.payload, {place}); !inner.empty()) info = inner;
    }
    const std::string_view tokens = in(info, {"tokens"});
    if (entry.type != "opencode.message" || tokens.empty()) return;
    const Numbers numbers{.in = count(tokens, {"input"}),
                          .out = count(tokens, {"output"}) + count(tokens, {"reasoning"}),
                          .cache_read = count(tokens, {"cache", "read"}),
                          .cache_write = count(tokens, {"cache", "write"}),
                          .reasoning = count(tokens, {"reasoning"}),
                          .cost_nano_usd = nano(number(info, {"cost"}))};
    if (numbers.in + numbers.out + numbers.cache_read + numbers.cache_write == 0) return;
    const std::string model = text(info, {"modelID"});
    note(entry, model + " " + std::string(in(info, {"time", "created"})), model, numbers);
  }

  Store& store_;
  SessionSummary session_;
  std::string thread_, root_, totals_, turn_model_;  // of the session
  std::map<std::string, Request> requests_;
};

Numbers numbers_of(const UsageSum& sum) {
  return {.requests = sum.requests,
          .in = sum.tokens_in,
          .out = sum.tokens_out,
          .cache_read = sum.cache_read,
          .cache_write = sum.cache_write,
          .reasoning = sum.reasoning,
          .cost_nano_usd = sum.cost_recorded_nano_usd};
}

void expect_same(Store& store, UsageBy by, std::map<std::string, Numbers> expected) {
  const auto report = UsageStore(store).aggregate({.by = by, .project = ProjectScope::all()});
  ASSERT_TRUE(report.ok());
  Numbers total;
  for (const auto& [name, numbers] : expected) total += numbers;
  EXPECT_EQ(numbers_of(report->total), total);
  for (const UsageGroup& group : report->groups) {
    EXPECT_EQ(numbers_of(group.sum), expected[group.name]) << "'" << group.name << "'";
    expected.erase(group.name);
  }
  for (const auto& [name, numbers] : expected) ADD_FAILURE() << name << ": " << numbers;
}

void import_from(Store& store, const std::string& place) {
  Importer importer(store);
  const auto found = importer.find({.agents = {}, .paths = {place}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(
      importer.run(found->sources, {}, [](const ImportReport& report) { return !report.error; })
          .ok());
}

TEST(UsageCorpus, TotalsAreThoseOfAnIndependentCount) {
  const std::string place = corpora();
  if (place.empty()) return;
  Store store = Store::open("memory:").value();
  for (const char* time : {"once", "twice"}) {
    SCOPED_TRACE(time);
    import_from(store, place);
    const NaiveCount naive(store);
    EXPECT_GT(naive.total().requests, 1000u);
    EXPECT_GT(naive.total().cost_nano_usd, 0);
    expect_same(store, UsageBy::kAgent, naive.by(&Request::agent));
    expect_same(store, UsageBy::kModel, naive.by(&Request::model));
    expect_same(store, UsageBy::kDay, naive.by(&Request::day));
    expect_same(store, UsageBy::kSession, naive.by(&Request::session));
  }
}

}  // namespace
}  // namespace quipu
