#include "quipu/prices.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"

namespace quipu {
namespace {

using json::Kind;
using json::Member;

constexpr std::int64_t kVersion = 1;
// A dollar a token: no price is as high, many a slipped point is.
constexpr double kPerMTokMax = 1e6;
constexpr double kCostMax = 1e18;

struct PriceMember {
  std::string_view key;
  std::optional<std::int64_t> TokenPrices::*field;
};
constexpr PriceMember kPrices[] = {
    {"inputPerMTok", &TokenPrices::input},
    {"outputPerMTok", &TokenPrices::output},
    {"cacheReadPerMTok", &TokenPrices::cache_read},
    {"cacheWritePerMTok", &TokenPrices::cache_write},
    {"reasoningPerMTok", &TokenPrices::reasoning},
};

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_timestamp(std::string(text) + "T00:00:00Z").has_value();
}

/// Reads the file and knows where it is. All views are into `text`.
class PriceReader {
 public:
  explicit PriceReader(std::string_view text) : text_(text) {}

  Result<void> read(std::string& updated, std::vector<ModelPrice>& models) {
    std::vector<Member> members;
    if (const auto scanned = json::scan_object(text_, members); !scanned.ok()) {
      return wrong_json(scanned.error());
    }
    TRY(check_once(members));
    // First: what else is in the file of a newer program, nobody here knows.
    TRY(read_version(members));
    const Member* list = nullptr;
    bool has_currency = false;
    for (const Member& member : members) {
      const std::string key = json::decode_string(member.key);
      if (key == "updated") {
        TRY_ASSIGN(updated, date(member));
      } else if (key == "currency") {
        if (member.value != "\"USD\"") return wrong(member, "is not \"USD\"");
        has_currency = true;
      } else if (key == "models") {
        if (member.kind != Kind::kArray) return wrong(member, "is no array");
        list = &member;
      } else if (key != "version" && key != "note") {
        return wrong(member, "is not known here");
      }
    }
    if (updated.empty()) return lacks(text_, "updated");
    if (!has_currency) return lacks(text_, "currency");
    if (list == nullptr) return lacks(text_, "models");
    return read_models(list->value, models);
  }

 private:
  Result<void> read_version(const std::vector<Member>& members) {
    for (const Member& member : members) {
      if (!json::key_equals(member.key, "version")) continue;
      std::int64_t version = 0;
      TRY_ASSIGN(version, whole_number<std::int64_t>(member));
      if (version == kVersion) return {};
      if (version < kVersion) return wrong(member, "is no version");
      return Error(Code::kUnsupported, "prices of version " + std::to_string(version) +
                                           ", this program knows " + std::to_string(kVersion));
    }
    return lacks(text_, "version");
  }

  Result<void> read_models(std::string_view array, std::vector<ModelPrice>& models) {
    json::ElementWalk walk(array);
    while (const auto element = walk.next()) {
      if (element->kind != Kind::kObject) return wrong_at(element->value, "a price is an object");
      TRY_ASSIGN(ModelPrice price, read_model(element->value));
      const bool is_repeated = std::any_of(models.begin(), models.end(), [&](const auto& other) {
        return other.match == price.match && other.provider == price.provider &&
               other.from == price.from;
      });
      if (is_repeated) {
        return wrong_at(element->value, "a second price for \"" + price.match + "\"" +
                                            (price.from.empty() ? "" : " from " + price.from));
      }
      models.push_back(std::move(price));
    }
    return {};
  }

  Result<ModelPrice> read_model(std::string_view object) {
    ModelPrice price;
    std::vector<Member> members = members_of(object);
    TRY(check_once(members));
    for (const Member& member : members) {
      const std::string key = json::decode_string(member.key);
      if (key == "match" || key == "provider") {
        if (member.kind != Kind::kString) return wrong(member, "is no text");
        (key == "match" ? price.match : price.provider) = json::decode_string(member.value);
      } else if (key == "from") {
        TRY_ASSIGN(price.from, date(member));
      } else if (key == "tiers") {
        TRY_ASSIGN(price.tiers, read_tiers(member));
      } else if (key != "note") {
        TRY(read_price(member, key, price.prices));
      }
    }
    if (price.match.empty()) return lacks(object, "match");
    return price;
  }

  Result<std::vector<PriceTier>> read_tiers(const Member& list) {
    if (list.kind != Kind::kArray) return wrong(list, "is no array");
    std::vector<PriceTier> tiers;
    json::ElementWalk walk(list.value);
    while (const auto element = walk.next()) {
      if (element->kind != Kind::kObject) return wrong_at(element->value, "a tier is an object");
      PriceTier tier;
      const std::vector<Member> members = members_of(element->value);
      TRY(check_once(members));
      for (const Member& member : members) {
        const std::string key = json::decode_string(member.key);
        if (key == "aboveInputTokens") {
          TRY_ASSIGN(tier.above_input_tokens, whole_number<std::uint64_t>(member));
        } else {
          TRY(read_price(member, key, tier.prices));
        }
      }
      if (tier.above_input_tokens == 0) return lacks(element->value, "aboveInputTokens");
      if (!tiers.empty() && tier.above_input_tokens <= tiers.back().above_input_tokens) {
        return wrong_at(element->value, "tiers go from the lowest to the highest");
      }
      tiers.push_back(tier);
    }
    return tiers;
  }

