#include "search/stemmer.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace quipu::search {
namespace {

struct Rule {
  std::string_view ending;
  std::string_view instead;
};

// One word on its way. What the rules ask is answered from one bit a letter: vowel or not.
class Word {
 public:
  explicit Word(std::span<char> letters) : letters_(letters.data()), size_(letters.size()) {
    read_from(0);
  }

  std::size_t size() const { return size_; }
  /// From the end, 1 is the last; 0 before the beginning.
  char last(std::size_t nth) const { return nth <= size_ ? letters_[size_ - nth] : '\0'; }

  bool ends_with(std::string_view ending) const {
    return size_ > ending.size() && letters_[size_ - 1] == ending.back() &&
           std::memcmp(letters_ + size_ - ending.size(), ending.data(), ending.size()) == 0;
  }

  /// Porter's m of the word without its last `cut` letters: how often a consonant follows a vowel.
  int measure(std::size_t cut) const {
    const std::uint64_t mask = low_bits(size_ - cut);
    return std::popcount((vowels_ << 1) & ~vowels_ & mask);
  }
  bool has_vowel(std::size_t cut) const { return (vowels_ & low_bits(size_ - cut)) != 0; }

  /// Porter's *o: consonant, vowel, consonant at the end, the last none of w, x, y.
  bool ends_short(std::size_t cut) const {
    const std::size_t size = size_ - cut;
    if (size < 3 || ((vowels_ >> (size - 3)) & 7) != 2) return false;
    const char c = letters_[size - 1];
    return c != 'w' && c != 'x' && c != 'y';
  }
  /// As SQLite has it: y is a consonant here.
  bool ends_double_consonant() const { return last(1) == last(2) && !is_vowel(last(1)); }

  void cut(std::size_t count) { size_ -= count; }
  void replace(std::size_t count, std::string_view instead) {
    size_ -= count;
    std::memcpy(letters_ + size_, instead.data(), instead.size());
    size_ += instead.size();
    read_from(size_ - instead.size());
  }

 private:
  static std::uint64_t low_bits(std::size_t count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  static bool is_vowel(char c) {
    constexpr std::uint32_t kVowels = 1U << ('a' - 'a') | 1U << ('e' - 'a') | 1U << ('i' - 'a') |
                                      1U << ('o' - 'a') | 1U << ('u' - 'a');
    return ((kVowels >> ((c - 'a') & 31)) & 1) != 0;
  }

  // y is a vowel after a consonant.
  void read_from(std::size_t at) {
    vowels_ &= low_bits(at);
    for (; at < size_; ++at) {
      const char c = letters_[at];
      const bool is_y = c == 'y' && at > 0 && ((vowels_ >> (at - 1)) & 1) == 0;
      vowels_ |= std::uint64_t{is_vowel(c) || is_y} << at;
    }
  }

  char* letters_;
  std::size_t size_;
  std::uint64_t vowels_ = 0;  // bit n: the n-th letter
};

// The first rule whose ending the word has decides, also when m is too small for it.
void apply(Word& word, std::span<const Rule> rules, int more_than) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.ending)) continue;
    if (word.measure(rule.ending.size()) > more_than) {
      word.replace(rule.ending.size(), rule.instead);
    }
    return;
  }
}

void plural(Word& word) {
  if (word.last(1) != 's') return;
  if (word.ends_with("sses") || word.ends_with("ies")) {
    word.cut(2);
  } else if (word.last(2) != 's') {
    word.cut(1);
  }
}

// After -ed and -ing: what the ending had changed is changed back.
void mend(Word& word) {
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz")) {
    word.replace(0, "e");
  } else if (word.ends_double_consonant()) {
    if (const char c = word.last(1); c != 'l' && c != 's' && c != 'z') word.cut(1);
  } else if (word.measure(0) == 1 && word.ends_short(0)) {
    word.replace(0, "e");
  }
}

void past_and_progress(Word& word) {
  if (word.ends_with("eed")) {
    if (word.measure(3) > 0) word.cut(1);
  } else if (word.ends_with("ed") && word.has_vowel(2)) {
    word.cut(2);
    mend(word);
  } else if (word.ends_with("ing") && word.has_vowel(3)) {
    word.cut(3);
    mend(word);
  }
}

