#include "log/log_file.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::log {
namespace {

constexpr std::uint64_t kMapBytesMin = std::uint64_t{64} << 10;

}  // namespace

Result<std::string_view> LogBytes::at(std::uint64_t offset, std::size_t size) {
  const std::uint64_t end = offset + size;
  if (end > mapping_.size()) {
    std::uint64_t mapped = kMapBytesMin;
    while (mapped < end) mapped *= 2;
    TRY_ASSIGN(mapping_, file_.map(0, mapped, fs::MapMode::kRead));
  }
  return std::string_view(reinterpret_cast<const char*>(mapping_.data()) + offset, size);
}

Result<std::uint32_t> tail_crc(fs::File& log, std::uint64_t committed) {
  const std::uint64_t size = std::min<std::uint64_t>(committed, kTailCrcBytes);
  TRY_ASSIGN(const std::string tail,
             fs::read_exactly(log, committed - size, static_cast<std::size_t>(size)));
  return crc32c(tail);
}

}  // namespace quipu::log
