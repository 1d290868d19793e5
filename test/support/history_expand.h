// Names, short forms and repetitions in the text of a history.
#pragma once

#include <map>
#include <string>

namespace quipu::test {

class HistoryNames {
 public:
  /// `name` with its sign: `@s1` or `$x`.
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  /// Replaces known names, `$(TEXT*N)` and `$x(HEX)`; leaves everything else.
  std::string expand(const std::string& text) const;

 private:
  std::map<std::string, std::string> values_;
};

/// The JSON of a short form; anything else as it is.
std::string long_form(const std::string& entry);

}  // namespace quipu::test
