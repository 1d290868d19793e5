#include "recall/vector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace quipu::recall {

Result<void> check_vector(std::span<const float> vector, std::size_t dimensions) {
  const auto refuse = [](std::string why) {
    return Error(Code::kInvalidArgument, "the vector " + std::move(why));
  };
  if (vector.empty()) return refuse("has no components");
  if (dimensions != 0 && vector.size() != dimensions) {
    return refuse("has " + std::to_string(vector.size()) + " dimensions, not " +
                  std::to_string(dimensions));
  }
  if (vector.size() > kDimensionsMax) {
    return refuse("has more than " + std::to_string(kDimensionsMax) + " dimensions");
  }
  const auto bad = std::ranges::find_if(vector, [](float x) { return !std::isfinite(x); });
  if (bad != vector.end()) {
    return refuse("is " + std::string(std::isnan(*bad) ? "NaN" : "infinite") + " at component " +
                  std::to_string(bad - vector.begin()));
  }
  if (std::ranges::all_of(vector, [](float x) { return x == 0; })) {
    return refuse("is zero in all components");
  }
  return {};
}

std::string vector_bytes(std::span<const float> vector) {
  std::string bytes;
  bytes.reserve(vector.size() * 4);
  for (const float x : vector) {
    const auto word = std::bit_cast<std::uint32_t>(x);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes += static_cast<char>(static_cast<unsigned char>(word >> shift));
    }
  }
  return bytes;
}

Result<std::vector<float>> vector_of_bytes(std::string_view bytes) {
  if (bytes.size() % 4 != 0) {
    return Error(Code::kInvalidArgument,
                 std::to_string(bytes.size()) + " bytes are no vector of 32-bit floats");
  }
  std::vector<float> vector(bytes.size() / 4);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const auto byte = [&](std::size_t n) {
      return std::uint32_t{static_cast<unsigned char>(bytes[4 * i + n])};
    };
    vector[i] = std::bit_cast<float>(byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24);
  }
  return vector;
}

}  // namespace quipu::recall
