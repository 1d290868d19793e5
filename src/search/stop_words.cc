#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "search/analyser.h"

namespace quipu::search {
namespace {

// English words that do a sentence's grammar, and what apostrophes leave of them (don't, I'll,
// it's). Words that can be what a question is about (will, new, first, may) are not here.
constexpr std::string_view kWords =
    "a an the "
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs themselves "
    "this that these those "
    "who whom whose which what when where why how "
    "am is are was were be been being do does did doing done have has had having "
    "can could shall should would might must ought "
    "and or but nor if then else because as until while though although since unless whether than "
    "of at by for with about against between into through during to from in on off over under "
    "out up down upon within without toward towards among "
    "not no yes so too very just also only own same such both each any all some more most other "
    "here there again once ever there now "
    "s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn "
    "shouldn mustn ain";

std::vector<std::string_view> sorted_words() {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < kWords.size();) {
    const std::size_t end = std::min(kWords.find(' ', at), kWords.size());
    words.push_back(kWords.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::sort(words);
  return words;
}

}  // namespace

bool is_stop_word(std::string_view word) {
  static const std::vector<std::string_view> words = sorted_words();
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::binary_search(words, std::string_view(lower));
}

}  // namespace quipu::search
