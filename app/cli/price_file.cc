#include "cli/price_file.h"

#include <filesystem>

#include "cli/environment.h"
#include "cli/input.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

std::string usual_place() {
  const std::string config = environment("XDG_CONFIG_HOME");
  // The specification: a relative path there is to be ignored.
  if (config.starts_with('/')) return config + "/quipu/prices.json";
  const std::string home = environment("HOME");
  return home.empty() ? std::string() : home + "/.config/quipu/prices.json";
}

}  // namespace

Result<std::optional<PriceFile>> load_prices(const std::string& named) {
  std::string path = named.empty() ? environment("QUIPU_PRICES") : named;
  if (path.empty()) {
    path = usual_place();
    std::error_code failed;
    if (path.empty() || !std::filesystem::exists(path, failed)) return std::optional<PriceFile>();
  }
  auto input = Input::open(path);
  if (!input) return std::move(input).error();
  auto text = input->read_all(kFileBytesMax);
  if (!text) return std::move(text).error();
  auto list = PriceList::parse(*text);
  if (!list) return std::move(list).error().in(path);
  return std::optional(PriceFile{.path = path, .list = std::move(list).value()});
}

}  // namespace quipu::cli
