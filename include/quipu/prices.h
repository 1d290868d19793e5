// Prices: what a request costs where nobody wrote it down, by a file in the user's hands.
//
//   {
//     "version": 1,
//     "updated": "2026-11-01",
//     "currency": "USD",
//     "models": [
//       {"match": "some-model-4*", "provider": "acme", "from": "2026-03-01",
//        "inputPerMTok": 3, "outputPerMTok": 15, "cacheReadPerMTok": 0.3,
//        "cacheWritePerMTok": 3.75, "tiers": [{"aboveInputTokens": 200000, "inputPerMTok": 6,
//        "outputPerMTok": 22.5}]}
//     ]
//   }
//
// docs/usage.md has all members. There are no prices in the library: they change, and a
// wrong one is worse than none.
//
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"
#include "quipu/result.h"

namespace quipu {

/// Prices of one kind of token each, in millionths of a US dollar for a million tokens. Absent:
/// not known, which is something else than 0.
struct TokenPrices {
  std::optional<std::int64_t> input{};
  std::optional<std::int64_t> output{};
  std::optional<std::int64_t> cache_read{};
  std::optional<std::int64_t> cache_write{};
  /// Of output tokens that are reasoning; absent: as other output.
  std::optional<std::int64_t> reasoning{};

  bool operator==(const TokenPrices&) const = default;
};

/// Other prices for a request that takes in more than so many tokens, those from and into
/// the cache included. They hold for all of it.
struct PriceTier {
  std::uint64_t above_input_tokens = 0;
  TokenPrices prices{};  // as below the tier where absent

  bool operator==(const PriceTier&) const = default;
};

struct ModelPrice {
  /// A model's name; `*` stands for any text.
  std::string match{};
  std::string provider{};  // empty: any
  /// The first day on which it holds, UTC, "2026-03-01"; empty: always has.
  std::string from{};
  TokenPrices prices{};
  std::vector<PriceTier> tiers{};  // lowest first

  bool operator==(const ModelPrice&) const = default;
};

/// One request, as far as its price depends on it.
struct PricedRequest {
  std::string_view model{};
  std::string_view provider{};
  /// "2026-03-01", UTC; empty when nobody knows, which no price with a `from` is for.
  std::string_view day{};
};

class PriceList {
 public:
  /// Reads such a file. `invalid_argument` with line and member for anything that is not
  /// exactly that: a member that is misspelt would be a price that nobody sees missing.
  /// `unsupported` for a newer version.
  static Result<PriceList> parse(std::string_view text);

  /// "2026-11-01": what the file says of itself.
  const std::string& updated() const { return updated_; }
  const std::vector<ModelPrice>& models() const { return models_; }

  /// Of those that hold for the request: the one whose `match` says most (characters other
  /// than `*`), then one that names the provider, then the newest. Null: there is none.
  const ModelPrice* find(const PricedRequest& request) const;

 private:
  std::string updated_;
  std::vector<ModelPrice> models_;
};

/// In billionths of a US dollar, rounded to the nearest. Nothing when tokens of some kind were
/// used whose price is not known: a part of a cost is no cost.
std::optional<std::int64_t> cost_nano_usd(const ModelPrice& price, const Usage& usage);

/// Whether `name` is what `pattern` says, in which `*` stands for any text.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace quipu
