#include <array>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "quipu/search.h"

namespace quipu::cli {
namespace {

struct RedactArguments {
  std::string session;
  std::string entry;
  std::string reason;
};

Result<int> run_redact(Context& context, const RedactArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  auto tree = store.sessions().session_tree(id);
  if (!tree) return std::move(tree).error();
  auto entry = resolve_entry(*tree, arguments.entry);
  if (!entry) return std::move(entry).error();
  auto entry_id = tree->id(*entry);
  if (!entry_id) return std::move(entry_id).error();

  NewEntry fact;
  fact.type = "redaction";
  fact.payload = JsonWriter()
                     .begin_object()
                     .member("targetEntryId", *entry_id)
                     .member("reason", arguments.reason)
                     .end_object()
                     .text();
  auto stored = store.sessions().append_session_entries(id, std::array{fact});
  if (!stored) return std::move(stored).error();
  // It is redacted whatever becomes of this.
  if (auto fresh = SessionSearch(store).refresh_if_made(); !fresh) {
    context.warn("the search index has its words until the next search: " +
                 fresh.error().message());
  }

  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("sessionId", stored->session_id)
        .member("redacted", *entry_id)
        .member("redactionId", stored->last_appended_entry_id)
        .end_object();
    context.out.data_line(json.text());
  } else {
    context.note(
        fmt::format("the content of {} is hidden from now on; its bytes are still in the log",
                    context.shown(*entry_id)));
  }
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_redact(CommandLine& line) {
  line.add<RedactArguments>(
      "redact", "hide the content of an entry, in all forks",
      [](Declare& declare, RedactArguments& arguments) {
        declare.session(arguments.session)
            .positional("ENTRY", arguments.entry, "an entry's id, or any unique prefix of it")
            .option("--reason", "TEXT", arguments.reason, "why")
            .footer(
                "Every reader hides it at once, and its words leave the search index. The bytes\n"
                "stay in the log.");
      },
      run_redact);
}

}  // namespace quipu::cli
