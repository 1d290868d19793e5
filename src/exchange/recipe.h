// Recipe: how the records of a source that is written anew make up the source as
// it is now: which of them, in which order, and what stands behind each.
//
// A fact of type `fact.quipu.document`; of several the last holds. Records that
// are not in it any more stay in the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quipu::exchange {

inline constexpr std::string_view kRecipeType = "fact.quipu.document";

struct Recipe {
  struct Item {
    std::string id;
    std::string end;
    bool operator==(const Item&) const = default;
  };
  std::vector<Item> items;
  bool operator==(const Recipe&) const = default;
};

/// A JSON object: {"entries":[id…],"end":usual,"ends":{"3":other…}}.
std::string encode_recipe(const Recipe& recipe);
Recipe read_recipe(std::string_view payload);

}  // namespace quipu::exchange
