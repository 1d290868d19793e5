#include "recall/embedding_outbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>

#include "fake_endpoint.h"
#include "outbox_place.h"

namespace quipu::recall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

net::HttpAnswer status(int status, std::string body = "so") {
  return {.status = status, .body = std::move(body)};
}

class EmbeddingOutboxTest : public testing::TestWithParam<Place> {
 protected:
  EmbeddingOutboxTest() { open(); }

  void open(const std::string& model = "m") {
    outbox_.reset();
    database_ = place_.open(clock_);
    auto embedder = Embedder::make({.url = "http://h", .model = model}, endpoint_);
    ASSERT_TRUE(embedder.ok());
    outbox_ = std::make_unique<EmbeddingOutbox>(*database_, std::move(embedder).value(), clock_);
  }
  void add(const Strings& texts) {
    std::vector<WaitingText> waiting;
    for (const std::string& text : texts) waiting.push_back({text, text});
    const auto added = outbox_->add(waiting);
    ASSERT_TRUE(added.ok()) << added.error().message();
  }
  OutboxProgress step() {
    auto progress = outbox_->step();
    EXPECT_TRUE(progress.ok()) << progress.error().message();
    return progress.ok() ? std::move(progress).value() : OutboxProgress{};
  }
  OutboxProgress work(milliseconds budget) {
    auto progress = outbox_->work(budget);
    EXPECT_TRUE(progress.ok()) << progress.error().message();
    return progress.ok() ? std::move(progress).value() : OutboxProgress{};
  }
  OutboxStatus now() {
    auto status = outbox_->status();
    EXPECT_TRUE(status.ok()) << status.error().message();
    return status.ok() ? std::move(status).value() : OutboxStatus{};
  }
  /// Which of them have vectors; each is the one of its text.
  Strings found(const Strings& hashes) {
    const auto vectors = outbox_->vectors(hashes);
    EXPECT_TRUE(vectors.ok()) << vectors.error().message();
    Strings names;
    for (const std::string& hash : hashes) {
      const auto one = vectors->find(hash);
      if (one == vectors->end()) continue;
      EXPECT_EQ(one->second, vector_for(hash));
      names.push_back(hash);
    }
    return names;
  }
  static Strings numbered(int count) {
    Strings texts;
    for (int i = 0; i < count; ++i) texts.push_back("text " + std::to_string(i));
    return texts;
  }

  OutboxClock clock_;
  std::shared_ptr<FakeEndpoint> endpoint_ = std::make_shared<FakeEndpoint>();
  OutboxPlace place_{GetParam()};
  std::unique_ptr<search::IndexDatabase> database_;
  std::unique_ptr<EmbeddingOutbox> outbox_;
};

TEST_P(EmbeddingOutboxTest, WhatIsAddedGetsItsVector) {
  add({"one", "two", "one"});
  EXPECT_TRUE(endpoint_->requests().empty());
  EXPECT_EQ(now().waiting, 2);
  EXPECT_TRUE(found({"one", "two"}).empty());
  const OutboxProgress progress = step();
  EXPECT_EQ(progress.embedded, 2U);
  EXPECT_FALSE(progress.trouble);
  EXPECT_FALSE(progress.next);
  EXPECT_EQ(found({"two", "three", "one"}), (Strings{"two", "one"}));
  EXPECT_EQ(now().waiting, 0);
}

TEST_P(EmbeddingOutboxTest, TheSameContentIsNeverSentTwice) {
  add({"one"});
  step();
  add({"one", "two"});
  EXPECT_EQ(now().waiting, 1);
  step();
  step();
  EXPECT_EQ(endpoint_->sizes(), (std::vector<std::size_t>{1, 1}));
}

TEST_P(EmbeddingOutboxTest, ManyGoInBatches) {
  const Strings texts = numbered(150);
  add(texts);
  const OutboxProgress first = step();
  EXPECT_EQ(first.embedded, 128U);
  EXPECT_EQ(first.next, milliseconds(0));
  EXPECT_EQ(step().embedded, 22U);
  EXPECT_EQ(endpoint_->sizes(), (std::vector<std::size_t>{32, 32, 32, 32, 22}));
  EXPECT_EQ(found(texts), texts);
}

