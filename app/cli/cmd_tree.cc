#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/message_text.h"
#include "cli/open_session.h"
#include "cli/pager.h"
#include "cli/times.h"
#include "cli/tree_layout.h"
#include "quipu/conversation.h"

namespace quipu::cli {
namespace {

using Ordinal = SessionTree::Ordinal;

constexpr std::size_t kSpeakerColumns = 12;
constexpr std::size_t kPreviewColumns = 120;

struct TreeArguments {
  std::string session;
};

Result<void> print_json(Context& context, const SessionTree& tree) {
  auto ids = entry_ids(tree);
  if (!ids) return std::move(ids).error();
  JsonWriter json;
  const auto list = [&](std::string_view name, const std::vector<Ordinal>& ordinals) {
    json.key(name).begin_array();
    for (const Ordinal entry : ordinals) json.value((*ids)[entry]);
    json.end_array();
  };
  std::vector<Ordinal> nodes;
  for (Ordinal entry = 0; entry < tree.size(); ++entry) {
    if (tree.is_node(entry)) nodes.push_back(entry);
  }
  const auto head = tree.head();
  json.begin_object();
  list("entries", nodes);
  list("roots", tree.roots());
  list("leaves", tree.leaves());
  list("branchPoints", tree.branch_points());
  list("heads", head ? std::vector{*head} : std::vector<Ordinal>());
  context.out.data_line(json.end_object().text());
  return {};
}

// What stands beside a node. Safe for a terminal.
struct Label {
  std::string speaker;
  std::string preview;
};

Label label_of(const Context& context, std::string_view speaker, std::string_view preview) {
  const Charset charset = context.out.terminal().charset();
  const std::string_view ellipsis = Glyphs::of(context.out.terminal()).ellipsis;
  return {.speaker = cut(safe_line(speaker, charset), kSpeakerColumns, ellipsis),
          .preview = cut(safe_line(preview, charset), kPreviewColumns, ellipsis)};
}

Result<std::vector<Label>> read_labels(Context& context, Store& store, const std::string& session,
                                       EntryReader& reader, Ordinal count) {
  std::vector<Label> labels(count);
  std::unordered_map<std::string, Ordinal> bare;  // whose parts may lie beside them
  for (Ordinal at = 0; at < count; ++at) {
    auto entry = reader.next();
    if (!entry) return std::move(entry).error();
    if (!entry->has_value()) break;
    if ((*entry)->is_fact) continue;
    const Gist gist = gist_of(**entry);
    labels[at] = label_of(context, gist.speaker, gist.preview);
    if (!gist.is_said) bare.emplace((*entry)->id, at);
  }
  if (bare.empty()) return labels;
  auto said = read_conversation(store, session);
  if (!said) return labels;  // what it holds can be shown without
  for (const Utterance& utterance : *said) {
    const auto found = bare.find(utterance.entry_id);
    if (found == bare.end() || utterance.message.parts.empty()) continue;
    labels[found->second] =
        label_of(context, name(utterance.message.role), preview_of(utterance.message));
    bare.erase(found);
  }
  return labels;
}

class TreePrinter {
 public:
  TreePrinter(Context& context, const SessionTree& tree, std::vector<std::string> ids,
              std::vector<Label> labels)
      : out_(context.out),
        terminal_(context.out.terminal()),
        glyphs_(Glyphs::of(terminal_)),
        labels_(std::move(labels)),
        ids_(std::move(ids)),
        short_ids_(ids_),
        leaves_(tree.leaves()),
        head_(tree.head()) {
    for (Ordinal entry = 0; entry < tree.size(); ++entry) {
      if (!tree.is_node(entry)) continue;
      ids_[entry] = safe_line(short_ids_.of(ids_[entry]), terminal_.charset());
      id_columns_ = std::max(id_columns_, columns_of(ids_[entry]));
      speaker_columns_ = std::max(speaker_columns_, columns_of(labels_[entry].speaker));
    }
    id_columns_ = std::min(id_columns_, kIdColumns);
  }

