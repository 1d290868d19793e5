// The inner loop of a vector search: one query against many rows of 8-bit integers.
//
// The products are whole numbers, so every way to compute them gives the same answer: what is
// found does not depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quipu::recall {

/// Rows begin at multiples of it and are as long as a multiple of it, filled up with zeros.
inline constexpr std::size_t kRowAlignment = 32;

/// products[i] is the inner product of the query and row i. All values are in -127…127, `width` is
/// a multiple of kRowAlignment and at most kDimensionsMax, `query` and `rows` are aligned to it.
/// Uses the instructions that the machine has, chosen at run time.
void scan_rows(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
               std::size_t count, std::int32_t* products);

/// The same on any machine, and for the test that compares the two.
void scan_rows_portable(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
                        std::size_t count, std::int32_t* products);

#if defined(__x86_64__)
void scan_rows_avx2(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
                    std::size_t count, std::int32_t* products);
#endif

}  // namespace quipu::recall
