// The words of the command line: commands, their options, and what is wrong
// with them. The parser behind it is CLI11, which nobody else includes: it is
// slow to compile.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
  /// A required word, one of these: what a command with several faces is to do.
  Declare& action(std::string& value, std::initializer_list<const char*> values, const char* help);
  Declare& flag(const char* name, bool& value, const char* help);
  Declare& alias(const char* name);
  /// Printed at the end of the command's help.
  Declare& footer(const char* text);

 private:
  CLI::App& command_;
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

  Context& context_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace quipu::cli
