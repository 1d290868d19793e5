// Any bytes as a price file: an error with a line, or a list whose prices make sense.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "quipu/prices.h"
#include "quipu/usage.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_list(const quipu::PriceList& list) {
  quipu::Usage usage;
  usage.tokens_in = 1'000'000;
  usage.tokens_out = UINT64_MAX;
  usage.reasoning = 7;
  for (const quipu::ModelPrice& price : list.models()) {
    require(!price.match.empty());
    require(quipu::matches_pattern(price.match, price.match));
    const quipu::ModelPrice* found =
        list.find({.model = price.match, .provider = price.provider, .day = "9999-12-31"});
    require(found != nullptr);
    const auto cost = quipu::cost_nano_usd(*found, usage);
    require(!cost || *cost >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = quipu::PriceList::parse(text);
  if (list.ok()) {
    check_list(*list);
  } else if (list.error().code() == quipu::Code::kInvalidArgument) {
    require(list.error().message().find("line ") == 0);
  }
  if (const auto record = quipu::read_usage_record(text); record.ok()) {
    require(record->usage.extra.empty());
  }
  return 0;
}
