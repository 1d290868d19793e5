// Embedder: vectors of texts from an OpenAI-compatible `/v1/embeddings` endpoint (OpenAI, ollama,
// llama.cpp, vLLM …).
//
// One request a call; nothing is kept and nothing is tried again. What fails says whose fault
// it was, so that whoever keeps the texts (EmbeddingOutbox) knows what to do about them.
//
// The key is sent to the endpoint and to nobody else: it is in no error, also when the endpoint
// repeats it in an answer.
//
// Thread-safety: every call from every thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"
#include "quipu/result.h"

namespace quipu::recall {

struct EmbedderOptions {
  /// Of the API: `http://localhost:11434/v1`. Without a path `/v1` is meant; one that ends with
  /// `/embeddings` is taken as it is.
  std::string url{};
  std::string model{};
  /// Sent as a bearer token. Empty: none is sent.
  std::string key{};
  /// Asked for; 0: as many as the model has.
  std::size_t dimensions = 0;
  /// What the model wants before texts that are searched for, and before those that are found.
  std::string query_prefix{};
  std::string document_prefix{};
  /// Asks for a quarter of the bytes. Answers are understood in either form.
  bool base64 = false;
  std::chrono::milliseconds timeout{30000};
};

/// Why a text has no vector.
struct EmbeddingFailure {
  enum class Fault : unsigned char {
    kText,      // it will be refused for ever: it is too long
    kUnclear,   // perhaps the text: to be tried again, with fewer others, and not for ever
    kEndpoint,  // any other text would have failed, too
  };
  Fault fault = Fault::kUnclear;
  Error error;
  /// How long the endpoint wants to be left alone (Retry-After).
  std::chrono::milliseconds wait{0};
};

struct Embedding {
  /// Empty when there is a failure.
  std::vector<float> vector{};
  std::optional<EmbeddingFailure> failure{};
};

class Embedder {
 public:
  /// `invalid_argument` for a URL, a model or a key that cannot be used.
  static Result<Embedder> make(EmbedderOptions options, std::shared_ptr<net::HttpClient> client);

  /// What vectors depend on: endpoint, model, dimensions, prefixes. Vectors of different
  /// fingerprints must not be compared.
  const std::string& fingerprint() const { return fingerprint_; }

  /// What becomes of each of the texts, in order. One request, as long as none of them is refused
  /// for its length; then the batch is halved until the one is found, and the others have theirs.
  std::vector<Embedding> embed(std::span<const std::string_view> texts,
                               std::stop_token stop = {}) const;

  /// The vector to search with. Who asks is waiting: nothing is tried twice. Errors as
  /// HttpClient::send, and what the endpoint says.
  Result<std::vector<float>> embed_query(std::string_view text, std::stop_token stop = {}) const;

 private:
  Embedder(EmbedderOptions options, std::shared_ptr<net::HttpClient> client);

  struct Reply {
    std::vector<std::vector<float>> vectors{};
    std::optional<EmbeddingFailure> failure{};
  };
  Reply ask(std::span<const std::string_view> texts, std::string_view prefix,
            const std::stop_token& stop) const;
  std::string body(std::span<const std::string_view> texts, std::string_view prefix) const;
  EmbeddingFailure refusal(const net::HttpAnswer& answer) const;

  EmbedderOptions options_;
  std::shared_ptr<net::HttpClient> client_;
  std::string url_;
  std::string fingerprint_;
};

}  // namespace quipu::recall