// The second letter from the end says which rules can be meant.
std::span<const Rule> rules_of_step_2(char c) {
  static constexpr Rule kA[] = {{"ational", "ate"}, {"tional", "tion"}};
  static constexpr Rule kC[] = {{"enci", "ence"}, {"anci", "ance"}};
  static constexpr Rule kE[] = {{"izer", "ize"}};
  static constexpr Rule kG[] = {{"logi", "log"}};
  static constexpr Rule kL[] = {
      {"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}};
  static constexpr Rule kO[] = {{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}};
  static constexpr Rule kS[] = {
      {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}};
  static constexpr Rule kT[] = {{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}};
  switch (c) {
    case 'a':
      return kA;
    case 'c':
      return kC;
    case 'e':
      return kE;
    case 'g':
      return kG;
    case 'l':
      return kL;
    case 'o':
      return kO;
    case 's':
      return kS;
    case 't':
      return kT;
    default:
      return {};
  }
}

std::span<const Rule> rules_of_step_3(char c) {
  static constexpr Rule kA[] = {{"ical", "ic"}};
  static constexpr Rule kS[] = {{"ness", ""}};
  static constexpr Rule kT[] = {{"icate", "ic"}, {"iciti", "ic"}};
  static constexpr Rule kU[] = {{"ful", ""}};
  static constexpr Rule kV[] = {{"ative", ""}};
  static constexpr Rule kZ[] = {{"alize", "al"}};
  switch (c) {
    case 'a':
      return kA;
    case 's':
      return kS;
    case 't':
      return kT;
    case 'u':
      return kU;
    case 'v':
      return kV;
    case 'z':
      return kZ;
    default:
      return {};
  }
}

std::span<const Rule> rules_of_step_4(char c) {
  static constexpr Rule kA[] = {{"al", ""}};
  static constexpr Rule kC[] = {{"ance", ""}, {"ence", ""}};
  static constexpr Rule kE[] = {{"er", ""}};
  static constexpr Rule kI[] = {{"ic", ""}};
  static constexpr Rule kL[] = {{"able", ""}, {"ible", ""}};
  static constexpr Rule kN[] = {{"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""}};
  static constexpr Rule kO[] = {{"ion", ""}, {"ou", ""}};
  static constexpr Rule kS[] = {{"ism", ""}};
  static constexpr Rule kT[] = {{"ate", ""}, {"iti", ""}};
  static constexpr Rule kU[] = {{"ous", ""}};
  static constexpr Rule kV[] = {{"ive", ""}};
  static constexpr Rule kZ[] = {{"ize", ""}};
  switch (c) {
    case 'a':
      return kA;
    case 'c':
      return kC;
    case 'e':
      return kE;
    case 'i':
      return kI;
    case 'l':
      return kL;
    case 'n':
      return kN;
    case 'o':
      return kO;
    case 's':
      return kS;
    case 't':
      return kT;
    case 'u':
      return kU;
    case 'v':
      return kV;
    case 'z':
      return kZ;
    default:
      return {};
  }
}

void long_endings(Word& word) {
  apply(word, rules_of_step_2(word.last(2)), 0);
  apply(word, rules_of_step_3(word.last(2)), 0);
  // -ion goes after s and t only.
  const bool keeps_ion = word.ends_with("ion") && word.last(4) != 's' && word.last(4) != 't';
  if (!keeps_ion) apply(word, rules_of_step_4(word.last(2)), 1);
}

void last_letters(Word& word) {
  if (word.last(1) == 'e') {
    const int m = word.measure(1);
    if (m > 1 || (m == 1 && !word.ends_short(1))) word.cut(1);
  }
  if (word.last(1) == 'l' && word.last(2) == 'l' && word.measure(1) > 1) word.cut(1);
}

}  // namespace

std::size_t stem(std::span<char> letters) {
  if (letters.size() < 3 || letters.size() > 64) return letters.size();
  Word word(letters);
  plural(word);
  past_and_progress(word);
  if (word.last(1) == 'y' && word.has_vowel(1)) word.replace(1, "i");
  long_endings(word);
  last_letters(word);
  return word.size();
}

}  // namespace quipu::search
