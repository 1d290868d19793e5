#include "net/curl_client.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/http_server.h"

namespace quipu::net {
namespace {

using std::chrono::milliseconds;
using test::HttpReply;
using test::HttpSeen;
using test::HttpServer;

HttpReply echo(const HttpSeen& seen) { return {.body = "got " + seen.body}; }

Code code_of(const Result<HttpAnswer>& answer) {
  EXPECT_FALSE(answer.ok());
  return answer.ok() ? Code::kInternal : answer.error().code();
}

TEST(CurlClient, SendsAndReceives) {
  HttpServer server([](const HttpSeen& seen) {
    return HttpReply{.status = 201, .body = "got " + seen.body, .headers = {"X-Odd:  a b \t"}};
  });
  const auto client = curl_client();
  const auto answer = client->send(
      {.url = server.url("/a?b=c"), .headers = {"Authorization: Bearer k"}, .body = "all of it"});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "got all of it");
  EXPECT_EQ(answer->header("x-odd"), "a b");
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].target, "/a?b=c");
  EXPECT_TRUE(seen[0].head.starts_with("POST "));
  EXPECT_NE(seen[0].head.find("\r\nAuthorization: Bearer k"), std::string::npos);
}

TEST(CurlClient, BytesOfAnyKindPassBothWays) {
  HttpServer server([](const HttpSeen& seen) { return HttpReply{.body = seen.body}; });
  std::string body(3 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 + i / 1000);
  const auto answer = curl_client()->send({.url = server.url(), .body = body});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_TRUE(answer->body == body);
  EXPECT_EQ(server.seen()[0].head.find("Expect"), std::string::npos);
}

TEST(CurlClient, AConnectionIsUsedAgain) {
  HttpServer server(echo);
  const auto client = curl_client();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client->send({.url = server.url()}).ok());
  EXPECT_EQ(server.connections(), 1U);
}

TEST(CurlClient, ThreadsDoNotMixUpAnswers) {
  HttpServer server(echo);
  const auto client = curl_client();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string body = std::to_string(t) + "/" + std::to_string(i);
        const auto answer = client->send({.url = server.url(), .body = body});
        ASSERT_TRUE(answer.ok());
        EXPECT_EQ(answer->body, "got " + body);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(server.connections(), 4U);
}

TEST(CurlClient, SilenceEndsWithTheTimeAllowed) {
  HttpServer server([](const HttpSeen&) { return HttpReply{.end = HttpReply::End::kSilent}; });
  const auto answer =
      curl_client()->send({.url = server.url("/x?key=secret"), .timeout = milliseconds(30)});
  EXPECT_EQ(code_of(answer), Code::kBusy);
  EXPECT_EQ(answer.error().message(), server.url("/x") + ": no answer within 30 ms");
}

TEST(CurlClient, AnAnswerThatBreaksOffIsNone) {
  HttpServer server([](const HttpSeen&) {
    return HttpReply{.body = "a longer answer", .end = HttpReply::End::kCut};
  });
  EXPECT_EQ(code_of(curl_client()->send({.url = server.url()})), Code::kIoError);
}

TEST(CurlClient, NobodyThereIsAnError) {
  std::string url;
  {
    HttpServer server(echo);
    url = server.url();
  }
  EXPECT_EQ(code_of(curl_client()->send({.url = url})), Code::kIoError);
}

TEST(CurlClient, AnAnswerOverTheLimitIsRefused) {
  HttpServer server([](const HttpSeen&) { return HttpReply{.body = std::string(1001, 'x')}; });
  const auto client = curl_client();
  EXPECT_EQ(code_of(client->send({.url = server.url(), .answer_bytes_max = 1000})),
            Code::kTooLarge);
  EXPECT_TRUE(client->send({.url = server.url(), .answer_bytes_max = 1001}).ok());
}

TEST(CurlClient, CanBeBrokenOff) {
  std::stop_source stop;
  // The request has arrived when this is asked, and nobody will answer it.
  HttpServer server([&](const HttpSeen&) {
    stop.request_stop();
    return HttpReply{.end = HttpReply::End::kSilent};
  });
  const auto client = curl_client();
  const auto answer =
      client->send({.url = server.url(), .timeout = std::chrono::hours(1)}, stop.get_token());
  EXPECT_EQ(code_of(answer), Code::kBusy);
  EXPECT_NE(answer.error().message().find("cancelled"), std::string::npos);
  // Also before it has begun.
  EXPECT_EQ(code_of(client->send({.url = server.url()}, stop.get_token())), Code::kBusy);
}

TEST(CurlClient, RedirectsAreAnswersNotOrders) {
  HttpServer other(echo);
  HttpServer server([&](const HttpSeen&) {
    return HttpReply{.status = 307, .headers = {"Location: " + other.url("/elsewhere")}};
  });
  const auto answer = curl_client()->send({.url = server.url(), .headers = {"Authorization: x"}});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 307);
  EXPECT_TRUE(other.seen().empty());
}

TEST(CurlClient, APlainServerIsNoSecureOne) {
  HttpServer server(echo);
  std::string url = server.url();
  url.replace(0, 4, "https");
  EXPECT_FALSE(curl_client()->send({.url = url, .timeout = milliseconds(50)}).ok());
  EXPECT_TRUE(server.seen().empty());
}

TEST(CurlClient, RefusesWhatCannotBeARequest) {
  const auto client = curl_client();
  EXPECT_EQ(code_of(client->send({.url = "file:///etc/hostname"})), Code::kInvalidArgument);
  EXPECT_EQ(code_of(client->send({.url = "http://127.0.0.1:1/", .headers = {"A: b\r\nC: d"}})),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace quipu::net