TEST_P(EmbeddingOutboxTest, LongOnesGoWithFewOthers) {
  std::vector<std::string> texts;
  std::vector<WaitingText> waiting;
  for (const std::size_t kilobytes : {600, 300, 300, 1, 3000, 1}) {
    texts.push_back(std::string(kilobytes << 10, 'x'));
  }
  const Strings hashes{"a", "b", "c", "d", "e", "f"};
  for (std::size_t i = 0; i < texts.size(); ++i) waiting.push_back({hashes[i], texts[i]});
  ASSERT_TRUE(outbox_->add(waiting).ok());
  EXPECT_EQ(step().embedded, 6U);
  EXPECT_EQ(endpoint_->sizes(), (std::vector<std::size_t>{2, 2, 1, 1}));
}

TEST_P(EmbeddingOutboxTest, FourBatchesAreInFlightAtATime) {
  // Nobody gets an answer before four have asked.
  std::barrier all(4);
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    all.arrive_and_wait();
    return net::HttpAnswer{};
  });
  add(numbered(128));
  EXPECT_EQ(step().embedded, 128U);
}

TEST_P(EmbeddingOutboxTest, CallersMayAddInACommitOfTheirOwn) {
  ASSERT_TRUE(outbox_->prepare().ok());
  const WaitingText texts[] = {{"a", "a"}, {"b", "b"}};
  search::Writes writes;
  outbox_->add(texts, writes);
  outbox_->remove(Strings{"b"}, writes);
  {
    auto engine = database_->lease();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE((*engine)->commit(writes.commands).ok());
  }
  EXPECT_EQ(step().embedded, 1U);
  EXPECT_EQ(found({"a", "b"}), Strings{"a"});
}

TEST_P(EmbeddingOutboxTest, TextsOfAnyBytes) {
  const std::string odd("nul \0 and \xff \"quote\"", 20);
  const WaitingText text{"odd", odd};
  ASSERT_TRUE(outbox_->add({&text, 1}).ok());
  EXPECT_EQ(step().embedded, 1U);
  EXPECT_EQ(inputs_of(endpoint_->requests()[0].body).at(0),
            std::string("nul \0 and \xef\xbf\xbd \"quote\"", 22));
}

TEST_P(EmbeddingOutboxTest, AnEndpointThatIsAwayIsWaitedFor) {
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> {
    return Error(Code::kIoError, "nobody is there");
  });
  add(numbered(40));
  // Without end, and each time longer, up to five minutes.
  milliseconds longest{0};
  for (int i = 0; i < 40; ++i) {
    const OutboxProgress progress = step();
    ASSERT_EQ(progress.trouble.value().message(), "nobody is there");
    ASSERT_GE(progress.next.value(), longest);
    ASSERT_GT(progress.next.value(), milliseconds(0));
    longest = *progress.next;
    // Until then nothing is asked.
    endpoint_->forget();
    EXPECT_EQ(step().next, longest);
    EXPECT_TRUE(endpoint_->requests().empty());
    clock_.advance(longest);
  }
  EXPECT_EQ(longest, std::chrono::minutes(5));
  EXPECT_EQ(now().waiting, 40);
  endpoint_->follow({});
  EXPECT_EQ(step().embedded, 40U);
  // Once it was there, patience begins anew.
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> { return status(503); });
  add({"more"});
  EXPECT_EQ(step().next, seconds(1));
}

TEST_P(EmbeddingOutboxTest, WhenEverythingFailsTheRestWaitsALittle) {
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> { return status(500); });
  add(numbered(200));
  EXPECT_EQ(step().next, seconds(1));
  EXPECT_EQ(endpoint_->requests().size(), 4U);
  // Not longer: it may have been the texts.
  clock_.advance(seconds(1));
  EXPECT_EQ(step().next, seconds(1));
}

TEST_P(EmbeddingOutboxTest, AnEndpointMaySayHowLong) {
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> {
    return net::HttpAnswer{.status = 429, .headers = {{"retry-after", "20"}}, .body = "slowly"};
  });
  add({"a"});
  EXPECT_EQ(step().next, seconds(20));
  clock_.advance(seconds(19));
  EXPECT_EQ(step().next, seconds(1));
  EXPECT_EQ(endpoint_->requests().size(), 1U);
  endpoint_->follow({});
  clock_.advance(seconds(1));
  EXPECT_EQ(step().embedded, 1U);
}

