#include "recall/embedder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "fake_endpoint.h"
#include "net/curl_client.h"
#include "quipu/recall.h"
#include "support/http_server.h"

namespace quipu::recall {
namespace {

using Fault = EmbeddingFailure::Fault;
using std::chrono::milliseconds;

constexpr const char* kKey = "sk-verysecret";

class EmbedderTest : public testing::Test {
 protected:
  Embedder make(EmbedderOptions options) {
    if (options.url.empty()) options.url = "http://host/v1";
    if (options.model.empty()) options.model = "small";
    auto made = Embedder::make(std::move(options), endpoint_);
    EXPECT_TRUE(made.ok());
    return std::move(made).value();
  }
  std::vector<Embedding> embed(const std::vector<std::string_view>& texts,
                               EmbedderOptions options = {}) {
    return make(std::move(options)).embed(texts);
  }
  void answer(int status, std::string body = "", std::string retry_after = "") {
    endpoint_->follow([=](const auto&) -> Result<net::HttpAnswer> {
      net::HttpAnswer answer{.status = status, .body = body};
      if (!retry_after.empty()) answer.headers = {{"retry-after", retry_after}};
      return answer;
    });
  }
  std::string sent_to(std::string url) {
    endpoint_->forget();
    EXPECT_TRUE(make({.url = std::move(url)}).embed_query("x").ok());
    return endpoint_->requests().at(0).url;
  }

  std::shared_ptr<FakeEndpoint> endpoint_ = std::make_shared<FakeEndpoint>();
};

TEST_F(EmbedderTest, AsksInTheWordsOfTheApi) {
  const auto embeddings = embed({"one", "say \"two\""}, {.key = kKey});
  ASSERT_EQ(embeddings.size(), 2U);
  EXPECT_EQ(embeddings[0].vector, vector_for("one"));
  EXPECT_EQ(embeddings[1].vector, vector_for("say \"two\""));
  const auto requests = endpoint_->requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].body, R"({"model":"small","input":["one","say \"two\""]})");
  EXPECT_EQ(requests[0].headers, (std::vector<std::string>{"Content-Type: application/json",
                                                           "Authorization: Bearer sk-verysecret"}));
}

TEST_F(EmbedderTest, OptionsAreAskedFor) {
  const EmbedderOptions options{.dimensions = 3,
                                .query_prefix = "query: ",
                                .document_prefix = "passage: ",
                                .base64 = true,
                                .timeout = milliseconds(77)};
  const Embedder embedder = make(options);
  EXPECT_EQ(embedder.embed_query("a").value(), vector_for("query: a"));
  const std::string_view text = "b";
  EXPECT_EQ(embedder.embed({&text, 1})[0].vector, vector_for("passage: b"));
  const auto requests = endpoint_->requests();
  EXPECT_EQ(requests[0].body, R"({"model":"small","input":["query: a"],)"
                              R"("encoding_format":"base64","dimensions":3})");
  EXPECT_EQ(requests[0].timeout, milliseconds(77));
  EXPECT_EQ(requests[0].headers.size(), 1U);
}

TEST_F(EmbedderTest, UrlsOfAllKinds) {
  EXPECT_EQ(sent_to("http://h:1"), "http://h:1/v1/embeddings");
  EXPECT_EQ(sent_to("http://h:1/"), "http://h:1/v1/embeddings");
  EXPECT_EQ(sent_to("http://h/v1"), "http://h/v1/embeddings");
  EXPECT_EQ(sent_to("http://h/v1/"), "http://h/v1/embeddings");
  EXPECT_EQ(sent_to("https://h/v1beta/openai"), "https://h/v1beta/openai/embeddings");
  EXPECT_EQ(sent_to("https://h/any/embeddings"), "https://h/any/embeddings");
  EXPECT_EQ(sent_to("https://h/any?version=1"), "https://h/any/embeddings?version=1");
}

TEST_F(EmbedderTest, OptionsThatCannotWorkAreRefused) {
  const auto refused = [&](EmbedderOptions options) {
    auto made = Embedder::make(std::move(options), endpoint_);
    EXPECT_FALSE(made.ok());
    EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
    return made.error().message();
  };
  EXPECT_NE(refused({.url = "ftp://h", .model = "m"}).find("http"), std::string::npos);
  EXPECT_NE(refused({.url = "http://h"}).find("model"), std::string::npos);
  const std::string message = refused({.url = "http://h", .model = "m", .key = "a\nX: sesame"});
  EXPECT_EQ(message.find("sesame"), std::string::npos);
  refused({.url = "http://h", .model = "m", .dimensions = 100000});
  refused({.url = "http://h", .model = "m", .timeout = std::chrono::milliseconds(0)});
}

