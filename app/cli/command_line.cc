#include "cli/command_line.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/errors.h"

namespace quipu::cli {
namespace {

constexpr const char* kShortHelp = R"(quipu: an append-only session store for AI agents

  id=$(quipu new --title 'First words')
  echo '{"type":"message","payload":{"role":"user","content":"hi"}}' | quipu append $id
  quipu show $id

  init new                 make a store, a session
  append head fork         write
  branch diff label        branches of a session
  list show tree path cat  read
  state queue recover      what an agent was doing
  attach redact            large parts, secrets
  context compact          what to send to a model
  import export sources    sessions of other agents
  search events            find, follow
  stats usage project      count, keep apart
  memory knowledge         what to know again
  rename tag archive       say what a session is
  verify repair migrate    look after the files
  reindex                  what is found, made anew
  copy upgrade adopt       stores in other places
  dump version

`quipu COMMAND --help` says more about a command, `quipu --help` about all.
)";

// A variable that a script did not set is no reason to take the default place, or all sessions.
CLI::Validator not_empty() {
  return {[](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, ""};
}

void add_shared_options(CLI::App& app, Context& context) {
  app.add_option("--store", context.store,
                 "the store: a directory or a URL (else QUIPU_STORE, else the user's data "
                 "directory)")
      ->check(not_empty())
      ->type_name("URL|DIR");
  app.add_option("--schema", context.schema, "the schema of a PostgreSQL store")
      ->check(not_empty())
      ->type_name("NAME");
  app.add_option("--replica", context.replica, "PostgreSQL: a replica to read from")
      ->check(not_empty())
      ->type_name("URL");
  app.add_flag("--json", context.json, "answers and errors as JSON");
  app.add_option_function<std::string>(
         "--color",
         [&context](const std::string& when) {
           context.color = when == "always"  ? ColorMode::kAlways
                           : when == "never" ? ColorMode::kNever
                                             : ColorMode::kAuto;
         },
         "colours: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->type_name("WHEN");
  app.add_flag("--no-pager", context.no_pager, "no pager for long output on a terminal");
}

void add_option_names(std::vector<std::string>& names, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// CLI11 knows what was wrong, but not what was probably meant.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const auto parsed = app.get_subcommands();
  const std::string help = parsed.empty()
                               ? "`quipu --help`"
                               : fmt::format("`quipu {} --help`", parsed.front()->get_name());
  std::string message = problem.what();
  std::string meant;

  std::vector<std::string> extra = app.remaining(true);
  std::erase(extra, "--");
  if (!extra.empty()) {
    const std::string word = extra.front().substr(0, extra.front().find('='));
    if (word.size() > 1 && word.starts_with('-')) {
      message = fmt::format("unknown option '{}'", word);
      std::vector<std::string> names;
      add_option_names(names, app);
      if (!parsed.empty()) add_option_names(names, *parsed.front());
      meant = nearest(word, names);
    } else if (parsed.empty()) {
      message = fmt::format("unknown command '{}'", word);
      meant = nearest(word, command_names(app));
    } else {
      message = fmt::format("one argument too many: '{}'", word);
    }
  }
  const std::string hint = meant.empty() ? "" : fmt::format("Did you mean '{}'? ", meant);
  return Error(Code::kInvalidArgument, std::move(message))
      .with_hint(hint + help + " shows what there is.");
}

// After an error in the arguments --json may not have been read yet.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

}  // namespace

Declare& Declare::session(std::string& value) {
  return positional("SESSION", value, "a session's id, or any unique prefix of it");
}

Declare& Declare::optional_session(std::string& value) {
  return optional_positional("SESSION", value, "one session (else all)");
}

Declare& Declare::positional(const char* name, std::string& value, const char* help) {
  command_.add_option(name, value, help)->required()->type_name("");
  return *this;
}

Declare& Declare::optional_positional(const char* name, std::string& value, const char* help) {
  command_.add_option(name, value, help)->check(not_empty())->type_name("");
  return *this;
}

Declare& Declare::option(const char* name, const char* type, std::string& value, const char* help) {
  command_.add_option(name, value, help)->check(not_empty())->type_name(type);
  return *this;
}

Declare& Declare::option(const char* name, const char* type, std::optional<std::string>& value,
                         const char* help) {
  command_.add_option(name, value, help)->type_name(type);
  return *this;
}

Declare& Declare::number(const char* name, std::size_t& value, std::size_t least, std::size_t most,
                         const char* help) {
  command_.add_option(name, value, help)
      ->check(CLI::Range(least, most).description(""))
      ->type_name("N");
  return *this;
}

Declare& Declare::choice(const char* name, std::string& value,
                         std::initializer_list<const char*> values, const char* help) {
  std::string type;
  for (const char* one : values) type.append(type.empty() ? "" : "|").append(one);
  const std::vector<std::string> allowed(values.begin(), values.end());
  command_.add_option(name, value, help)
      ->check(CLI::IsMember(allowed).description(""))
      ->type_name(type);
  return *this;
}

Declare& Declare::required_option(const char* name, const char* type, std::string& value,
                                  const char* help) {
  command_.add_option(name, value, help)->required()->type_name(type);
  return *this;
}

Declare& Declare::word_choice(const char* name, std::string& value,
                              std::initializer_list<const char*> values, const char* help) {
  const std::vector<std::string> allowed(values.begin(), values.end());
  command_.add_option(name, value, help)
      ->required()
      ->check(CLI::IsMember(allowed).description(""))
      ->type_name("");
  return *this;
}

Declare& Declare::words(const char* name, std::vector<std::string>& values, const char* help) {
  command_.add_option(name, values, help)->type_name("");
  return *this;
}

Declare& Declare::options(const char* name, const char* type, std::vector<std::string>& values,
                          const char* help) {
  command_.add_option(name, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Declare& Declare::hyphen_words(const char* name, const char* type, std::vector<std::string>& values,
                               const char* help) {
  hyphen_option_ = name;
  return options(name, type, values, help);
}

Declare& Declare::flag(const char* name, bool& value, const char* help) {
  command_.add_flag(name, value, help);
  return *this;
}

Declare& Declare::alias(const char* name) {
  command_.alias(name);
  return *this;
}

Declare& Declare::footer(const char* text) {
  command_.footer(text);
  return *this;
}

CommandLine::CommandLine(Context& context)
    : context_(context),
      app_(std::make_unique<CLI::App>("An append-only session store for AI agents.", "quipu")) {
  app_->set_version_flag("--version", "");
  app_->set_help_flag("-h,--help", "this help");
  // One command only: a session called `list` is an argument, not a command.
  app_->require_subcommand(1);
  app_->fallthrough();
  app_->footer(
      "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 damaged,\n"
      "6 unsupported, 7 busy, 9 not allowed, 11 storage.");
  add_shared_options(*app_, context_);
}

CommandLine::~CommandLine() = default;

void CommandLine::add_command(const char* name, const char* summary,
                              const std::function<void(Declare&)>& declare, Run run) {
  CLI::App* command = app_->add_subcommand(name, summary);
  Declare declaration(*command);
  declare(declaration);
  if (!declaration.hyphen_option().empty()) hyphen_options_[name] = declaration.hyphen_option();
  const std::string own = command->get_footer();
  command->footer(own + (own.empty() ? "" : "\n") +
                  "Also: --store, --schema, --replica, --json, --color, --no-pager.");
  command->callback([this, run = std::move(run)] { context_.run = run; });
}

// The arguments without the program's name, last first as CLI11 wants them, with
// `-word` written as the option that it stands for.
std::vector<std::string> CommandLine::spelled_out(int argc, char** argv) const {
  std::vector<std::string> words(argv + 1, argv + argc);
  // As in many a program: `help` and `help COMMAND`.
  if (words.front() == "help" && words.size() <= 2) {
    words.erase(words.begin());
    // A command that there is none of is an error and no question.
    const auto names = command_names(*app_);
    if (words.empty() || std::find(names.begin(), names.end(), words[0]) != names.end()) {
      words.emplace_back("--help");
    }
  }
  auto option = hyphen_options_.end();
  for (std::string& word : words) {
    if (word == "--") break;
    if (option == hyphen_options_.end()) option = hyphen_options_.find(word);
    const bool hyphened = word.size() > 1 && word[0] == '-' && word[1] != '-' && word != "-h";
    if (option != hyphen_options_.end() && hyphened) word = option->second + '=' + word.substr(1);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  if (argc < 2) {
    // Nothing was asked for, so this is no answer: stdout stays empty.
    fmt::print(stderr, "{}", kShortHelp);
    return kExitUsage;
  }
  try {
    app_->parse(spelled_out(argc, argv));
  } catch (const CLI::CallForHelp&) {
    const auto parsed = app_->get_subcommands();
    context_.inspect_streams();
    const std::string help = parsed.empty() ? app_->help() : parsed.front()->help("quipu");
    context_.out.text(wrap_meanings(help, context_.out.terminal().width));
    return context_.finish(kExitOk);
  } catch (const CLI::CallForVersion&) {
    context_.json = asks_for_json(argc, argv);
    return context_.finish(print_version(context_));
  } catch (const CLI::ParseError& problem) {
    context_.json = asks_for_json(argc, argv);
    context_.inspect_streams();
    context_.report(usage_error(*app_, problem));
    return kExitUsage;
  }
  context_.inspect_streams();
  return std::nullopt;
}

}  // namespace quipu::cli
