// Vectors as they come from callers and endpoints: any length, 32-bit floats. What is
// checked here, once, is believed everywhere behind.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::recall {

/// No model is near it; a product of two quantised vectors stays inside 32 bits.
inline constexpr std::size_t kDimensionsMax = 65536;

/// Whether it has a direction: as many components as `dimensions` (0: any number), all finite, not
/// all zero. `invalid_argument` that says which of these it is; whose vector it is adds the caller.
Result<void> check_vector(std::span<const float> vector, std::size_t dimensions = 0);

/// Four bytes a component, little-endian: how vectors are stored, and, in base64, sent.
std::string vector_bytes(std::span<const float> vector);
/// `invalid_argument` for bytes that are no whole components. Says nothing about their values.
Result<std::vector<float>> vector_of_bytes(std::string_view bytes);

}  // namespace quipu::recall
