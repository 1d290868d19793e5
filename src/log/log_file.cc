#include "log/log_file.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/try.h"
#include "log/recover.h"
#include "quipu/limits.h"

namespace quipu::log {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{64} << 10;
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

Result<std::string> first_line(fs::File& log, std::uint64_t size) {
  for (std::uint64_t window = 4096;; window *= 8) {
    const std::uint64_t read = std::min(window, size);
    TRY_ASSIGN(std::string head, fs::read_up_to(log, 0, static_cast<std::size_t>(read)));
    const auto feed = head.find('\n');
    if (feed != std::string::npos) head.resize(feed);
    if (feed != std::string::npos || read == size || read > kLineBytesMax) return head;
  }
}

Result<std::uint64_t> settled_length(fs::File& log, std::uint64_t from, std::uint64_t size) {
  const std::uint64_t region = size - from;
  for (std::uint64_t window = kWindowBytes;; window *= 4) {
    const std::uint64_t read = std::min(window, region);
    TRY_ASSIGN(const std::string tail,
               fs::read_up_to(log, size - read, static_cast<std::size_t>(read)));
    const std::size_t end = settled_end(tail);
    if (end > 0) return size - read + end;
    if (read == region) return from;
  }
}

Result<std::uint32_t> tail_crc(fs::File& log, std::uint64_t committed) {
  const std::uint64_t size = std::min<std::uint64_t>(committed, kTailCrcBytes);
  TRY_ASSIGN(const std::string tail,
             fs::read_exactly(log, committed - size, static_cast<std::size_t>(size)));
  return crc32c(tail);
}

}  // namespace quipu::log
