#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "cli/table.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct LabelArguments {
  std::string session;
  std::string entry;
  std::string name;
  bool list = false;
  std::string remove;
};

Error usage(const char* message) {
  return Error(Code::kInvalidArgument, message)
      .with_hint("label SESSION ENTRY NAME, label SESSION --list, or label SESSION --remove NAME");
}

Result<void> check(const LabelArguments& arguments) {
  const int faces = (arguments.entry.empty() ? 0 : 1) + (arguments.list ? 1 : 0) +
                    (arguments.remove.empty() ? 0 : 1);
  if (faces > 1) return usage("either set, list or remove labels");
  if (!arguments.entry.empty() && arguments.name.empty()) return usage("the label is missing");
  return {};
}

void print_labels(Context& context, const std::vector<Label>& labels) {
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const Label& label : labels) {
      json.begin_object()
          .member("name", label.name)
          .member("entryId", label.entry_id)
          .member("timestamp", label.timestamp)
          .end_object();
    }
    context.out.data_line(json.end_array().text());
    return;
  }
  if (labels.empty()) {
    context.note("no labels");
    return;
  }
  Table table({{.title = "LABEL"}, {.title = "ENTRY"}, {.title = "SINCE", .expendable = true}});
  for (const Label& label : labels) {
    table.add({context.shown(label.name), context.shown(label.entry_id),
               context.shown(local_text(label.timestamp))});
  }
  for (const std::string& text : table.lines(context.out.terminal())) context.out.line(text);
}

Result<void> act(Context& context, SessionBranch& branch, const LabelArguments& arguments) {
  if (!arguments.remove.empty()) return branch.remove_label(arguments.remove);
  if (!arguments.entry.empty()) {
    auto entry = resolve_place(branch, arguments.entry);
    if (!entry) return std::move(entry).error();
    return branch.set_label(*entry, arguments.name);
  }
  auto labels = branch.labels();
  if (!labels) return std::move(labels).error();
  print_labels(context, *labels);
  return {};
}

Result<int> run_label(Context& context, const LabelArguments& arguments) {
  if (auto good = check(arguments); !good) {
    context.report(good.error());
    return kExitUsage;
  }
  auto opened = open_branch(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id, branch] = *opened;
  if (auto done = act(context, branch, arguments); !done) return std::move(done).error();
  const bool changed = !arguments.entry.empty() || !arguments.remove.empty();
  if (changed && context.json) {
    auto labels = branch.labels();
    if (!labels) return std::move(labels).error();
    print_labels(context, *labels);
  }
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_label(CommandLine& line) {
  line.add<LabelArguments>(
      "label", "names for entries: set, list, remove",
      [](Declare& declare, LabelArguments& arguments) {
        declare.session(arguments.session)
            .optional_positional("ENTRY", arguments.entry, "the entry to name")
            .optional_positional("NAME", arguments.name, "its name")
            .flag("--list", arguments.list, "list the labels (also without ENTRY)")
            .option("--remove", "NAME", arguments.remove, "take this name away")
            .footer(
                "An entry has one label, a label one entry: the newest. Wherever a command wants "
                "an\nentry to branch at or to compare, a label will do. With --json the labels as "
                "they are then.");
      },
      run_label);
}

}  // namespace quipu::cli
