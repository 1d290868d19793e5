#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/message_text.h"
#include "cli/open_session.h"

namespace quipu::cli {
namespace {

struct DiffArguments {
  std::string session;
  std::string a;
  std::string b;
};

class DiffPrinter {
 public:
  DiffPrinter(Context& context, SessionStore& sessions, const std::string& session_id,
              const SessionTree& tree)
      : context_(context), sessions_(sessions), session_id_(session_id), tree_(tree) {}

  Result<void> print(Style style, std::string_view mark, const std::string& entry_id) {
    auto ordinal = tree_.find(entry_id);
    if (!ordinal) return std::move(ordinal).error();
    auto reader = sessions_.read_session(session_id_, {.first = *ordinal, .count = 1});
    if (!reader) return std::move(reader).error();
    auto entry = reader->next();
    if (!entry) return std::move(entry).error();
    if (!entry->has_value()) return Error(Code::kCorrupt, "entry " + entry_id + " is gone");
    const Terminal& terminal = context_.out.terminal();
    std::string line =
        fmt::format("{} {}  {}  {}", mark, context_.shown(entry_id),
                    context_.shown(speaker_of(**entry)), context_.shown(preview_of(**entry)));
    if (terminal.width > 0) line = cut(line, terminal.width, Glyphs::of(terminal).ellipsis);
    context_.out.line(paint(terminal, style, line));
    return {};
  }

 private:
  Context& context_;
  SessionStore& sessions_;
  const std::string& session_id_;
  const SessionTree& tree_;
};

Result<void> print_diff(Context& context, SessionStore& sessions, const std::string& id,
                        const SessionTree& tree, const BranchDiff& diff) {
  DiffPrinter printer(context, sessions, id, tree);
  if (diff.common_ancestor.empty()) {
    context.note("the two have nothing in common");
  } else if (auto said = printer.print(Style::kDim, " ", diff.common_ancestor); !said) {
    return said;
  }
  for (const std::string& entry : diff.only_a) {
    if (auto said = printer.print(Style::kRed, "-", entry); !said) return said;
  }
  for (const std::string& entry : diff.only_b) {
    if (auto said = printer.print(Style::kGreen, "+", entry); !said) return said;
  }
  return {};
}

Result<int> run_diff(Context& context, const DiffArguments& arguments) {
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  auto a = resolve_place(branch, arguments.a);
  if (!a) return std::move(a).error();
  auto b = resolve_place(branch, arguments.b);
  if (!b) return std::move(b).error();
  auto diff = branch.diff(*a, *b);
  if (!diff) return std::move(diff).error();

  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("a", *a)
        .member("b", *b)
        .optional_member("commonAncestor", diff->common_ancestor)
        .member("onlyA", diff->only_a)
        .member("onlyB", diff->only_b)
        .end_object();
    context.out.data_line(json.text());
    return kExitOk;
  }
  auto printed = print_diff(context, store.sessions(), id, branch.tree(), *diff);
  if (!printed) return std::move(printed).error();
  return kExitOk;
}

}  // namespace

void add_diff(CommandLine& line) {
  line.add<DiffArguments>(
      "diff", "what two branches do not have in common",
      [](Declare& declare, DiffArguments& arguments) {
        declare.session(arguments.session)
            .positional("A", arguments.a, "an entry or label")
            .positional("B", arguments.b, "another one")
            .footer("The last common entry, then those on A's path (-), then those on B's (+).");
      },
      run_diff);
}

}  // namespace quipu::cli
