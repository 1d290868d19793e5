#include "recall/rows.h"

#include <algorithm>

#include "base/json_write.h"

namespace quipu::recall {

std::string list_of(std::span<const std::string> texts) {
  std::string list;
  json::Writer out(list);
  out.begin_array();
  for (const std::string& text : texts) out.value(text);
  out.end_array();
  return list;
}

std::string list_of(std::span<const std::int64_t> numbers) {
  std::string list;
  json::Writer out(list);
  out.begin_array();
  for (const std::int64_t number : numbers) out.value(number);
  out.end_array();
  return list;
}

std::string_view keep(search::Writes& writes, std::string text) {
  return writes.texts.emplace_back(std::move(text));
}

std::string storable(std::string text) {
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace quipu::recall
