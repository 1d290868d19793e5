#include <array>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"

namespace quipu::cli {
namespace {

struct HeadArguments {
  std::string session;
  std::string entry;
};

Result<std::string> current_head(const SessionTree& tree) {
  const auto head = tree.head();
  if (!head) return std::string();
  return tree.id(*head);
}

Result<std::string> set_head(SessionStore& sessions, const SessionTree& tree,
                             const std::string& session_id, const std::string& name) {
  auto entry = resolve_node(tree, name);
  if (!entry) return std::move(entry).error();
  auto entry_id = tree.id(*entry);
  if (!entry_id) return entry_id;
  NewEntry fact;
  fact.type = "head";
  fact.payload = JsonWriter().begin_object().member("entryId", *entry_id).end_object().text();
  auto stored = sessions.append_session_entries(session_id, std::array{fact});
  if (!stored) return std::move(stored).error();
  return entry_id;
}

Result<int> run_head(Context& context, const HeadArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), arguments.session);
  if (!id) return std::move(id).error();
  auto tree = store->sessions().session_tree(*id);
  if (!tree) return std::move(tree).error();
  auto head = arguments.entry.empty() ? current_head(*tree)
                                      : set_head(store->sessions(), *tree, *id, arguments.entry);
  if (!head) return std::move(head).error();

  if (context.json) {
    JsonWriter json;
    json.begin_object().member("sessionId", *id).optional_member("head", *head).end_object();
    context.out.data_line(json.text());
  } else if (!head->empty()) {
    context.out.data_line(*head);
  } else {
    context.note(fmt::format("session {} has no messages yet, hence no head", *id));
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_head(CommandLine& line) {
  line.add<HeadArguments>(
      "head", "print the entry that the session goes on from, or set it",
      [](Declare& declare, HeadArguments& arguments) {
        declare.session(arguments.session)
            .optional_positional("ENTRY", arguments.entry, "the new head");
      },
      run_head);
}

}  // namespace quipu::cli
