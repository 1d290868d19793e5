#include "search_text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace quipu::bench {
namespace {

constexpr std::size_t kWords = 200'000;
constexpr std::size_t kChances = std::size_t{1} << 22;
constexpr double kZipf = 1.05;
constexpr std::uint64_t kWordSeed = 19'110'724;

std::string made_up_word(std::mt19937_64& random) {
  constexpr std::string_view kBegin[] = {"b",  "c",  "d",  "f",  "g", "l",  "m",  "n",  "p",
                                         "r",  "s",  "t",  "v",  "w", "tr", "st", "pl", "ch",
                                         "sh", "gr", "br", "cl", "k", "h",  ""};
  constexpr std::string_view kMiddle[] = {"a", "e", "i", "o", "u", "ea", "ou", "ai", "oo"};
  constexpr std::string_view kEnd[] = {"", "n", "r", "s", "t", "l", "ck", "nd", "st", "m"};
  std::string word;
  for (std::size_t i = 1 + random() % 4; i > 0; --i) {
    word += kBegin[random() % std::size(kBegin)];
    word += kMiddle[random() % std::size(kMiddle)];
    word += kEnd[random() % std::size(kEnd)];
  }
  return word;
}

}  // namespace

SearchText::SearchText() {
  Random random(kWordSeed);
  std::set<std::string> made;
  while (made.size() < kWords) {
    std::string word = made_up_word(random);
    if (word.size() > 1 && made.insert(word).second) words_.push_back(std::move(word));
  }
  // Short words are common ones.
  std::stable_sort(words_.begin(), words_.begin() + 2000,
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  double all = 0;
  for (std::size_t i = 0; i < kWords; ++i) all += std::pow(i + 1, -kZipf);
  double so_far = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    so_far += std::pow(i + 1, -kZipf);
    const auto end = static_cast<std::size_t>(so_far / all * static_cast<double>(kChances));
    while (chances_.size() < end) chances_.push_back(static_cast<std::uint32_t>(i));
  }
}

const std::string& SearchText::word(Random& random) const {
  return words_[chances_[random() % chances_.size()]];
}

void SearchText::add_prose(std::string& text, Random& random) const {
  if (random() % 50 == 0) {
    char unique[24];
    std::snprintf(unique, sizeof unique, "%012llx",
                  static_cast<unsigned long long>(random() & 0xffffffffffff));
    text += unique;
  } else {
    text += word(random);
  }
  const std::uint64_t after = random() % 16;
  text += after == 0 ? ". " : after == 1 ? ", " : " ";
}

void SearchText::add_code(std::string& text, Random& random) const {
  const auto capital = [](std::string word) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
  };
  switch (random() % 8) {
    case 0:
      text += word(random) + "_" + word(random);
      break;
    case 1:
      text += word(random) + capital(word(random)) + "(";
      break;
    case 2:
      text += "src/" + word(random) + "/" + word(random) + ".cc:" + std::to_string(random() % 900);
      break;
    case 3:
      text += std::to_string(random() % 100'000) + ");";
      break;
    case 4:
      text += " = " + word(random) + ";\n";
      break;
    default:
      add_prose(text, random);
  }
  text += ' ';
}

std::string SearchText::text(std::size_t bytes, bool is_code, Random& random) const {
  std::string text;
  while (text.size() < bytes) is_code ? add_code(text, random) : add_prose(text, random);
  return text;
}

std::vector<NewEntry> SearchText::session(std::uint32_t number) {
  Random random(number);
  std::lognormal_distribution<double> sizes(std::log(900.0), 1.2);
  std::vector<NewEntry> entries;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const bool is_tool = i % 3 == 2;
    const auto bytes = static_cast<std::size_t>(std::min(sizes(random), 200'000.0));
    std::string said = text(bytes, is_tool, random);
    if (number % 100 == 7 && i == 100) said += std::string(kRareWord);
    bytes_ += said.size();
    std::string json;
    for (const char c : said) c == '\n' ? json += "\\n" : json += c;
    NewEntry entry;
    entry.type = "message";
    entry.payload =
        is_tool ? R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"t","content":")" +
                      json + "\"}]}"
                : std::string(R"({"role":")") + (i % 3 == 0 ? "user" : "assistant") +
                      R"(","content":")" + json + "\"}";
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace quipu::bench
