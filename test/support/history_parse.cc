// Reads the files: lines, words, comments, blocks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "support/history.h"

namespace quipu::test {
namespace {

const std::set<std::string> kWords = {
    "create",  "append",   "fork",     "expect",  "foreign",        "reopen",
    "bind",    "entries",  "tail",     "head",    "path",           "leaves",
    "roots",   "children", "payload",  "parent",  "type",           "timestamp",
    "meta",    "run",      "json",     "facts",   "inherited",      "redacted",
    "adopted", "sessions", "ancestor", "missing", "parent_session", "branch_points"};

std::vector<std::string> split(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// `foreign SESSION REST`: the rest is a raw line, whatever is in it.
HistoryStep parse_foreign(const std::string& text, int number) {
  HistoryStep step;
  step.line = number;
  const auto name = text.find(' ');
  const auto rest = name == std::string::npos ? name : text.find(' ', name + 1);
  step.words = split(text.substr(0, rest));
  if (rest != std::string::npos) step.value = text.substr(rest + 1);
  step.has_value = true;
  return step;
}

HistoryStep parse_step(const std::string& text, int number) {
  if (text.starts_with("foreign ")) return parse_foreign(text, number);
  HistoryStep step;
  step.line = number;
  const bool ends = text.ends_with(" =");
  const auto equals = ends ? text.size() - 2 : text.find(" = ");
  step.has_value = equals != std::string::npos;
  step.words = split(text.substr(0, equals));
  if (step.has_value && !ends) step.value = text.substr(equals + 3);
  return step;
}

}  // namespace

History load_history(const std::string& path) {
  History history;
  history.name = std::filesystem::path(path).stem().string();
  std::ifstream in(path);
  int number = 0;
  const auto refuse = [&](const char* why) {
    std::fprintf(stderr, "%s:%d: %s\n", path.c_str(), number, why);
    std::abort();
  };
  if (!in) refuse("cannot be read");
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.empty() || text[0] == '#') continue;
    if (text.starts_with("  ")) {
      if (history.steps.empty() || history.steps.back().words[0] != "append") {
        refuse("an entry outside of an append");
      }
      history.steps.back().batch.push_back(text.substr(2));
      continue;
    }
    HistoryStep step = parse_step(text, number);
    if (step.words.empty() || !kWords.contains(step.words[0])) refuse("unknown word");
    if (step.words[0] == "foreign") history.needs_foreign = true;
    history.steps.push_back(std::move(step));
  }
  if (history.steps.empty()) refuse("a history without steps");
  return history;
}

std::vector<History> load_histories(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".history") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<History> histories;
  for (const auto& path : paths) histories.push_back(load_history(path));
  return histories;
}

}  // namespace quipu::test
