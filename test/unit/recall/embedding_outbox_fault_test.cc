#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>

#include "fake_endpoint.h"
#include "net/curl_client.h"
#include "outbox_place.h"
#include "recall/embedding_outbox.h"
#include "support/http_server.h"

namespace quipu::recall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

// A process that is killed while a request is under way: what it had taken in is there, and the
// rest waits.
TEST(EmbeddingOutboxKilled, LosesNothing) {
  struct Case {
    int deadly_request;
    int found;
  };
  for (const Case& each : {Case{2, 0}, {4, 0}, {5, 128}, {9, 256}}) {
    OutboxPlace place(Place::kFile);
    OutboxClock clock;
    auto endpoint = std::make_shared<FakeEndpoint>();
    Strings texts;
    for (int i = 0; i < 300; ++i) texts.push_back("text " + std::to_string(i));
    const auto with_outbox = [&](const std::function<void(EmbeddingOutbox&)>& use) {
      const auto database = place.open(clock);
      auto embedder = Embedder::make({.url = "http://h", .model = "m"}, endpoint);
      EmbeddingOutbox outbox(*database, std::move(embedder).value(), clock);
      use(outbox);
    };
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::atomic<int> asked = 0;
      endpoint->follow([&](const Strings&) -> Result<net::HttpAnswer> {
        if (++asked == each.deadly_request) ::kill(::getpid(), SIGKILL);
        return net::HttpAnswer{};
      });
      with_outbox([&](EmbeddingOutbox& outbox) {
        std::vector<WaitingText> waiting;
        for (const std::string& text : texts) waiting.push_back({text, text});
        ignore(outbox.add(waiting), "the parent counts");
        ignore(outbox.work(seconds(60)), "it does not end");
      });
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    with_outbox([&](EmbeddingOutbox& outbox) {
      EXPECT_EQ(outbox.vectors(texts)->size(), static_cast<std::size_t>(each.found));
      EXPECT_EQ(outbox.status()->waiting, 300 - each.found);
      EXPECT_EQ(outbox.work(seconds(60))->embedded, static_cast<std::size_t>(300 - each.found));
      EXPECT_EQ(outbox.vectors(texts)->size(), 300U);
    });
  }
}

// Over a real connection, with an endpoint that misbehaves in every way one after the other.
TEST(EmbeddingOutboxOverHttp, GoesOnAfterEverythingThatGoesWrong) {
  int asked = 0;
  test::HttpServer server([&](const test::HttpSeen& seen) -> test::HttpReply {
    const std::string whole = embeddings_of(inputs_of(seen.body));
    switch (++asked) {
      case 1:
        return {.status = 429, .body = "slowly", .headers = {"Retry-After: 2"}};
      case 2:
        return {.body = whole, .end = test::HttpReply::End::kCut};
      case 3:
        return {.end = test::HttpReply::End::kSilent};
      case 4:
        return {.status = 503, .body = "<html>Service Unavailable</html>"};
      case 5:
        return {.body = "{\"data\": []}"};
      default:
        return {.body = whole};
    }
  });
  OutboxClock clock;
  search::IndexDatabase database(clock);
  auto embedder = Embedder::make({.url = server.url(), .model = "m", .timeout = milliseconds(100)},
                                 net::curl_client());
  ASSERT_TRUE(embedder.ok());
  EmbeddingOutbox outbox(database, std::move(embedder).value(), clock);
  const WaitingText texts[] = {{"h1", "first"}, {"h2", "second"}};
  ASSERT_TRUE(outbox.add(texts).ok());
  Strings troubles;
  for (int i = 0; i < 20; ++i) {
    const auto progress = outbox.step();
    ASSERT_TRUE(progress.ok());
    if (progress->trouble) troubles.push_back(std::string(name(progress->trouble->code())));
    if (!progress->next) break;
    clock.advance(*progress->next);
  }
  EXPECT_EQ(troubles, (Strings{"busy", "io_error", "busy", "busy", "io_error"}));
  const auto vectors = outbox.vectors(Strings{"h1", "h2"});
  ASSERT_TRUE(vectors.ok());
  EXPECT_EQ(vectors->at("h1"), vector_for("first"));
  EXPECT_EQ(vectors->at("h2"), vector_for("second"));
}

}  // namespace
}  // namespace quipu::recall
