// The agent of docs/resume.md, killed at random moments while others talk to it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "quipu/quipu.hpp"
#include "support/provider_rules.h"
#include "support/scale.h"

extern char** environ;

namespace quipu::fault {
namespace {

class AgentKill : public testing::Test {
 protected:
  AgentKill() : seed_(std::random_device{}()), random_(seed_) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    std::string pattern = (std::filesystem::temp_directory_path() / "agent-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    directory_ = pattern;
    auto store = Store::open(directory_ + "/store", {.create = true});
    EXPECT_TRUE(store.ok());
    EXPECT_TRUE(store->sessions().create_session({.id = "s"}).ok());
  }
  ~AgentKill() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  Store open() {
    auto store = Store::open(directory_ + "/store");
    EXPECT_TRUE(store.ok()) << store.error().message();
    return std::move(store).value();
  }

  // Lets the agent run until it leaves or its time is up; notes what it said.
  // True when it left by itself.
  bool run_agent(int microseconds) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const std::string store = directory_ + "/store";
    const char* arguments[] = {QUIPU_AGENT, store.c_str(), "s", nullptr};
    pid_t agent = -1;
    EXPECT_EQ(::posix_spawn(&agent, QUIPU_AGENT, &actions, nullptr,
                            const_cast<char* const*>(arguments), environ),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    const timespec limit{.tv_sec = microseconds / 1'000'000,
                         .tv_nsec = microseconds % 1'000'000 * 1000L};
    talk_to_agent();
    // The pipe closes when the agent ends: waiting for that is waiting for either.
    pollfd closed{.fd = ends[0], .events = 0, .revents = 0};
    const bool left = ::ppoll(&closed, 1, &limit, nullptr) > 0;
    if (!left) ::kill(agent, SIGKILL);
    int status = 0;
    ::waitpid(agent, &status, 0);
    read_said(ends[0]);
    ::close(ends[0]);
    EXPECT_TRUE(!left || status == 0) << "the agent failed";
    return left;
  }

  void read_said(int from) {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(from, buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    // A line without its end was never said.
    for (std::size_t feed; (feed = text.find('\n')) != std::string::npos;) {
      said_.insert(text.substr(0, feed));
      text.erase(0, feed + 1);
    }
  }

  // A person: asks, and answers some of what the agent asks.
  void talk_to_agent() {
    Store store = open();
    Runtime runtime(store, "s");
    if (random_() % 2 == 0) {
      const std::string question = "question " + std::to_string(++asked_);
      const auto queued =
          runtime.enqueue(encode_message(Message::user(question)), "q" + std::to_string(asked_));
      ASSERT_TRUE(queued.ok()) << queued.error().message();
    }
    const auto pending = runtime.pending_permissions();
    ASSERT_TRUE(pending.ok());
    for (const PendingPermission& one : *pending) {
      if (random_() % 2 == 0) continue;
      const bool allow = random_() % 2 == 0;
      const auto resolved = runtime.resolve_permission(one.request_id, allow ? "allow" : "deny");
      ASSERT_TRUE(resolved.ok()) << resolved.error().message();
      resolved_.insert(one.request_id);
      if (!allow) denied_.insert(one.request_id);
    }
  }

  void check() {
    Store store = open();
    const auto context = build_context(store, "s", {.provider = Provider::kAnthropic});
    ASSERT_TRUE(context.ok()) << context.error().message();
    if (context->messages > 0) {
      ASSERT_EQ(objection(Provider::kAnthropic, context->request), "");
    }
    const auto entries = store.sessions().load_session_entries("s");
    ASSERT_TRUE(entries.ok());
    std::set<std::string> ids;
    std::map<std::string, int> results;
    for (const Entry& entry : *entries) {
      ids.insert(entry.id);
      if (entry.type != "message") continue;
      const auto message = lift_message(entry.type, entry.payload);
      ASSERT_TRUE(message.ok());
      for (const Part& part : message->parts) {
        if (part.type != PartType::kToolResult) continue;
        ++results[part.tool_use_id];
        ASSERT_EQ(part.is_error, denied_.contains(part.tool_use_id)) << part.tool_use_id;
      }
    }
    for (const std::string& id : said_) ASSERT_TRUE(ids.contains(id)) << id << " was lost";
    for (const auto& [call, count] : results) ASSERT_EQ(count, 1) << call;
    check_line(store);
    check_state(store, ids);
  }

  // The conversation never branched, and its end is the head.
  void check_line(Store& store) {
    const auto tree = store.sessions().session_tree("s");
    ASSERT_TRUE(tree.ok());
    ASSERT_TRUE(tree->branch_points().empty());
    if (tree->leaves().empty()) return;
    ASSERT_EQ(tree->leaves().size(), 1U);
    ASSERT_EQ(tree->head(), tree->leaves().front());
  }

  // Queue and conversation share out what was asked; questions stay open.
  void check_state(Store& store, const std::set<std::string>& ids) {
    const auto state = Runtime(store, "s").state();
    ASSERT_TRUE(state.ok());
    std::set<std::string> queued;
    for (const QueuedMessage& message : state->queued) queued.insert(message.queue_id);
    for (int i = 1; i <= asked_; ++i) {
      const std::string id = "q" + std::to_string(i);
      ASSERT_NE(queued.contains(id), ids.contains(id + ".message")) << id;
    }
    for (const PendingPermission& one : state->pending) {
      ASSERT_FALSE(resolved_.contains(one.request_id)) << one.request_id;
    }
    for (const std::string& request : pending_) {
      const bool is_pending =
          std::any_of(state->pending.begin(), state->pending.end(),
                      [&](const auto& one) { return one.request_id == request; });
      ASSERT_TRUE(is_pending || resolved_.contains(request)) << request << " was forgotten";
    }
    for (const PendingPermission& one : state->pending) pending_.insert(one.request_id);
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::string directory_;
  int asked_ = 0;
  std::set<std::string> said_;
  std::set<std::string> resolved_;
  std::set<std::string> denied_;
  std::set<std::string> pending_;
};

TEST_F(AgentKill, ResumesEachTimeWhereItWas) {
  const int wanted = static_cast<int>(std::max(20.0, 200 * test_scale()));
  int kills = 0;
  int rounds = 0;
  for (; kills < wanted && rounds < wanted * 20 && !HasFailure(); ++rounds) {
    if (!run_agent(static_cast<int>(random_() % 12'000))) ++kills;
    check();
  }
  // Left alone, it finishes what can be finished.
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    const bool left = run_agent(20'000'000);
    ASSERT_TRUE(left);
    check();
    Store store = open();
    const auto state = Runtime(store, "s").state();
    ASSERT_TRUE(state.ok());
    if (state->queued.empty() && state->pending.empty() && state->open_tool_calls.empty()) break;
  }
  std::printf("%d kills in %d rounds, %d questions, %zu acknowledged, %zu permissions\n", kills,
              rounds, asked_, said_.size(), resolved_.size());
  EXPECT_EQ(kills, wanted);
  // How much of it is said in so little time depends on the machine.
  EXPECT_GT(said_.size(), static_cast<std::size_t>(wanted) / 20);
}

}  // namespace
}  // namespace quipu::fault
