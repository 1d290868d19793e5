#include "recall/embedder.h"

#include <algorithm>
#include <charconv>

#include "base/json_write.h"
#include "base/sha256.h"
#include "base/try.h"
#include "recall/embedding_answer.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

using Fault = EmbeddingFailure::Fault;

/// A wait in seconds that is longer is taken for this one.
constexpr std::int64_t kWaitSecondsMax = 24 * 60 * 60;

std::string request_url(std::string_view url) {
  const std::size_t query = std::min(url.find_first_of("?#"), url.size());
  std::string_view base = url.substr(0, query);
  while (base.ends_with('/')) base.remove_suffix(1);
  std::string made(base);
  const bool has_path = base.find('/', base.find("://") + 3) != std::string_view::npos;
  if (!has_path) made += "/v1";
  if (!base.ends_with("/embeddings")) made += "/embeddings";
  return made.append(url.substr(query));
}

// The model's name is for people.
std::string fingerprint_of(const std::string& url, const EmbedderOptions& options) {
  std::string all;
  json::Writer(all)
      .begin_array()
      .value(url)
      .value(options.model)
      .value(options.dimensions)
      .value(options.query_prefix)
      .value(options.document_prefix)
      .end_array();
  return options.model + "/" + sha256_hex(all).substr(0, 16);
}

// Endpoints have no word for it in common.
bool is_about_length(std::string_view complaint) {
  std::string text(complaint);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::string_view kWords[] = {
      "too long",        "too large",  "too many tokens", "context length", "maximum length",
      "maximum context", "max_tokens", "token limit",     "input length",   "exceed"};
  return std::ranges::any_of(kWords,
                             [&](auto word) { return text.find(word) != std::string::npos; });
}

// Seconds only: a date would need the other side's clock.
std::chrono::milliseconds wait_asked_for(const net::HttpAnswer& answer) {
  const auto text = answer.header("retry-after");
  std::int64_t seconds = 0;
  if (!text) return {};
  const auto [at, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error == std::errc::result_out_of_range) seconds = kWaitSecondsMax;
  return std::chrono::seconds(std::clamp(seconds, std::int64_t{0}, kWaitSecondsMax));
}

void blot_out(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3) {
    text.replace(at, secret.size(), "***");
  }
}

Result<void> check_options(const EmbedderOptions& options) {
  if (const auto checked = net::check_url(options.url); !checked.ok()) {
    return Error(checked.error()).in("embedding endpoint");
  }
  if (options.model.empty()) {
    return Error(Code::kInvalidArgument, "embedding endpoint: no model is named");
  }
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
  if (std::ranges::any_of(options.key, is_odd)) {
    return Error(Code::kInvalidArgument, "embedding endpoint: the key has white space in it");
  }
  if (options.dimensions > kDimensionsMax) {
    return Error(Code::kInvalidArgument, "embedding endpoint: dimensions are a number up to " +
                                             std::to_string(kDimensionsMax));
  }
  if (options.timeout.count() <= 0) {
    return Error(Code::kInvalidArgument,
                 "embedding endpoint: the timeout is a time of more than nothing, up to a day");
  }
  return {};
}

}  // namespace

Embedder::Embedder(EmbedderOptions options, std::shared_ptr<net::HttpClient> client)
    : options_(std::move(options)),
      client_(std::move(client)),
      url_(request_url(options_.url)),
      fingerprint_(fingerprint_of(url_, options_)) {}

Result<Embedder> Embedder::make(EmbedderOptions options, std::shared_ptr<net::HttpClient> client) {
  TRY(check_options(options));
  return Embedder(std::move(options), std::move(client));
}

std::string Embedder::body(std::span<const std::string_view> texts, std::string_view prefix) const {
  std::string text;
  json::Writer out(text);
  out.begin_object().member("model", options_.model).key("input").begin_array();
  for (const std::string_view one : texts) out.value(std::string(prefix).append(one));
  out.end_array();
  if (options_.base64) out.member("encoding_format", "base64");
  if (options_.dimensions != 0) out.member("dimensions", options_.dimensions);
  out.end_object();
  return text;
}