TEST_P(EmbeddingOutboxTest, WorkWaitsAsLongAsItMay) {
  int asked = 0;
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    return ++asked < 3 ? status(503) : net::HttpAnswer{};
  });
  add({"a"});
  const std::int64_t begin = clock_.unix_ms();
  // Pauses of one and two seconds.
  const OutboxProgress broken = work(seconds(2));
  EXPECT_EQ(broken.embedded, 0U);
  EXPECT_EQ(broken.trouble.value().code(), Code::kBusy);
  EXPECT_EQ(clock_.unix_ms() - begin, 1000);
  const OutboxProgress whole = work(seconds(10));
  EXPECT_EQ(whole.embedded, 1U);
  EXPECT_FALSE(whole.next);
  EXPECT_EQ(clock_.unix_ms() - begin, 3000);
}

TEST_P(EmbeddingOutboxTest, OneTextThatBreaksTheEndpointDoesNotHoldUpTheOthers) {
  endpoint_->follow([](const Strings& texts) -> Result<net::HttpAnswer> {
    const bool has_poison = std::ranges::find(texts, "text 13") != texts.end();
    return has_poison ? status(500, "out of cheese") : net::HttpAnswer{};
  });
  const Strings texts = numbered(32);
  add(texts);
  const OutboxProgress progress = work(seconds(60));
  EXPECT_EQ(progress.embedded, 31U);
  EXPECT_EQ(now().waiting, 1);
  EXPECT_NE(now().reason.find("out of cheese"), std::string::npos);
  EXPECT_EQ(found(texts).size(), 31U);
  // And it is not tried for ever.
  const OutboxProgress rest = work(std::chrono::hours(48));
  EXPECT_EQ(rest.given_up, 1U);
  EXPECT_FALSE(rest.next);
  EXPECT_EQ(now().waiting, 0);
  EXPECT_EQ(now().given_up, 1);
  // Others still go, and it can be tried again.
  add({"later"});
  EXPECT_EQ(step().embedded, 1U);
  endpoint_->follow({});
  ASSERT_TRUE(outbox_->remove(Strings{"text 13"}).ok());
  add({"text 13"});
  EXPECT_EQ(step().embedded, 1U);
  EXPECT_EQ(found(texts).size(), 32U);
  EXPECT_EQ(now().reason, "");
}

TEST_P(EmbeddingOutboxTest, AnEndpointThatIsBadForDaysLosesNothing) {
  const Strings texts = numbered(40);
  const std::vector<FakeEndpoint::Script> moods{
      [](const Strings&) -> Result<net::HttpAnswer> { return status(500); },
      [](const Strings&) -> Result<net::HttpAnswer> { return status(200, "<html>"); },
      [](const Strings&) -> Result<net::HttpAnswer> { return Error(Code::kBusy, "no answer"); }};
  add(texts);
  for (const auto& mood : moods) {
    endpoint_->follow(mood);
    EXPECT_EQ(work(std::chrono::hours(48)).given_up, 0U);
  }
  EXPECT_EQ(now().waiting, 40);
  // Nor does the first trouble afterwards.
  std::atomic<int> asked = 0;
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    return ++asked % 8 == 0 ? status(500) : net::HttpAnswer{};
  });
  EXPECT_EQ(work(std::chrono::hours(48)).embedded, 40U);
  EXPECT_EQ(found(texts), texts);
}

TEST_P(EmbeddingOutboxTest, ATextThatIsTooLongIsGivenUpAtOnce) {
  endpoint_->follow([](const Strings& texts) -> Result<net::HttpAnswer> {
    const bool is_long = std::ranges::any_of(texts, [](auto& t) { return t.size() > 100; });
    return is_long ? status(400, "maximum context length exceeded") : net::HttpAnswer{};
  });
  Strings texts = numbered(5);
  texts.push_back(std::string(101, 'x'));
  add(texts);
  const OutboxProgress progress = step();
  EXPECT_EQ(progress.embedded, 5U);
  EXPECT_EQ(progress.given_up, 1U);
  EXPECT_FALSE(progress.next);
  EXPECT_EQ(now().given_up, 1);
  EXPECT_NE(now().reason.find("maximum context"), std::string::npos);
}