TEST_F(EmbedderTest, TheEnvironmentDescribesAnEndpoint) {
  const std::pair<const char*, const char*> variables[] = {
      {"QUIPU_EMBED_URL", "http://h/v1"},
      {"QUIPU_EMBED_MODEL", "m"},
      {"QUIPU_EMBED_KEY", "k"},
      {"QUIPU_EMBED_DIMENSIONS", "256"},
      {"QUIPU_EMBED_QUERY_PREFIX", "query: "},
      {"QUIPU_EMBED_DOCUMENT_PREFIX", "passage: "},
      {"QUIPU_EMBED_TIMEOUT", "5"},
  };
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  const EmbeddingEndpoint endpoint = EmbeddingEndpoint::from_environment();
  ::setenv("QUIPU_EMBED_DIMENSIONS", "many", 1);
  ::setenv("QUIPU_EMBED_TIMEOUT", "5s", 1);
  const EmbeddingEndpoint wrong = EmbeddingEndpoint::from_environment();
  for (const auto& [name, value] : variables) ::unsetenv(name);
  const EmbeddingEndpoint none = EmbeddingEndpoint::from_environment();

  EXPECT_EQ(endpoint.url, "http://h/v1");
  EXPECT_EQ(endpoint.model, "m");
  EXPECT_EQ(endpoint.key, "k");
  EXPECT_EQ(endpoint.dimensions, 256u);
  EXPECT_EQ(endpoint.query_prefix, "query: ");
  EXPECT_EQ(endpoint.document_prefix, "passage: ");
  EXPECT_EQ(endpoint.timeout, std::chrono::seconds(5));
  // What is no number is not passed over.
  const auto refused = [&](EmbedderOptions options) {
    options.url = "http://h";
    options.model = "m";
    return !Embedder::make(options, endpoint_).ok();
  };
  EXPECT_TRUE(refused({.dimensions = wrong.dimensions}));
  EXPECT_TRUE(refused({.timeout = wrong.timeout}));
  EXPECT_TRUE(none.url.empty());
  EXPECT_EQ(none.dimensions, 0u);
  EXPECT_EQ(none.timeout, std::chrono::seconds(30));
}

TEST_F(EmbedderTest, TheFingerprintTellsWhatMustNotBeCompared) {
  const EmbedderOptions base{.url = "http://h/v1", .model = "m"};
  const std::string fingerprint = make(base).fingerprint();
  EXPECT_TRUE(fingerprint.starts_with("m/"));
  EmbedderOptions same = base;
  same.key = "k";
  same.base64 = true;
  same.timeout = milliseconds(1);
  same.url = "http://h/v1/embeddings";
  EXPECT_EQ(make(same).fingerprint(), fingerprint);
  for (const auto& change : std::vector<std::function<void(EmbedderOptions&)>>{
           [](auto& o) { o.url = "http://other/v1"; }, [](auto& o) { o.model = "n"; },
           [](auto& o) { o.dimensions = 5; }, [](auto& o) { o.query_prefix = "q"; },
           [](auto& o) { o.document_prefix = "q"; }}) {
    EmbedderOptions other = base;
    change(other);
    EXPECT_NE(make(other).fingerprint(), fingerprint);
  }
}

TEST_F(EmbedderTest, StatusesSayWhoseFaultItIs) {
  const auto fault = [&](int status, const std::string& body = "no") {
    answer(status, body);
    return embed({"a"}).at(0).failure.value().fault;
  };
  EXPECT_EQ(fault(413), Fault::kText);
  EXPECT_EQ(fault(400, R"({"error":{"message":"Input exceeds the maximum context length"}})"),
            Fault::kText);
  EXPECT_EQ(fault(422, "the input is too long"), Fault::kText);
  EXPECT_EQ(fault(400, "strange"), Fault::kUnclear);
  EXPECT_EQ(fault(500), Fault::kUnclear);
  for (const int status : {301, 401, 403, 404, 408, 429, 502, 503, 504}) {
    EXPECT_EQ(fault(status), Fault::kEndpoint) << status;
  }
  EXPECT_EQ(fault(200, "garbage"), Fault::kUnclear);
  EXPECT_EQ(fault(204, ""), Fault::kEndpoint);
}

