#include <cstdlib>

#include "quipu/recall.h"

namespace quipu {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : std::string();
}

}  // namespace

EmbeddingEndpoint EmbeddingEndpoint::from_environment() {
  EmbeddingEndpoint endpoint;
  endpoint.url = variable("QUIPU_EMBED_URL");
  endpoint.model = variable("QUIPU_EMBED_MODEL");
  endpoint.key = variable("QUIPU_EMBED_KEY");
  return endpoint;
}

}  // namespace quipu