  void print(const TreeLine& line) {
    const bool leaf = std::binary_search(leaves_.begin(), leaves_.end(), line.node);
    const bool head = head_ == line.node;
    const std::size_t rails = line.depth - (line.starts_branch ? 1 : 0);
    std::string left;
    for (std::size_t i = 0; i < rails; ++i) left.append(glyphs_.vertical).append(" ");
    if (line.starts_branch) left += glyphs_.tee;

    const Label& label = labels_[line.node];
    std::string middle = fmt::format(
        " {}  {}", pad(cut(ids_[line.node], id_columns_, glyphs_.ellipsis), id_columns_),
        pad(label.speaker, speaker_columns_));
    const std::string_view mark = head ? "[head]" : leaf ? "[leaf]" : "";
    std::string preview = label.preview;
    if (terminal_.width > 0) {
      const std::size_t used =
          columns_of(left) + 1 + columns_of(middle) + 2 + (mark.empty() ? 0 : columns_of(mark) + 1);
      preview = cut(preview, terminal_.width > used ? terminal_.width - used : 0, glyphs_.ellipsis);
    }
    const Style node_style = line.on_head_path ? Style::kGreen : Style::kDim;
    std::string text = paint(terminal_, Style::kDim, left);
    text += paint(terminal_, node_style, line.on_head_path ? glyphs_.current : glyphs_.node);
    text += middle;
    if (!mark.empty()) text += " " + paint(terminal_, head ? Style::kGreen : Style::kYellow, mark);
    if (!preview.empty()) text += "  " + preview;
    out_.line(text);
  }

 private:
  static constexpr std::size_t kIdColumns = 36;  // a whole UUID

  Output& out_;
  const Terminal& terminal_;
  const Glyphs& glyphs_;
  std::vector<Label> labels_;
  std::vector<std::string> ids_;  // whole, then as shown
  const ShortIds short_ids_;
  const std::vector<Ordinal> leaves_;
  const std::optional<Ordinal> head_;
  std::size_t id_columns_ = 0;
  std::size_t speaker_columns_ = 0;
};

Result<void> print_drawing(Context& context, Store& store, const std::string& id,
                           const SessionTree& tree) {
  const std::vector<TreeLine> lines = lay_out(tree);
  if (lines.empty()) {
    context.note(fmt::format("session {} has no messages yet", id));
    return {};
  }
  auto ids = entry_ids(tree);
  if (!ids) return std::move(ids).error();
  auto reader = store.sessions().read_session(id, {.count = tree.size()});
  if (!reader) return std::move(reader).error();
  auto labels = read_labels(context, store, id, *reader, tree.size());
  if (!labels) return std::move(labels).error();

  Pager pager;
  if (!context.no_pager) pager.start(context.out);
  context.out.line(paint(context.out.terminal(), Style::kBold, id));
  TreePrinter printer(context, tree, std::move(ids).value(), std::move(labels).value());
  for (const TreeLine& line : lines) {
    if (context.out.failed()) break;
    printer.print(line);
  }
  context.out.line(
      paint(context.out.terminal(), Style::kDim,
            fmt::format("{}, {}, {}", counted(lines.size(), "node", "nodes"),
                        counted(tree.leaves().size(), "leaf", "leaves"),
                        counted(tree.branch_points().size(), "branch point", "branch points"))));
  pager.finish();
  context.warn_of_damage(id, reader->damaged());
  return {};
}

Result<int> run_tree(Context& context, const TreeArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  auto tree = store.sessions().session_tree(id);
  if (!tree) return std::move(tree).error();
  auto printed =
      context.json ? print_json(context, *tree) : print_drawing(context, store, id, *tree);
  if (!printed) return std::move(printed).error();
  return kExitOk;
}

}  // namespace

void add_tree(CommandLine& line) {
  line.add<TreeArguments>(
      "tree", "draw the branches of a session",
      [](Declare& declare, TreeArguments& arguments) {
        declare.session(arguments.session)
            .footer("The line that leads to the head stays at the left; facts are not shown.");
      },
      run_tree);
}

}  // namespace quipu::cli