TEST_F(EmbedderTest, ErrorsOfTheNetworkSayWhoseFaultItIs) {
  const auto fault = [&](Code code) {
    endpoint_->follow([=](const auto&) -> Result<net::HttpAnswer> { return Error(code, "so"); });
    return embed({"a"}).at(0).failure.value().fault;
  };
  EXPECT_EQ(fault(Code::kBusy), Fault::kUnclear);
  EXPECT_EQ(fault(Code::kTooLarge), Fault::kUnclear);
  EXPECT_EQ(fault(Code::kIoError), Fault::kEndpoint);
  EXPECT_EQ(fault(Code::kNotAllowed), Fault::kEndpoint);
  EXPECT_EQ(fault(Code::kUnsupported), Fault::kEndpoint);
  // Whoever breaks a request off says nothing about its text.
  endpoint_->follow([](const auto&) -> Result<net::HttpAnswer> { return Error(Code::kBusy, ""); });
  std::stop_source stop;
  stop.request_stop();
  const std::string_view text = "a";
  EXPECT_EQ(make({}).embed({&text, 1}, stop.get_token())[0].failure->fault, Fault::kEndpoint);
}

TEST_F(EmbedderTest, HowLongToWaitIsUnderstood) {
  const auto wait = [&](const std::string& text) {
    answer(429, "", text);
    return embed({"a"}).at(0).failure.value().wait;
  };
  EXPECT_EQ(wait(""), milliseconds(0));
  EXPECT_EQ(wait("7"), milliseconds(7000));
  EXPECT_EQ(wait("-7"), milliseconds(0));
  EXPECT_EQ(wait("99999999999999999999999"), std::chrono::hours(24));
  EXPECT_EQ(wait("Wed, 21 Oct 2015 07:28:00 GMT"), milliseconds(0));
}

TEST_F(EmbedderTest, OneTextThatIsTooLongDoesNotStopTheOthers) {
  endpoint_->follow([](const std::vector<std::string>& texts) -> Result<net::HttpAnswer> {
    for (const std::string& text : texts) {
      if (text.size() > 10) return net::HttpAnswer{.status = 413, .body = "too large"};
    }
    return net::HttpAnswer{};
  });
  std::vector<std::string> texts;
  for (int i = 0; i < 32; ++i) texts.push_back("text " + std::to_string(i));
  texts[21] = "a text that is too long";
  const auto embeddings = embed({texts.begin(), texts.end()});
  ASSERT_EQ(embeddings.size(), 32U);
  for (std::size_t i = 0; i < 32; ++i) {
    if (i == 21) {
      EXPECT_EQ(embeddings[i].failure.value().fault, Fault::kText);
      EXPECT_EQ(embeddings[i].failure->error.code(), Code::kTooLarge);
    } else {
      EXPECT_FALSE(embeddings[i].failure) << i;
      EXPECT_EQ(embeddings[i].vector, vector_for(texts[i])) << i;
    }
  }
  EXPECT_EQ(endpoint_->requests().size(), 11U);
}

TEST_F(EmbedderTest, DimensionsThatWereNotAskedForAreGarbage) {
  const auto embeddings = embed({"a"}, {.dimensions = 4});
  EXPECT_EQ(embeddings[0].failure.value().fault, Fault::kUnclear);
  EXPECT_NE(embeddings[0].failure->error.message().find("has 3 dimensions, not 4"),
            std::string::npos);
}

TEST_F(EmbedderTest, TheKeyIsInNoError) {
  for (const int status : {400, 401, 413, 429, 500}) {
    answer(status, R"({"error":{"message":"bad key sk-verysecret, sk-verysecret"}})");
    const auto error = embed({"a"}, {.url = "http://h/v1?k=1", .key = kKey})[0].failure->error;
    EXPECT_EQ(error.message().find(kKey), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("bad key ***, ***"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("http://h/v1/embeddings answers " + std::to_string(status)),
              std::string::npos);
  }
}

TEST_F(EmbedderTest, AQueryIsAskedForOnce) {
  answer(503, "busy", "1");
  const auto vector = make({}).embed_query("x");
  ASSERT_FALSE(vector.ok());
  EXPECT_EQ(vector.error().code(), Code::kBusy);
  EXPECT_EQ(endpoint_->requests().size(), 1U);
}

TEST(EmbedderOverHttp, AsksARealServer) {
  test::HttpServer server([](const test::HttpSeen& seen) {
    return test::HttpReply{.body = embeddings_of(inputs_of(seen.body))};
  });
  const auto made =
      Embedder::make({.url = server.url(), .model = "m", .key = kKey}, net::curl_client());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->embed_query("数据库").value(), vector_for("数据库"));
  EXPECT_EQ(server.seen().at(0).target, "/v1/embeddings");
}

}  // namespace
}  // namespace quipu::recall
