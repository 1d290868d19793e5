// An HttpClient that is a whole embeddings endpoint: the vector of a text can be foreseen, and it
// can be told to fail.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/mutex.h"
#include "net/http.h"

namespace quipu::recall {

/// The texts of a request.
inline std::vector<std::string> inputs_of(const std::string& body) {
  std::vector<std::string> texts;
  const auto input = json::find_member(body, "input");
  json::ElementWalk walk(input ? input->value : "");
  while (const auto text = walk.next()) texts.push_back(json::decode_string(text->value));
  return texts;
}

/// A direction that tells texts apart.
inline std::vector<float> vector_for(const std::string& text) {
  float sum = 1;
  for (const char c : text) sum += static_cast<float>(static_cast<unsigned char>(c));
  return {1, static_cast<float>(text.size()), sum};
}

inline std::string embeddings_of(const std::vector<std::string>& texts) {
  std::string body;
  json::Writer out(body);
  out.begin_object().member("object", "list").key("data").begin_array();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.begin_object().member("index", i).key("embedding").begin_array();
    for (const float x : vector_for(texts[i])) out.raw(std::to_string(x));
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return body;
}

class FakeEndpoint : public net::HttpClient {
 public:
  /// Asked first; an answer of status 0 leaves it to the endpoint.
  using Script = std::function<Result<net::HttpAnswer>(const std::vector<std::string>& texts)>;

  void follow(Script script) {
    const MutexLock lock(mutex_);
    script_ = std::move(script);
  }

  Result<net::HttpAnswer> send(const net::HttpRequest& request, std::stop_token) override {
    Script script;
    {
      const MutexLock lock(mutex_);
      requests_.push_back(request);
      script = script_;
    }
    const std::vector<std::string> texts = inputs_of(request.body);
    if (script) {
      auto answer = script(texts);
      if (!answer.ok() || answer->status != 0) return answer;
    }
    return net::HttpAnswer{.status = 200, .body = embeddings_of(texts)};
  }

  std::vector<net::HttpRequest> requests() const {
    const MutexLock lock(mutex_);
    return requests_;
  }
  /// How many texts each request had, sorted: those in flight at the same time have no order.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const auto& request : requests()) sizes.push_back(inputs_of(request.body).size());
    std::ranges::sort(sizes, std::greater<>());
    return sizes;
  }
  void forget() {
    const MutexLock lock(mutex_);
    requests_.clear();
  }

 private:
  mutable Mutex mutex_;
  Script script_ GUARDED_BY(mutex_);
  std::vector<net::HttpRequest> requests_ GUARDED_BY(mutex_);
};

}  // namespace quipu::recall
