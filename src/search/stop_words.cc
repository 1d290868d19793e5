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

struct Collect : TokenSink {
  bool take(const Token& token) override {
    words.emplace_back(token.text);
    return true;
  }
  std::vector<std::string> words;
};

// As the analyser gives them: stemmed.
std::vector<std::string> analysed() {
  Collect collect;
  analyse(kWords, collect);
  std::ranges::sort(collect.words);
  return collect.words;
}

}  // namespace

bool is_stop_word(std::string_view token) {
  static const std::vector<std::string> words = analysed();
  return std::ranges::binary_search(words, token, {},
                                    [](const std::string& w) -> std::string_view { return w; });
}

}  // namespace quipu::search
