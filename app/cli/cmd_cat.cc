#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "cli/progress.h"

namespace quipu::cli {
namespace {

struct CatArguments {
  std::string session;
  bool sealed = false;
};

// The stored lines that readers see, byte for byte.
Result<void> print_sealed(Context& context, SessionStore& sessions, const std::string& id) {
  auto lines = sessions.dump_session(id);
  if (!lines) return std::move(lines).error();
  std::uint32_t damaged = 0;
  for (const DumpLine& line : *lines) {
    if (line.state == "sealed" || line.state == "adopted") context.out.data_line(line.text);
    if (line.state == "damaged") ++damaged;
  }
  context.warn_of_damage(id, damaged);
  return {};
}

Result<void> print_entries(Context& context, SessionStore& sessions, const std::string& id) {
  auto reader = sessions.read_session(id);
  if (!reader) return std::move(reader).error();
  const bool on_screen = context.out.terminal().is_terminal;
  auto summary = sessions.session_ends(id);
  Progress progress(!on_screen && !context.json, context.err, "reading",
                    summary ? summary->entries : 0);
  for (std::uint64_t done = 0; !context.out.failed(); ++done) {
    auto entry = reader->next();
    if (!entry) return std::move(entry).error();
    if (!entry->has_value()) break;
    context.out.data_line(context.json ? valid_json((*entry)->json) : (*entry)->json);
    progress.set(done);
  }
  context.warn_of_damage(id, reader->damaged());
  return {};
}

Result<int> run_cat(Context& context, const CatArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  auto printed = arguments.sealed ? print_sealed(context, store.sessions(), id)
                                  : print_entries(context, store.sessions(), id);
  if (!printed) return std::move(printed).error();
  return kExitOk;
}

}  // namespace

void add_cat(CommandLine& line) {
  line.add<CatArguments>(
      "cat", "print the entries in log order, one JSON object a line",
      [](Declare& declare, CatArguments& arguments) {
        declare.session(arguments.session)
            .flag("--sealed", arguments.sealed, "the session's own log as stored, seals included")
            .footer(
                "A fork's inherited entries come first.\n"
                "Example: quipu cat 0190a1 | jq .payload");
      },
      run_cat);
}

}  // namespace quipu::cli
