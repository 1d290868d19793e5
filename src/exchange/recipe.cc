#include "exchange/recipe.h"

#include <charconv>

#include "base/json_write.h"

namespace quipu::exchange {
namespace {

// What stands behind most records: the first ones say it, behind the very first may
// stand something else.
std::string_view usual_end(const Recipe& recipe) {
  if (recipe.items.empty()) return {};
  return recipe.items[recipe.items.size() / 2].end;
}

}  // namespace

std::string encode_recipe(const Recipe& recipe) {
  std::string payload;
  json::Writer out(payload);
  const std::string_view usual = usual_end(recipe);
  out.begin_object().key("entries").begin_array();
  for (const Recipe::Item& item : recipe.items) out.value(item.id);
  out.end_array().member("end", usual).key("ends").begin_object();
  for (std::size_t i = 0; i < recipe.items.size(); ++i) {
    if (recipe.items[i].end != usual) out.member(std::to_string(i), recipe.items[i].end);
  }
  out.end_object().end_object();
  return payload;
}

Recipe read_recipe(std::string_view payload) {
  Recipe recipe;
  std::string usual;
  if (const auto end = json::find_member(payload, "end")) usual = json::decode_string(end->value);
  if (const auto entries = json::find_member(payload, "entries")) {
    json::ElementWalk walk(entries->value);
    while (const auto id = walk.next()) {
      recipe.items.push_back({.id = json::decode_string(id->value), .end = usual});
    }
  }
  if (const auto ends = json::find_member(payload, "ends")) {
    json::MemberWalk walk(ends->value);
    while (const auto end = walk.next()) {
      std::size_t at = recipe.items.size();
      std::from_chars(end->key.data(), end->key.data() + end->key.size(), at);
      if (at < recipe.items.size()) recipe.items[at].end = json::decode_string(end->value);
    }
  }
  return recipe;
}

}  // namespace quipu::exchange
