#include "search/stemmer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sql/database.h"

namespace quipu::search {
namespace {

std::string stem_of(std::string word) {
  word.resize(stem(word));
  return word;
}

// The examples of Porter's paper, carried to the last step.
TEST(Stemmer, KnowsTheExamplesOfItsPaper) {
  const std::vector<std::pair<std::string, std::string>> examples = {
      {"caresses", "caress"},
      {"ponies", "poni"},
      {"ties", "ti"},
      {"caress", "caress"},
      {"cats", "cat"},
      {"feed", "feed"},
      {"agreed", "agre"},
      {"plastered", "plaster"},
      {"bled", "bled"},
      {"motoring", "motor"},
      {"sing", "sing"},
      {"conflated", "conflat"},
      {"troubled", "troubl"},
      {"sized", "size"},
      {"hopping", "hop"},
      {"tanned", "tan"},
      {"falling", "fall"},
      {"hissing", "hiss"},
      {"fizzed", "fizz"},
      {"failing", "fail"},
      {"filing", "file"},
      {"happy", "happi"},
      {"sky", "sky"},
      {"relational", "relat"},
      {"conditional", "condit"},
      {"rational", "ration"},
      {"valenci", "valenc"},
      {"hesitanci", "hesit"},
      {"digitizer", "digit"},
      {"conformabli", "conform"},
      {"radicalli", "radic"},
      {"differentli", "differ"},
      {"vileli", "vile"},
      {"analogousli", "analog"},
      {"vietnamization", "vietnam"},
      {"predication", "predic"},
      {"operator", "oper"},
      {"feudalism", "feudal"},
      {"decisiveness", "decis"},
      {"hopefulness", "hope"},
      {"callousness", "callous"},
      {"formaliti", "formal"},
      {"sensitiviti", "sensit"},
      {"sensibiliti", "sensibl"},
      {"triplicate", "triplic"},
      {"formative", "form"},
      {"formalize", "formal"},
      {"electriciti", "electr"},
      {"electrical", "electr"},
      {"hopeful", "hope"},
      {"goodness", "good"},
      {"revival", "reviv"},
      {"allowance", "allow"},
      {"inference", "infer"},
      {"airliner", "airlin"},
      {"gyroscopic", "gyroscop"},
      {"adjustable", "adjust"},
      {"defensible", "defens"},
      {"irritant", "irrit"},
      {"replacement", "replac"},
      {"adjustment", "adjust"},
      {"dependent", "depend"},
      {"adoption", "adopt"},
      {"homologou", "homolog"},
      {"communism", "commun"},
      {"activate", "activ"},
      {"angulariti", "angular"},
      {"homologous", "homolog"},
      {"effective", "effect"},
      {"bowdlerize", "bowdler"},
      {"probate", "probat"},
      {"rate", "rate"},
      {"cease", "ceas"},
      {"controll", "control"},
      {"roll", "roll"},
      {"archaeology", "archaeolog"},
      {"possibly", "possibl"},
      {"generalizations", "gener"},
      {"oscillators", "oscil"},
  };
  for (const auto& [word, stemmed] : examples) EXPECT_EQ(stem_of(word), stemmed) << word;
}

TEST(Stemmer, ShortAndLongWordsStay) {
  for (const std::string& word :
       {std::string(), std::string("s"), std::string("is"), std::string(65, 's')}) {
    EXPECT_EQ(stem_of(word), word);
  }
}

std::vector<std::string> many_words() {
  const std::vector<std::string> roots = {
      "a",     "y",     "be",   "say",    "try",    "toy",  "hop",   "hopp",   "fil",   "fill",
      "fizz",  "pass",  "rat",  "relat",  "condit", "oper", "trou",  "syz",    "yell",  "eye",
      "ayy",   "crypt", "size", "box",    "show",   "play", "gener", "argu",   "agree", "fre",
      "analo", "bio",   "tech", "electr", "hope",   "e",    "comm",  "posses", "mov",   "ski",
      "tt",    "yyy",   "abil", "sensib", "log",    "bl"};
  const std::vector<std::string> endings = {
      "",      "s",       "es",      "ies",     "sses",  "ed",    "eed",     "ing",   "y",
      "ly",    "ational", "tional",  "enci",    "anci",  "izer",  "ize",     "logi",  "logy",
      "bli",   "bly",     "alli",    "entli",   "eli",   "ousli", "ization", "ation", "ator",
      "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti",  "icate", "ative",
      "alize", "iciti",   "ical",    "ful",     "ness",  "al",    "ance",    "ence",  "er",
      "ic",    "able",    "ible",    "ant",     "ement", "ment",  "ent",     "ion",   "sion",
      "tion",  "ou",      "ism",     "ate",     "iti",   "ous",   "ive",     "e",     "ll",
      "lle",   "ated",    "izing",   "bled",    "sings", "edly",  "ingness"};
  std::vector<std::string> words;
  for (const std::string& root : roots) {
    for (const std::string& ending : endings) {
      for (const char* more : {"", "s", "ed", "ing", "ly"}) words.push_back(root + ending + more);
    }
  }
  return words;
}

// What was measured with SQLite's `porter` holds for this one: they give the same stems.
TEST(Stemmer, IsThatOfSqlite) {
  auto database = sql::Connection::open(":memory:");
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(
      database
          ->execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter ascii');"
                    "CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)")
          .ok());
  const std::vector<std::string> words = many_words();
  std::string text;
  for (const std::string& word : words) text += word + " ";
  auto insert = database->prepare("INSERT INTO words VALUES (?1)");
  ASSERT_TRUE(insert.ok());
  ASSERT_TRUE(insert->bind(1, std::string_view(text)).run().ok());

  auto select = database->prepare("SELECT offset, term FROM places");
  ASSERT_TRUE(select.ok());
  std::size_t count = 0;
  for (auto row = select->step(); row.ok() && *row; row = select->step(), ++count) {
    const std::string& word = words[static_cast<std::size_t>(select->integer(0))];
    EXPECT_EQ(stem_of(word), select->text(1)) << word;
  }
  EXPECT_EQ(count, words.size());
}

}  // namespace
}  // namespace quipu::search