TEST_P(EmbeddingOutboxTest, GarbageChangesNothing) {
  int asked = 0;
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    ++asked;
    if (asked == 1) return status(200, "<html>");
    if (asked == 2) return status(200, R"({"data":[{"index":0,"embedding":[1,2,3]}]})");
    if (asked == 3) return status(200, R"({"data":[{"index":0,"embedding":[NaN]}]})");
    return net::HttpAnswer{};
  });
  add({"a", "b"});
  OutboxProgress progress = step();
  EXPECT_EQ(progress.trouble.value().code(), Code::kIoError);
  EXPECT_TRUE(found({"a", "b"}).empty());
  EXPECT_EQ(now().waiting, 2);
  EXPECT_EQ(work(seconds(30)).embedded, 2U);
  EXPECT_EQ(found({"a", "b"}), (Strings{"a", "b"}));
}

TEST_P(EmbeddingOutboxTest, WhatWaitsOutlivesTheProcess) {
  if (GetParam() == Place::kMemory) return;  // which does not
  const Strings texts = numbered(40);
  add(texts);
  open();
  EXPECT_EQ(now().waiting, 40);
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> { return status(500); });
  step();
  open();
  endpoint_->follow({});
  EXPECT_GT(step().next.value(), milliseconds(0));
  clock_.advance(seconds(1));
  EXPECT_EQ(work(seconds(1)).embedded, 40U);
  open();
  EXPECT_EQ(found(texts), texts);
  endpoint_->forget();
  EXPECT_FALSE(step().next);
  EXPECT_TRUE(endpoint_->requests().empty());
}

TEST_P(EmbeddingOutboxTest, WhatIsRemovedMeanwhileStaysRemoved) {
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    const auto removed = outbox_->remove(Strings{"secret"});
    EXPECT_TRUE(removed.ok());
    return net::HttpAnswer{};
  });
  add({"secret", "plain"});
  step();
  EXPECT_EQ(found({"secret", "plain"}), Strings{"plain"});
  EXPECT_EQ(now().waiting, 0);
  ASSERT_TRUE(outbox_->remove(Strings{"plain", "other"}).ok());
  EXPECT_TRUE(found({"plain"}).empty());
}

TEST_P(EmbeddingOutboxTest, ModelsAreKeptApart) {
  if (GetParam() == Place::kMemory) return;  // a new place each time
  add({"a"});
  step();
  add({"b"});
  open("other");
  EXPECT_TRUE(found({"a", "b"}).empty());
  EXPECT_EQ(now().waiting, 0);
  add({"a"});
  EXPECT_EQ(step().embedded, 1U);
  EXPECT_EQ(found({"a", "b"}), Strings{"a"});
  open();
  EXPECT_EQ(now().waiting, 1);
  EXPECT_EQ(found({"a", "b"}), Strings{"a"});
  // Forgotten is forgotten for all models.
  ASSERT_TRUE(outbox_->remove(Strings{"a"}).ok());
  open("other");
  EXPECT_TRUE(found({"a"}).empty());
}

TEST_P(EmbeddingOutboxTest, AModelThatChangesItsDimensionsIsNotBelieved) {
  add({"a"});
  step();
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> {
    return status(200, R"({"data":[{"index":0,"embedding":[1,2]}]})");
  });
  add({"b"});
  OutboxProgress progress = step();
  EXPECT_EQ(progress.embedded, 0U);
  EXPECT_EQ(progress.trouble.value().message(),
            "the model gives vectors of 2 dimensions now, and gave some of 3");
  if (GetParam() != Place::kMemory) {
    open();
    EXPECT_TRUE(step().trouble);
  }
  EXPECT_EQ(now().waiting, 1);
  EXPECT_TRUE(found({"b"}).empty());
}

TEST_P(EmbeddingOutboxTest, WhatIsBrokenOffWaitsWithoutBlame) {
  std::stop_source stop;
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    stop.request_stop();
    return Error(Code::kBusy, "cancelled");
  });
  add({"a"});
  const auto progress = outbox_->step(stop.get_token());
  ASSERT_TRUE(progress.ok());
  EXPECT_EQ(progress->next, milliseconds(0));
  EXPECT_EQ(now().reason, "");
}

TEST_P(EmbeddingOutboxTest, ManyHashesAtOnce) {
  const Strings texts = numbered(2500);
  add(texts);
  EXPECT_EQ(work(seconds(1)).embedded, 2500U);
  Strings asked = texts;
  asked.insert(asked.begin() + 1200, "not there");
  EXPECT_EQ(found(asked), texts);
  EXPECT_TRUE(found({}).empty());
}

INSTANTIATE_TEST_SUITE_P(Places, EmbeddingOutboxTest,
                         testing::Values(Place::kMemory, Place::kFile, Place::kPostgres),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace quipu::recall
