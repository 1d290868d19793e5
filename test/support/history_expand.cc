#include "support/history_expand.h"

#include <cctype>
#include <sstream>

#include "base/json_scan.h"

namespace quipu::test {
namespace {

bool is_name_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string repeated(const std::string& inside) {
  const auto star = inside.rfind('*');
  if (star == std::string::npos) return {};
  std::string out;
  const auto times = std::stoul(inside.substr(star + 1));
  for (unsigned long i = 0; i < times; ++i) out.append(inside, 0, star);
  return out;
}

std::string unhex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

}  // namespace

std::string HistoryNames::expand(const std::string& text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool hex = text.compare(at, 3, "$x(") == 0;
    if (hex || text.compare(at, 2, "$(") == 0) {
      const auto begin = text.find('(', at) + 1;
      const auto end = text.find(')', begin);
      const auto inside = text.substr(begin, end - begin);
      out += hex ? unhex(inside) : repeated(inside);
      at = end + 1;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && is_name_byte(text[end])) ++end;
    const auto known = values_.find(text.substr(at, end - at));
    if ((text[at] == '@' || text[at] == '$') && known != values_.end()) {
      out += known->second;
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string long_form(const std::string& entry) {
  if (entry.starts_with('{')) return entry;
  std::istringstream in(entry);
  std::string word, id, sign, other;
  in >> word >> id >> sign >> other;
  const auto json_of = [&](const std::string& type, const std::string& payload) {
    return "{\"id\":" + json::quoted(id) + ",\"type\":\"" + type + "\",\"payload\":{" + payload +
           "}}";
  };
  const std::string target = json::quoted(other);
  if (word == "head" && sign == ">") return json_of("head", "\"entryId\":" + target);
  if (word == "label" && sign == ">") {
    return json_of("label", "\"targetEntryId\":" + target + ",\"label\":" + json::quoted(id));
  }
  if (word == "redact" && sign == ">") {
    return json_of("redaction", "\"targetEntryId\":" + target + ",\"reason\":\"test\"");
  }
  if (word == "fact") return json_of(sign, "");
  if (word != "msg") return entry;
  std::string json = json_of("message", "\"n\":" + json::quoted(id));
  if (sign != "<") return json;
  const std::string parent = other == "null" ? other : target;
  return json.insert(1, "\"parentId\":" + parent + ",");
}

}  // namespace quipu::test
