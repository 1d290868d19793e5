// Usage totals equal an independent count: by a counter that knows nothing of notes, views and
// keys. In what was imported it reads the records themselves, agent by agent; in the store's own
// form, the messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "base/json_scan.h"
#include "quipu/conversation.h"
#include "quipu/import.h"
#include "quipu/usage.h"
#include "support/agent_store.h"
#include "support/corpora.h"
#include "support/fresh_store.h"

namespace quipu {
namespace {

using test::Engine;
using test::FreshStore;
using test::must;

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
  std::string project;
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

std::vector<SessionSummary> sessions_of(Store& store) {
  return store.sessions()
      .list_sessions({.project = ProjectScope::all()}, {.after = {}, .limit = 1'000'000})
      .value()
      .items;
}

class NaiveCount {
 public:
  explicit NaiveCount(Store& store) : store_(store) {
    std::vector<SessionSummary> sessions = sessions_of(store);
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
      if (entry.inherited) continue;
      if (entry.type == "message") {
        native(entry);
        continue;
      }
      if (session.agent_id == "claude") claude(entry);
      if (session.agent_id == "codex") codex(entry);
      if (session.agent_id == "pi") pi(entry);
      if (session.agent_id == "gemini") gemini(entry);
      if (session.agent_id == "opencode") opencode(entry);
    }
  }

  void note(const Entry& entry, std::string key, const std::string& model, Numbers numbers) {
    if (key.empty()) key = session_.session_id + " " + entry.id;
    if (entry.type != "message") key = session_.agent_id + " " + key;
    const auto known = requests_.find(key);
    if (known != requests_.end() && known->second.session != session_.session_id) return;
    numbers.requests = 1;
    requests_[key] = {.session = session_.session_id,
                      .agent = session_.agent_id,
                      .project = session_.project_id,
                      .model = model.empty() ? session_.model : model,
                      .day = entry.timestamp.substr(0, 10),
                      .numbers = numbers};
  }

