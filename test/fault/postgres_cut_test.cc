// Connections that end or fall silent at any message, while the server lives: a call goes on by
// itself on another connection, and does what it does once.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "fault/postgres_fixture.h"

namespace quipu::test {
namespace {

class PostgresCut : public OnPostgres {
 protected:
  // Calls `run` for every fault there is: it arms the proxy, makes its call and judges. False
  // from it: the fault has not happened, the call has no more messages. Gives the number of faults.
  std::size_t for_each_cut(const std::function<bool(const ProxyFault&)>& run) {
    // Less than all of them where the scale is less than one.
    const auto step = static_cast<std::size_t>(std::clamp(1 / test_scale(), 1.0, 10.0));
    std::size_t faults = 0;
    for (const Sender sender : {Sender::kClient, Sender::kServer}) {
      for (const bool passes : {false, true}) {
        for (std::size_t message = 1;; message += step) {
          SCOPED_TRACE((sender == Sender::kClient ? "client" : "server") +
                       std::string(" message ") + std::to_string(message) +
                       (passes ? ", passed on" : ""));
          proxy_.disarm();
          if (!run({.sender = sender, .message = message, .passes = passes}) || HasFailure()) break;
          ++faults;
        }
      }
    }
    return faults;
  }

  // A store that is not let in again once the fault has happened.
  Store store_without_way_back() {
    const auto open = [this]() -> Result<std::unique_ptr<sql::Engine>> {
      if (proxy_.fired()) return Error(Code::kStorageGone, "the server stays away");
      return sql::open_postgres(proxy_.url(name_), {});
    };
    return Store(must(sqlstore::SqlBackend::open(open, nullptr, Clock::system(), Random::system(),
                                                 {.create = false, .wait = {}})));
  }

  std::string next_session() { return "s" + std::to_string(++sessions_); }

