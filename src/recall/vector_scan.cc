#include "recall/vector_scan.h"

#include <atomic>

namespace quipu::recall {
namespace {

using Scan = decltype(&scan_rows_portable);

void choose_and_scan(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
                     std::size_t count, std::int32_t* products);
// Every thread that finds it so early chooses the same.
constinit std::atomic<Scan> chosen{&choose_and_scan};

void choose_and_scan(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
                     std::size_t count, std::int32_t* products) {
  Scan best = &scan_rows_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) best = &scan_rows_avx2;
#endif
  chosen.store(best, std::memory_order_relaxed);
  best(query, rows, width, count, products);
}

}  // namespace

void scan_rows(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
               std::size_t count, std::int32_t* products) {
  chosen.load(std::memory_order_relaxed)(query, rows, width, count, products);
}

void scan_rows_portable(const std::int8_t* query, const std::int8_t* rows, std::size_t width,
                        std::size_t count, std::int32_t* products) {
  for (std::size_t row = 0; row < count; ++row, rows += width) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += std::int32_t{query[i]} * rows[i];
    products[row] = sum;
  }
}

}  // namespace quipu::recall
