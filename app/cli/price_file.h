// Where the user's prices are.
#pragma once

#include <optional>
#include <string>

#include "quipu/prices.h"

namespace quipu::cli {

struct PriceFile {
  std::string path;
  PriceList list;
};

/// `named` (--prices), else QUIPU_PRICES, else `quipu/prices.json` in the user's
/// configuration. Nothing when there is none in the last place; a file that was named must
/// be there. Errors name the file.
Result<std::optional<PriceFile>> load_prices(const std::string& named);

}  // namespace quipu::cli
