#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/open_session.h"

namespace quipu::cli {
namespace {

struct HeadArguments {
  std::string session;
  std::string entry;
};

Result<std::string> set_head(SessionBranch& branch, const std::string& name) {
  auto entry = resolve_place(branch, name);
  if (!entry) return entry;
  return branch.switch_to(*entry);
}

Result<int> run_head(Context& context, const HeadArguments& arguments) {
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  auto head = arguments.entry.empty() ? branch.head() : set_head(branch, arguments.entry);
  if (!head) return std::move(head).error();

  if (context.json) {
    JsonWriter json;
    json.begin_object().member("sessionId", id).optional_member("head", *head).end_object();
    context.out.data_line(json.text());
  } else if (!head->empty()) {
    context.out.data_line(*head);
  } else {
    context.note(fmt::format("session {} has no messages yet, hence no head", id));
  }
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_head(CommandLine& line) {
  line.add<HeadArguments>(
      "head", "print the entry that the session goes on from, or set it",
      [](Declare& declare, HeadArguments& arguments) {
        declare.session(arguments.session)
            .optional_positional("ENTRY", arguments.entry, "the new head: an entry or label");
      },
      run_head);
}

}  // namespace quipu::cli