  CuttingProxy proxy_{server_.socket()};
  int sessions_ = 0;
};

TEST_F(PostgresCut, AnywhereInAnAppendItIsStoredOnce) {
  enum Ids { kGiven, kFilledIn, kMixed };
  struct Call {
    std::size_t size;
    Ids ids;
    bool is_first;  // of this store: it has to look first
  };
  std::size_t faults = 0;
  for (const Call call : {Call{1, kGiven, true}, Call{1, kFilledIn, false}, Call{5, kGiven, false},
                          Call{5, kFilledIn, true}, Call{5, kMixed, false}}) {
    faults += for_each_cut([&](const ProxyFault& fault) {
      const std::string session = new_session(next_session());
      Store store = bare_store(proxy_.url(name_));
      SessionStore& sessions = store.sessions();
      if (!call.is_first) must(sessions.append_session_entries(session, batch_of("before", 1)));
      const std::string before = call.is_first ? "" : "before-0 ";

      auto batch = batch_of(call.ids == kFilledIn ? "" : session, call.size);
      if (call.ids == kMixed) batch[1].id.clear();
      proxy_.arm(fault);
      const auto done = must(sessions.append_session_entries(session, batch));
      const bool fired = proxy_.fired();
      if (fired) proxy_.wait_until_settled();
      EXPECT_EQ(done.appended_count, call.size);
      EXPECT_EQ(done.already_present, 0u);
      EXPECT_TRUE(done.durable);
      EXPECT_EQ(stored_ids(direct_, session), before + joined(done.entry_ids));

      proxy_.disarm();
      for (std::size_t i = 0; i < call.size; ++i) batch[i].id = done.entry_ids[i];
      const auto again = must(sessions.append_session_entries(session, batch));
      EXPECT_EQ(again.appended_count, 0u);
      EXPECT_EQ(again.already_present, call.size);
      EXPECT_EQ(stored_ids(direct_, session), before + joined(done.entry_ids));
      return fired;
    });
  }
  std::printf("connections cut in an append: %zu\n", faults);
  EXPECT_GT(faults, 20u);
}

TEST_F(PostgresCut, AnywhereInARepeatNothingIsAdded) {
  const std::string session = new_session("repeated");
  const auto batch = batch_of("e", 2);
  must(store_.sessions().append_session_entries(session, batch));
  const std::size_t faults = for_each_cut([&](const ProxyFault& fault) {
    Store store = bare_store(proxy_.url(name_));
    proxy_.arm(fault);
    const auto again = must(store.sessions().append_session_entries(session, batch));
    EXPECT_EQ(again.already_present, 2u);
    EXPECT_TRUE(again.durable);
    return proxy_.fired();
  });
  EXPECT_EQ(stored_ids(direct_, session), "e-0 e-1 ");
  EXPECT_GE(faults, 4u);
}

TEST_F(PostgresCut, AnywhereInACreateTheSessionIsMadeOnce) {
  const std::size_t faults = for_each_cut([&](const ProxyFault& fault) {
    Store store = bare_store(proxy_.url(name_));
    const std::string session = next_session();
    proxy_.arm(fault);
    must(store.sessions().create_session({.id = session}));
    const bool fired = proxy_.fired();
    if (fired) proxy_.wait_until_settled();
    EXPECT_EQ(stored_ids(direct_, session), "");
    EXPECT_EQ(
        ask(direct_, "SELECT count(*) FROM quipu.entries WHERE session_id = '" + session + "'"),
        "1");
    EXPECT_EQ(code_of(store.sessions().create_session({.id = session})), Code::kIdConflict);
    return fired;
  });
  std::printf("connections cut in a create: %zu\n", faults);
  EXPECT_GE(faults, 4u);
}

TEST_F(PostgresCut, SessionOfSomebodyElseIsNotTakenForOurs) {
  new_session("taken");
  for_each_cut([&](const ProxyFault& fault) {
    Store store = bare_store(proxy_.url(name_));
    proxy_.arm(fault);
    EXPECT_EQ(code_of(store.sessions().create_session({.id = "taken"})), Code::kIdConflict);
    return proxy_.fired();
  });
}

TEST_F(PostgresCut, SeveralNewLogsAreMadeOnce) {
  const std::size_t faults = for_each_cut([&](const ProxyFault& fault) {
    Store store = bare_store(proxy_.url(name_));
    const std::string session = next_session();
    const auto logs = [&] {
      std::vector<std::unique_ptr<NewLog>> all;
      for (const char* end : {"a", "b"}) {
        all.push_back(must(store.backend()->new_log(session + end)));
        const std::string payload = R"({"sessionId":")" + session + end + R"("})";
        must(all.back()->add({.id = "header",
                              .parent = std::nullopt,
                              .type = "session_header",
                              .timestamp = "2026-03-01T09:30:00.000Z",
                              .run_id = {},
                              .payload = payload,
                              .meta = {}}));
        must(all.back()->finish());
      }
      return all;
    };
    proxy_.arm(fault);
    EXPECT_EQ(must(store.backend()->create_all(logs())).size(), 0u) << "its own are no others'";
    const bool fired = proxy_.fired();
    EXPECT_EQ(must(store.backend()->create_all(logs())).size(), 2u);
    return fired;
  });
  EXPECT_GE(faults, 4u);
}

// The server stays away: the error says whether something may have happened, and a repeat, once
// it is back, leaves everything stored once.
TEST_F(PostgresCut, WithoutAWayBackTheErrorIsTrue) {
  std::map<std::string, int> answers;
  constexpr std::size_t kSize = 5;
  for_each_cut([&](const ProxyFault& fault) {
    const std::string session = new_session(next_session());
    Store store = store_without_way_back();
    const auto batch = batch_of(session, kSize);
    proxy_.arm(fault);
    const auto done = store.sessions().append_session_entries(session, batch);
    const bool fired = proxy_.fired();
    if (fired) proxy_.wait_until_settled();
    std::string whole;
    for (const NewEntry& entry : batch) whole += entry.id + " ";
    const std::string stored = stored_ids(direct_, session);
    EXPECT_TRUE(stored.empty() || stored == whole) << stored;
    const auto code = code_of(done);
    if (!code) {
      EXPECT_EQ(stored, whole) << "acknowledged and not stored";
    }
    if (code == Code::kStorageGone) {
      EXPECT_EQ(stored, "") << "stored, and not said";
    }
    if (code && code != Code::kStorageGone) {
      EXPECT_EQ(code, Code::kDurabilityUnknown);
    }
    ++answers[code ? std::string(name(*code)) : "success"];

    const auto again = must(store_.sessions().append_session_entries(session, batch));
    EXPECT_EQ(again.appended_count, stored.empty() ? kSize : 0);
    EXPECT_EQ(stored_ids(direct_, session), whole);
    return fired;
  });
  for (const auto& [answer, count] : answers) {
    std::printf("server gone in an append: %d times %s\n", count, answer.c_str());
  }
  EXPECT_EQ(answers.size(), 3u);
}

TEST_F(PostgresCut, WithoutAWayBackACreateSaysWhetherItMayHaveHappened) {
  std::map<std::string, int> answers;
  for_each_cut([&](const ProxyFault& fault) {
    Store store = store_without_way_back();
    const std::string session = next_session();
    proxy_.arm(fault);
    const auto code = code_of(store.sessions().create_session({.id = session}));
    const bool fired = proxy_.fired();
    if (fired) proxy_.wait_until_settled();
    const bool is_there = code_of(store_.sessions().session_ends(session)) != Code::kNotFound;
    if (!code) {
      EXPECT_TRUE(is_there);
    }
    if (code) {
      EXPECT_EQ(code, Code::kDurabilityUnknown);
    }
    ++answers[std::string(code ? name(*code) : "success") + (is_there ? ", made" : ", not made")];
    return fired;
  });
  for (const auto& [answer, count] : answers) {
    std::printf("server gone in a create: %d times %s\n", count, answer.c_str());
  }
  EXPECT_EQ(answers.size(), 3u);
}

TEST_F(PostgresCut, ReadsAreMadeAgain) {
  const std::string session = new_session("read");
  must(store_.sessions().append_session_entries(session, batch_of("e", 5)));
  const std::size_t faults = for_each_cut([&](const ProxyFault& fault) {
    Store store = bare_store(proxy_.url(name_));
    proxy_.arm(fault);
    EXPECT_EQ(must(store.sessions().session_ids()), std::vector{session});
    const auto entries = must(store.sessions().load_session_entries(session));
    EXPECT_EQ(entries.size(), 6u);
    EXPECT_EQ(entries.back().id, "e-4");
    const auto view = must(store.backend()->view(session, nullptr));
    EXPECT_EQ(must(view->find("e-2")), std::optional<Ordinal>(3));
    EXPECT_EQ(must(view->places()).size(), 6u);
    EXPECT_EQ(must(store.sessions().describe_session(session)).entries, 6u);
    return proxy_.fired();
  });
  std::printf("connections cut in reads: %zu\n", faults);
  EXPECT_GE(faults, 4u);
}

TEST_F(PostgresCut, AppendIsOneRoundTrip) {
  const std::string session = new_session("counted");
  Store store = bare_store(proxy_.url(name_));
  must(store.sessions().append_session_entries(session, batch_of("first", 1)));
  for (const std::size_t size : {1u, 1u, 5u, 100u, 100u}) {
    proxy_.disarm();
    must(store.sessions().append_session_entries(session, batch_of("", size)));
    const std::string said = proxy_.seen(Sender::kClient);
    EXPECT_EQ(std::count(said.begin(), said.end(), 'S'), 1) << size << " entries: " << said;
    std::printf("append of %zu: %zu messages, %d round trip\n", size, said.size(),
                static_cast<int>(std::count(said.begin(), said.end(), 'S')));
  }
  EXPECT_EQ(ask(direct_, "SELECT count(*) FROM quipu.entries"), "209");
}

}  // namespace
}  // namespace quipu::test
