#include "recall/embedding_worker.h"

#include <gtest/gtest.h>

#include <latch>
#include <set>

#include "fake_endpoint.h"
#include "outbox_place.h"

namespace quipu::recall {
namespace {

using Strings = std::vector<std::string>;

class EmbeddingWorkerTest : public testing::Test {
 protected:
  void add(const std::string& text) {
    const WaitingText waiting{text, text};
    // The worker may have the only connection, and nobody waits for it: time stands still here.
    auto added = outbox_.add({&waiting, 1});
    while (!added.ok() && added.error().code() == Code::kBusy) {
      std::this_thread::yield();
      added = outbox_.add({&waiting, 1});
    }
    ASSERT_TRUE(added.ok()) << added.error().message();
  }
  bool has(const std::string& hash) {
    const auto vectors = outbox_.vectors(Strings{hash});
    return vectors.ok() && vectors->contains(hash);
  }
  Embedder embedder() {
    return Embedder::make({.url = "http://h", .model = "m"}, endpoint_).value();
  }

  OutboxClock clock_;
  std::shared_ptr<FakeEndpoint> endpoint_ = std::make_shared<FakeEndpoint>();
  search::IndexDatabase database_{clock_};
  EmbeddingOutbox outbox_{database_, embedder(), clock_};
};

TEST_F(EmbeddingWorkerTest, TakesWhatWaitsAndWhatIsAdded) {
  std::latch first(1);
  std::latch second(1);
  // The test may have the only connection when a vector is to be stored: then the same text is
  // asked for again, perhaps together with the other.
  std::set<std::string> asked;
  endpoint_->follow([&](const Strings& texts) -> Result<net::HttpAnswer> {
    for (const std::string& text : texts) {
      if (asked.insert(text).second) (text == "before" ? first : second).count_down();
    }
    return net::HttpAnswer{};
  });
  add("before");
  {
    EmbeddingWorker worker(outbox_);
    first.wait();
    add("while");
    worker.wake();
    second.wait();
  }
  // The step that asked has ended with the thread.
  EXPECT_TRUE(has("before"));
  EXPECT_TRUE(has("while"));
}

TEST_F(EmbeddingWorkerTest, EndsWhileARequestIsUnderWay) {
  std::latch asked(1);
  class Silent : public net::HttpClient {
   public:
    explicit Silent(std::latch& latch) : latch_(latch) {}
    Result<net::HttpAnswer> send(const net::HttpRequest&, std::stop_token stop) override {
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      latch_.count_down();
      never.wait(lock, stop, [] { return false; });
      return Error(Code::kBusy, "cancelled");
    }

   private:
    std::latch& latch_;
  };
  auto silent = Embedder::make({.url = "http://h", .model = "m"}, std::make_shared<Silent>(asked));
  ASSERT_TRUE(silent.ok());
  EmbeddingOutbox outbox(database_, std::move(silent).value(), clock_);
  const WaitingText waiting{"a", "a"};
  ASSERT_TRUE(outbox.add({&waiting, 1}).ok());
  {
    EmbeddingWorker worker(outbox);
    asked.wait();
  }
  EXPECT_EQ(outbox.status()->waiting, 1);
}

TEST_F(EmbeddingWorkerTest, OutlivesAnException) {
  endpoint_->follow([](const Strings&) -> Result<net::HttpAnswer> { throw std::bad_alloc(); });
  add("a");
  EmbeddingWorker worker(outbox_);
  std::optional<Error> trouble;
  while (!trouble) {
    std::this_thread::yield();
    trouble = worker.trouble();
  }
  EXPECT_EQ(trouble->code(), Code::kNoMemory);
  endpoint_->follow({});
  worker.wake();
  while (!has("a")) std::this_thread::yield();
}

TEST_F(EmbeddingWorkerTest, SaysWhatIsWrong) {
  std::latch asked(1);
  endpoint_->follow([&](const Strings&) -> Result<net::HttpAnswer> {
    asked.count_down();
    return Error(Code::kIoError, "nobody is there");
  });
  add("a");
  EmbeddingWorker worker(outbox_);
  asked.wait();
  std::optional<Error> trouble;
  while (!trouble) {
    std::this_thread::yield();
    trouble = worker.trouble();
  }
  EXPECT_EQ(trouble->message(), "nobody is there");
}

}  // namespace
}  // namespace quipu::recall