  Result<void> read_price(const Member& member, std::string_view key, TokenPrices& into) {
    for (const PriceMember& known : kPrices) {
      if (key != known.key) continue;
      double price = 0;
      const char* const end = member.value.data() + member.value.size();
      const auto read = std::from_chars(member.value.data(), end, price);
      const bool is_number = member.kind == Kind::kNumber && read.ec == std::errc();
      if (!is_number || price < 0) return wrong(member, "is no price");
      if (price > kPerMTokMax) return wrong(member, "is more than a dollar a token");
      into.*known.field = std::llround(price * 1e6);
      return {};
    }
    return wrong(member, "is not known here");
  }

  template <class T>
  Result<T> whole_number(const Member& member) {
    T number{};
    const char* const end = member.value.data() + member.value.size();
    const auto read = std::from_chars(member.value.data(), end, number);
    if (member.kind != Kind::kNumber || read.ec != std::errc() || read.ptr != end) {
      return wrong(member, "is no whole number");
    }
    return number;
  }

  Result<std::string> date(const Member& member) {
    std::string text = member.kind == Kind::kString ? json::decode_string(member.value) : "";
    if (!is_date(text)) return wrong(member, "is no date such as \"2026-03-01\"");
    return text;
  }

  static std::vector<Member> members_of(std::string_view object) {
    std::vector<Member> members;
    json::MemberWalk walk(object);
    while (const auto member = walk.next()) members.push_back(*member);
    return members;
  }

  // Of two members of one name a reader would take either.
  Result<void> check_once(const std::vector<Member>& members) {
    const auto twice = json::find_duplicate_key(members);
    if (!twice) return {};
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      if (json::key_equals(member->key, *twice)) return wrong(*member, "is there twice");
    }
    return {};
  }

  // ---- errors

  Error wrong_at(std::string_view where, const std::string& what) const {
    const std::string_view before =
        text_.substr(0, static_cast<std::size_t>(where.data() - text_.data()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    return Error(Code::kInvalidArgument, "line " + std::to_string(line) + ": " + what)
        .with_hint("docs/usage.md describes the file.");
  }
  Error wrong(const Member& member, const std::string& what) const {
    return wrong_at(member.value, "\"" + json::decode_string(member.key) + "\" " + what);
  }
  Error lacks(std::string_view object, const std::string& member) const {
    return wrong_at(object, "there is no \"" + member + "\"");
  }
  // The scanner counts bytes; whoever looks into the file wants the line.
  Error wrong_json(const Error& error) const {
    const std::string& message = error.message();
    constexpr std::string_view kAt = "at byte ";
    std::size_t byte = 0;
    if (const std::size_t at = message.find(kAt); at != std::string::npos) {
      const char* const digits = message.data() + at + kAt.size();
      std::from_chars(digits, message.data() + message.size(), byte);
    }
    return wrong_at(text_.substr(std::min(byte, text_.size())), message);
  }

  const std::string_view text_;
};

std::size_t literal_length(std::string_view pattern) {
  return pattern.size() - static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
}

bool says_more(const ModelPrice& a, const ModelPrice& b) {
  const std::size_t mine = literal_length(a.match);
  const std::size_t other = literal_length(b.match);
  if (mine != other) return mine > other;
  if (a.provider.empty() != b.provider.empty()) return !a.provider.empty();
  if (a.from != b.from) return a.from > b.from;
  return a.match < b.match;  // whichever, but always the same
}

}  // namespace

Result<PriceList> PriceList::parse(std::string_view text) {
  PriceList list;
  TRY(PriceReader(text).read(list.updated_, list.models_));
  return list;
}

// Greedy with one way back: the last `*` takes one character more.
bool matches_pattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

const ModelPrice* PriceList::find(const PricedRequest& request) const {
  const ModelPrice* best = nullptr;
  for (const ModelPrice& price : models_) {
    const bool holds = (price.provider.empty() || price.provider == request.provider) &&
                       (price.from.empty() || price.from <= request.day) &&
                       matches_pattern(price.match, request.model);
    if (holds && (best == nullptr || says_more(price, *best))) best = &price;
  }
  return best;
}

std::optional<std::int64_t> cost_nano_usd(const ModelPrice& price, const Usage& usage) {
  const std::uint64_t in = usage.tokens_in.value_or(0);
  const std::uint64_t read = usage.cache_read.value_or(0);
  const std::uint64_t written = usage.cache_write.value_or(0);
  const std::uint64_t out = usage.tokens_out.value_or(0);
  const std::uint64_t reasoning = std::min(usage.reasoning.value_or(0), out);
  const double all_in =
      static_cast<double>(in) + static_cast<double>(read) + static_cast<double>(written);
  TokenPrices prices = price.prices;
  for (const PriceTier& tier : price.tiers) {
    if (all_in <= static_cast<double>(tier.above_input_tokens)) break;
    for (const PriceMember& member : kPrices) {
      if (tier.prices.*member.field) prices.*member.field = tier.prices.*member.field;
    }
  }
  // Millionths of a dollar for a million tokens are trillionths for one: exact in a double
  // for whatever a request costs.
  double pico = 0;
  bool is_known = true;
  const auto add = [&](std::uint64_t tokens, const std::optional<std::int64_t>& each) {
    if (tokens == 0) return;
    if (!each) is_known = false;
    pico += static_cast<double>(tokens) * static_cast<double>(each.value_or(0));
  };
  add(in, prices.input);
  add(read, prices.cache_read);
  add(written, prices.cache_write);
  add(out - reasoning, prices.output);
  add(reasoning, prices.reasoning ? prices.reasoning : prices.output);
  if (!is_known) return std::nullopt;
  return std::llround(std::min(pico / 1000, kCostMax));
}

}  // namespace quipu
