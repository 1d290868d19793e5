// The words of the command line: commands, their options, and what is wrong
// with them. The parser behind it is CLI11, which nobody else includes: it is
// slow to compile.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"

namespace CLI {
class App;
}

namespace quipu::cli {

/// Declares what one command takes. The variables must outlive the parsing;
/// they keep their values when the argument is not given.
class Declare {
 public:
  explicit Declare(CLI::App& command) : command_(command) {}
  /// The option of `hyphen_words`; empty: none.
  const std::string& hyphen_option() const { return hyphen_option_; }

  Declare& session(std::string& value);           // required
  Declare& optional_session(std::string& value);  // else all
  Declare& positional(const char* name, std::string& value, const char* help);
  Declare& optional_positional(const char* name, std::string& value, const char* help);
  Declare& option(const char* name, const char* type, std::string& value, const char* help);
  Declare& required_option(const char* name, const char* type, std::string& value,
                           const char* help);
  Declare& option(const char* name, const char* type, std::optional<std::string>& value,
                  const char* help);
  Declare& number(const char* name, std::size_t& value, std::size_t least, std::size_t most,
                  const char* help);
  Declare& choice(const char* name, std::string& value, std::initializer_list<const char*> values,
                  const char* help);
  /// A required word that is one of these.
  Declare& word_choice(const char* name, std::string& value,
                       std::initializer_list<const char*> values, const char* help);
  /// Any number of words; `name` stands for one.
  Declare& words(const char* name, std::vector<std::string>& values, const char* help);
  /// May be given several times. Words that begin with one hyphen are taken as
  /// its values: `-old` means `NAME old`.
  Declare& hyphen_words(const char* name, const char* type, std::vector<std::string>& values,
                        const char* help);
  /// May be given several times.
  Declare& options(const char* name, const char* type, std::vector<std::string>& values,
                   const char* help);
  Declare& flag(const char* name, bool& value, const char* help);
  Declare& alias(const char* name);
  /// Printed at the end of the command's help.
  Declare& footer(const char* text);

 private:
  CLI::App& command_;
  std::string hyphen_option_;
};

class CommandLine {
 public:
  explicit CommandLine(Context& context);
  ~CommandLine();

  /// A command whose arguments are an `Arguments`: `declare(declare, arguments)`
  /// names them, `run(context, arguments)` is the command.
  template <class Arguments, class Declaration>
  void add(const char* name, const char* summary, Declaration declare,
           Result<int> (*run)(Context&, const Arguments&)) {
    auto arguments = std::make_shared<Arguments>();
    add_command(
        name, summary, [&](Declare& to) { declare(to, *arguments); },
        [&context = context_, arguments, run] { return run(context, *arguments); });
  }

  /// Reads the arguments and looks at the streams. Nothing: `Context::run` is
  /// what was asked for. Else everything has been said, and this is the exit
  /// code.
  std::optional<int> parse(int argc, char** argv);

 private:
  void add_command(const char* name, const char* summary,
                   const std::function<void(Declare&)>& declare, Run run);

  std::vector<std::string> spelled_out(int argc, char** argv) const;

  Context& context_;
  std::unique_ptr<CLI::App> app_;
  std::map<std::string, std::string> hyphen_options_;  // by command
};

}  // namespace quipu::cli
