#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "quipu/recall.h"

namespace quipu {
namespace {

constexpr std::size_t kTimeoutSecondsMax = 24 * 60 * 60;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : std::string();
}

// Nothing: not set. What is no whole number becomes the largest there is, which the endpoint's
// description is refused for: nobody would notice that it was passed over.
std::optional<std::size_t> number(const char* name) {
  const std::string text = variable(name);
  if (text.empty()) return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? number : std::numeric_limits<std::size_t>::max();
}

}  // namespace

EmbeddingEndpoint EmbeddingEndpoint::from_environment() {
  EmbeddingEndpoint endpoint;
  endpoint.url = variable("QUIPU_EMBED_URL");
  endpoint.model = variable("QUIPU_EMBED_MODEL");
  endpoint.key = variable("QUIPU_EMBED_KEY");
  endpoint.dimensions = number("QUIPU_EMBED_DIMENSIONS").value_or(0);
  endpoint.query_prefix = variable("QUIPU_EMBED_QUERY_PREFIX");
  endpoint.document_prefix = variable("QUIPU_EMBED_DOCUMENT_PREFIX");
  if (const auto seconds = number("QUIPU_EMBED_TIMEOUT")) {
    const bool is_sane = *seconds <= kTimeoutSecondsMax;
    endpoint.timeout = std::chrono::seconds(is_sane ? static_cast<std::int64_t>(*seconds) : 0);
  }
  return endpoint;
}

}  // namespace quipu
