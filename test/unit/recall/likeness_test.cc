#include "recall/likeness.h"

#include <gtest/gtest.h>

#include <random>
#include <span>

namespace quipu::recall {
namespace {

std::string words(std::span<const std::string> all) {
  std::string text;
  for (const std::string& word : all) text += word + " ";
  return text;
}

std::vector<std::string> random_words(std::size_t count, std::mt19937& random) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    std::string word;
    for (int letter = 0; letter < 8; ++letter) {
      word += static_cast<char>('a' + random() % 26);
    }
    all.push_back(word);
  }
  return all;
}

std::size_t shared_bands(const Likeness& one, const Likeness& other) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i < kBands; ++i) shared += one.bands[i] == other.bands[i] ? 1 : 0;
  return shared;
}

TEST(LikenessTest, CaseSpacesAndSignsDoNotCount) {
  const Likeness one = likeness_of("Ada prefers tabs, not spaces.", "s");
  const Likeness other = likeness_of("  ada PREFERS\ttabs -- not spaces!\n", "s");
  EXPECT_EQ(one.words, other.words);
  EXPECT_EQ(one.bands, other.bands);
  EXPECT_EQ(1, common_share(one, other));
}

TEST(LikenessTest, OrderAndWordsCount) {
  const Likeness one = likeness_of("ada likes bob", "s");
  const Likeness other = likeness_of("bob likes ada", "s");
  EXPECT_NE(one.words, other.words);
  EXPECT_LT(common_share(one, other), kAlike);
  EXPECT_LT(common_share(one, likeness_of("ada likes eve", "s")), kAlike);
}

TEST(LikenessTest, TheSameWordsHaveABandOfTheirOwn) {
  const Likeness one = likeness_of("ada likes bob", "s");
  EXPECT_EQ(one.bands.back(), likeness_of("Ada likes Bob!", "s").bands.back());
  EXPECT_NE(one.bands.back(), likeness_of("bob likes ada", "s").bands.back());
}

TEST(LikenessTest, TextsWithoutWordsAreTheirSigns) {
  EXPECT_NE(likeness_of("!!!", "s").words, likeness_of("???", "s").words);
  EXPECT_EQ(likeness_of("!!!", "s").words, likeness_of("!!!", "s").words);
  EXPECT_EQ(likeness_of("", "s").words, likeness_of("", "s").words);
}

TEST(LikenessTest, ScopesDoNotMeet) {
  const Likeness one = likeness_of("ada prefers tabs", "a");
  const Likeness other = likeness_of("ada prefers tabs", "b");
  EXPECT_NE(one.words, other.words);
  EXPECT_EQ(0u, shared_bands(one, other));
}

TEST(LikenessTest, AlikeTextsShareABand) {
  std::mt19937 random(7);
  int missed = 0;
  int met_by_chance = 0;
  constexpr int kPairs = 2000;
  for (int i = 0; i < kPairs; ++i) {
    auto all = random_words(80, random);
    const Likeness one = likeness_of(words(all), "s");
    // A word of 80 is 1 of 80 words and 2 of 79 pairs.
    all[random() % all.size()] = "changedword";
    all[random() % all.size()] = "anotherword";
    const Likeness other = likeness_of(words(all), "s");
    ASSERT_GE(common_share(one, other), kAlike);
    missed += shared_bands(one, other) == 0 ? 1 : 0;
    const Likeness stranger = likeness_of(words(random_words(80, random)), "s");
    met_by_chance += shared_bands(one, stranger) > 0 ? 1 : 0;
  }
  EXPECT_LE(missed, kPairs / 100);
  EXPECT_EQ(0, met_by_chance);
}

}  // namespace
}  // namespace quipu::recall