EmbeddingFailure Embedder::refusal(const net::HttpAnswer& answer) const {
  const int status = answer.status;
  std::string complaint = read_complaint(answer.body);
  blot_out(complaint, options_.key);
  const auto failure = [&](Fault fault, Code code) {
    return EmbeddingFailure{
        fault,
        Error(code, net::place_of(url_) + " answers " + std::to_string(status) + ": " + complaint)
            .with_hint("see what the endpoint says, and its URL, model and key"),
        wait_asked_for(answer)};
  };
  switch (status) {
    case 413:
      return failure(Fault::kText, Code::kTooLarge);
    case 400:
    case 422:
      if (is_about_length(complaint)) return failure(Fault::kText, Code::kTooLarge);
      return failure(Fault::kUnclear, Code::kInvalidArgument);
    case 401:
    case 403:
      return failure(Fault::kEndpoint, Code::kNotAllowed);
    case 404:
      return failure(Fault::kEndpoint, Code::kNotFound);
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return failure(Fault::kEndpoint, Code::kBusy);
    default:
      return failure(status >= 500 ? Fault::kUnclear : Fault::kEndpoint, Code::kIoError);
  }
}

Embedder::Reply Embedder::ask(std::span<const std::string_view> texts, std::string_view prefix,
                              const std::stop_token& stop) const {
  net::HttpRequest request{.url = url_,
                           .headers = {"Content-Type: application/json"},
                           .body = body(texts, prefix),
                           .timeout = options_.timeout};
  if (!options_.key.empty()) request.headers.push_back("Authorization: Bearer " + options_.key);
  auto answer = client_->send(request, stop);
  if (!answer.ok()) {
    // Time that was over may have been the text's doing, and so may an answer without end.
    const Code code = answer.error().code();
    const bool is_unclear =
        (code == Code::kBusy && !stop.stop_requested()) || code == Code::kTooLarge;
    return {.failure = EmbeddingFailure{is_unclear ? Fault::kUnclear : Fault::kEndpoint,
                                        std::move(answer).error()}};
  }
  if (answer->status != 200) return {.failure = refusal(*answer)};
  auto vectors = read_embeddings(answer->body, texts.size());
  const auto garbage = [&](Error error) {
    return Reply{.failure =
                     EmbeddingFailure{Fault::kUnclear, std::move(error).in(net::place_of(url_))}};
  };
  if (!vectors.ok()) return garbage(std::move(vectors).error());
  if (options_.dimensions != 0) {
    for (const auto& vector : *vectors) {
      const auto checked = check_vector(vector, options_.dimensions);
      if (!checked.ok()) return garbage(Error(Code::kIoError, checked.error().message()));
    }
  }
  return {.vectors = std::move(vectors).value()};
}

std::vector<Embedding> Embedder::embed(std::span<const std::string_view> texts,
                                       std::stop_token stop) const {
  std::vector<Embedding> embeddings;
  if (texts.empty()) return embeddings;
  Reply reply = ask(texts, options_.document_prefix, stop);
  if (reply.failure && reply.failure->fault == Fault::kText && texts.size() > 1) {
    const std::size_t half = texts.size() / 2;
    embeddings = embed(texts.first(half), stop);
    std::ranges::move(embed(texts.subspan(half), stop), std::back_inserter(embeddings));
    return embeddings;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (reply.failure) {
      embeddings.push_back({.failure = reply.failure});
    } else {
      embeddings.push_back({.vector = std::move(reply.vectors[i])});
    }
  }
  return embeddings;
}

Result<std::vector<float>> Embedder::embed_query(std::string_view text,
                                                 std::stop_token stop) const {
  Reply reply = ask({&text, 1}, options_.query_prefix, stop);
  if (reply.failure) return std::move(reply.failure->error);
  return std::move(reply.vectors.front());
}

}  // namespace quipu::recall