  void native(const Entry& entry) {
    const auto message = lift_message(entry.type, entry.payload);
    ASSERT_TRUE(message.ok());
    if (!message->usage) return;
    const Usage& usage = *message->usage;
    note(entry, message->request_id, message->model,
         {.in = usage.tokens_in.value_or(0),
          .out = usage.tokens_out.value_or(0),
          .cache_read = usage.cache_read.value_or(0),
          .cache_write = usage.cache_write.value_or(0),
          .reasoning = usage.reasoning.value_or(0),
          .cost_nano_usd = nano(usage.cost_usd.value_or(0))});
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

void expect_same(Store& store, const NaiveCount& naive) {
  const std::pair<UsageBy, std::string Request::*> groups[] = {
      {UsageBy::kAgent, &Request::agent},
      {UsageBy::kProject, &Request::project},
      {UsageBy::kModel, &Request::model},
      {UsageBy::kDay, &Request::day},
      {UsageBy::kSession, &Request::session}};
  for (const auto& [by, what] : groups) {
    SCOPED_TRACE(static_cast<int>(by));
    expect_same(store, by, naive.by(what));
  }
}

// In projects, which the corpora do not have.
std::string project_of(const std::string& session) {
  return "p" + std::to_string(std::hash<std::string>()(session) % 3);
}

void import_from(Store& store, const std::string& place) {
  Importer importer(store);
  const auto found = importer.find({.agents = {}, .paths = {place}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(
      importer.run(found->sources, {}, [](const ImportReport& report) { return !report.error; })
          .ok());
}

constexpr Engine kEngines[] = {Engine::kMemory, Engine::kFile, Engine::kSqlite, Engine::kPostgres};

TEST(UsageCorpus, TotalsAreThoseOfAnIndependentCount) {
  const std::string place = corpora();
  if (place.empty()) return;
  for (const Engine engine : kEngines) {
    const FreshStore fresh(engine);
    Store store = must(Store::open(fresh.url(), {.create = true}));
    for (const char* time : {"once", "twice"}) {
      SCOPED_TRACE(fresh.url() + time);
      import_from(store, place);
      const NaiveCount naive(store);
      EXPECT_GT(naive.total().requests, 1000u);
      EXPECT_GT(naive.total().cost_nano_usd, 0);
      expect_same(store, naive);
    }
    for (const SessionSummary& session : sessions_of(store)) {
      NewEntry info;
      info.type = "session_info";
      info.payload = R"({"projectId":")" + project_of(session.session_id) + R"("})";
      must(store.sessions().append_session_entries(session.session_id, {&info, 1}));
    }
    const NaiveCount naive(store);
    EXPECT_EQ(naive.by(&Request::project).size(), 3u);
    expect_same(store, naive);
  }
}

// What was said there, as messages of the store's own.
void rewrite(Store& from, Store& to) {
  for (const SessionSummary& session : sessions_of(from)) {
    NewSession made;
    made.id = session.session_id;
    made.agent_id = session.agent_id;
    made.project_id = project_of(session.session_id);
    must(to.sessions().create_session(made));
    for (const Utterance& said : must(read_conversation(from, session.session_id))) {
      NewEntry entry;
      entry.type = "message";
      entry.timestamp = said.timestamp;
      entry.payload = encode_message(said.message);
      // Members that nobody here knows are laid out as in their file.
      std::replace(entry.payload.begin(), entry.payload.end(), '\n', ' ');
      must(to.sessions().append_session_entries(session.session_id, {&entry, 1}));
    }
  }
}

TEST(UsageCorpus, SoAreThoseOfTheSameMessagesInOurOwnForm) {
  const std::string place = corpora();
  if (place.empty()) return;
  Store imported = must(Store::open("memory:"));
  import_from(imported, place);
  Store store = must(Store::open("memory:"));
  rewrite(imported, store);
  const NaiveCount naive(store);
  // Messages of Codex do not say what they took: it has records of their own for that.
  auto agents = naive.by(&Request::agent);
  for (const char* agent : {"claude", "gemini", "opencode", "pi"}) {
    EXPECT_GT(agents[agent].requests, 10u) << agent;
  }
  expect_same(store, naive);
}

unsigned test_seed() {
  const char* given = std::getenv("QUIPU_TEST_SEED");
  const auto seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  std::cerr << "QUIPU_TEST_SEED=" << seed << '\n';
  return static_cast<unsigned>(seed);
}

// Sessions that repeat requests of their own and of each other, some as forks and as copies.
class GeneratedStore {
 public:
  GeneratedStore(Store& store, unsigned seed) : store_(store), random_(seed) {
    for (int i = 0; i < 300; ++i) step();
  }

 private:
  void step() {
    if (sessions_.empty() || one_of(20) == 0) return begin();
    const std::string session = sessions_[one_of(sessions_.size())];
    const NewEntry entry = answer();
    must(store_.sessions().append_session_entries(session, {&entry, 1}));
    if (one_of(20) == 0) branch(session);
  }

  void begin() {
    NewSession made;
    made.id = next_id();
    made.agent_id = "a" + std::to_string(one_of(3));
    made.project_id = "p" + std::to_string(one_of(3));
    must(store_.sessions().create_session(made));
  }

  void branch(const std::string& session) {
    ForkOptions options;
    options.new_id = next_id();
    options.detach = one_of(2) == 0;
    const std::string head = must(store_.sessions().describe_session(session)).head;
    must(store_.sessions().branch_from_entry(session, head, options));
  }

  NewEntry answer() {
    Message message = Message::assistant("ok");
    if (one_of(4) != 0) message.request_id = "r" + std::to_string(one_of(100));
    if (one_of(4) != 0) message.model = "m" + std::to_string(one_of(4));
    Usage usage;
    for (auto* count : {&usage.tokens_in, &usage.tokens_out, &usage.cache_read, &usage.cache_write,
                        &usage.reasoning}) {
      if (one_of(3) != 0) *count = one_of(100'000);
    }
    if (one_of(3) == 0) usage.cost_usd = static_cast<double>(one_of(10'000'000)) / 1e6;
    if (one_of(5) != 0) message.usage = usage;
    NewEntry entry;
    entry.type = "message";
    entry.timestamp = "2026-03-0" + std::to_string(1 + one_of(9)) + "T12:00:00.000Z";
    entry.payload = encode_message(message);
    return entry;
  }

  std::string next_id() { return sessions_.emplace_back("s" + std::to_string(sessions_.size())); }
  std::size_t one_of(std::size_t count) { return random_() % count; }

  Store& store_;
  std::mt19937 random_;
  std::vector<std::string> sessions_;
};

TEST(UsageCount, OfGeneratedSessionsIsThatOfAnIndependentCount) {
  const unsigned seed = test_seed();
  for (const Engine engine : kEngines) {
    const FreshStore fresh(engine);
    SCOPED_TRACE(fresh.url());
    Store store = must(Store::open(fresh.url(), {.create = true}));
    const GeneratedStore generated(store, seed);
    const NaiveCount naive(store);
    EXPECT_GT(naive.total().requests, 50u);
    expect_same(store, naive);
  }
}

}  // namespace
}  // namespace quipu
