// Any bytes as the answer of an embeddings endpoint: what is believed has a vector for every text,
// each of them fit for a search; what is not leaves a short line for people.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "recall/embedding_answer.h"
#include "recall/vector.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte is how many texts were sent.
  const std::size_t count = data[0] % 8;
  const std::string_view answer(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto vectors = quipu::recall::read_embeddings(answer, count);
  if (vectors.ok()) {
    require(vectors->size() == count);
    for (const auto& vector : *vectors) {
      require(quipu::recall::check_vector(vector, vectors->front().size()).ok());
    }
  } else {
    require(vectors.error().code() == quipu::Code::kIoError);
  }
  const std::string complaint = quipu::recall::read_complaint(answer);
  require(complaint.size() <= 303);
  for (const char c : complaint) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
  return 0;
}
