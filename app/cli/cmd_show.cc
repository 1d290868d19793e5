#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/message_text.h"
#include "cli/pager.h"
#include "cli/summary_json.h"
#include "cli/times.h"
#include "quipu/conversation.h"

namespace quipu::cli {
namespace {

using Ordinal = SessionTree::Ordinal;

// Outputs of tools are longer than what anybody wants to read twice.
constexpr std::size_t kFoldedLines = 12;
constexpr std::size_t kSpeakerColumnsMax = 24;
// A gap in the path that is read over: cheaper than opening the log again.
constexpr Ordinal kGapReadOver = 256;

struct ShowArguments {
  std::string session;
  std::string entry;
  std::string head;
  bool full = false;
  bool raw = false;
};

// Whether lines that begin with + and - are one.
bool is_diff(std::string_view text) {
  return text.starts_with("@@ ") || text.starts_with("diff --git ") ||
         text.find("\n@@ ") != std::string_view::npos;
}

std::optional<Style> style_of_diff_line(std::string_view line) {
  if (line.starts_with("@@ ")) return Style::kCyan;
  if (line.starts_with("+++") || line.starts_with("---")) return Style::kBold;
  if (line.starts_with('+')) return Style::kGreen;
  if (line.starts_with('-')) return Style::kRed;
  return std::nullopt;
}

// Hands the entries with these ordinals (ascending) to `use`, without holding
// more than one.
template <class Use>
Result<void> for_each_entry(SessionStore& sessions, const std::string& id,
                            const std::vector<Ordinal>& wanted, Use use) {
  std::size_t at = 0;
  while (at < wanted.size()) {
    auto reader = sessions.read_session(id, {.first = wanted[at]});
    if (!reader) return std::move(reader).error();
    Ordinal next = wanted[at];
    while (at < wanted.size() && wanted[at] - next <= kGapReadOver) {
      auto entry = reader->next();
      if (!entry) return std::move(entry).error();
      if (!entry->has_value()) return {};
      if (next++ != wanted[at]) continue;
      if (!use(**entry)) return {};
      ++at;
    }
  }
  return {};
}

Style style_of_speaker(std::string_view speaker) {
  if (speaker == "user") return Style::kGreen;
  if (speaker == "assistant") return Style::kBlue;
  if (speaker == "system") return Style::kMagenta;
  return Style::kCyan;
}

// Prints entries with a gutter that their content cannot reach: whatever a text
// imitates, it stands right of the line.
class EntryPrinter {
 public:
  EntryPrinter(Context& context, bool full)
      : out_(context.out),
        terminal_(context.out.terminal()),
        glyphs_(Glyphs::of(terminal_)),
        full_(full) {}

  void print(const EntryView& entry, std::string_view shown_id) {
    const std::string speaker = cut(safe(speaker_of(entry)), kSpeakerColumnsMax, glyphs_.ellipsis);
    style_ = style_of_speaker(speaker);
    std::string facts = safe(shown_id);
    if (!entry.timestamp.empty()) facts += "  " + safe(local_text(entry.timestamp));
    if (speaker != entry.type && entry.type != "message") facts += "  " + safe(entry.type);
    if (entry.inherited) facts += "  inherited";
    if (entry.adopted) facts += "  adopted";
    if (terminal_.width > 0) {
      const std::size_t used = columns_of(speaker) + 2;
      facts = cut(facts, terminal_.width > used ? terminal_.width - used : 0, glyphs_.ellipsis);
    }
    out_.line("");
    out_.line(fmt::format("{}  {}", paint(terminal_, style_, speaker),
                          paint(terminal_, Style::kDim, facts)));
    for (const Block& block : blocks_of(entry)) print(block);
  }

  void print(const Utterance& said, std::string_view shown_id) {
    const std::string speaker(name(said.message.role));
    style_ = style_of_speaker(speaker);
    std::string facts = safe(shown_id) + "  " + safe(local_text(said.timestamp));
    if (!said.message.model.empty()) facts += "  " + safe(said.message.model);
    out_.line("");
    out_.line(fmt::format("{}  {}", paint(terminal_, style_, speaker),
                          paint(terminal_, Style::kDim, facts)));
    for (const Block& block : blocks_of(said.message)) print(block);
  }

 private:
  std::string safe(std::string_view content) const {
    return safe_line(content, terminal_.charset());
  }

  void gutter_line(std::string_view text) {
    out_.line(fmt::format("{} {}", paint(terminal_, style_, glyphs_.vertical), text));
  }

  void print(const Block& block) {
    using Kind = Block::Kind;
    std::string label = safe(block.label);
    if (block.kind == Kind::kToolUse) label = fmt::format("{} {}", glyphs_.arrow_right, label);
    if (block.kind == Kind::kToolResult) label = fmt::format("{} {}", glyphs_.arrow_left, label);
    if (block.kind == Kind::kThinking) label = "(thinking)";
    if (!label.empty()) gutter_line(paint(terminal_, Style::kBold, label));
    if (block.text.empty()) return;

    const std::size_t room = terminal_.width > 12 ? terminal_.width - 2 : terminal_.width;
    const auto lines = wrap(safe_text(block.text, terminal_.charset()), room);
    const bool fold = !full_ && block.kind != Kind::kText && lines.size() > kFoldedLines + 1;
    const std::size_t shown = fold ? kFoldedLines : lines.size();
    const bool diff = is_diff(block.text);
    for (std::size_t i = 0; i < shown; ++i) {
      auto style = diff ? style_of_diff_line(lines[i]) : std::nullopt;
      if (block.kind == Kind::kThinking) style = Style::kDim;
      gutter_line(style ? paint(terminal_, *style, lines[i]) : lines[i]);
    }
    if (fold) {
      gutter_line(paint(terminal_, Style::kDim,
                        fmt::format("({} more lines; --full shows them)", lines.size() - shown)));
    }
  }

  Output& out_;
  const Terminal& terminal_;
  const Glyphs& glyphs_;
  const bool full_;
  Style style_ = Style::kCyan;
};

void print_header(Context& context, const SessionSummary& summary, std::size_t path_length) {
  const Terminal& terminal = context.out.terminal();
  const auto row = [&](std::string_view name, std::string_view content) {
    if (content.empty()) return;
    context.out.line(
        fmt::format("{} {}", paint(terminal, Style::kBold, fmt::format("{:<10}", name)), content));
  };
  row("Session", summary.session_id);
  row("Title", context.shown(summary.title));
  row("Directory",
      context.shown(summary.working_directory.empty() ? summary.cwd : summary.working_directory));
  row("Created", context.shown(local_text(summary.created)));
  row("Updated", local_text(summary.modified_ms));
  row("Entries", fmt::format("{} ({}), {} on this path", summary.entries,
                             bytes_text(summary.log_bytes), path_length));
  row("Forked of", context.shown(summary.parent_session));
  row("Made by", context.shown(summary.spawned_by));
  row("Source", context.shown(summary.source));
  row("Model side",
      context.shown(summary.model_source.empty() ? summary.model_session : summary.model_source));
  row("Head", context.shown(summary.head));
}

struct Chosen {
  std::vector<Ordinal> ordinals;
  bool single = false;
};

Result<Chosen> choose(const SessionTree& tree, const ShowArguments& arguments) {
  Chosen chosen;
  if (!arguments.entry.empty()) {
    auto found = resolve_entry(tree, arguments.entry);
    if (!found) return std::move(found).error();
    chosen = {{*found}, true};
  } else if (!arguments.head.empty()) {
    auto found = resolve_node(tree, arguments.head);
    if (!found) return std::move(found).error();
    chosen.ordinals = tree.path(*found);
  } else if (const auto head = tree.head()) {
    chosen.ordinals = tree.path(*head);
  }
  return chosen;
}

Result<void> print_json(Context& context, SessionStore& sessions, const SessionSummary& summary,
                        const Chosen& chosen) {
  JsonWriter json;
  json.begin_object().key("session");
  write_summary(json, summary);
  json.key(chosen.single ? "entry" : "path");
  if (!chosen.single) json.begin_array();
  auto read =
      for_each_entry(sessions, summary.session_id, chosen.ordinals, [&](const EntryView& entry) {
        json.raw(entry.json);
        return true;
      });
  if (!read) return read;
  if (!chosen.single) json.end_array();
  context.out.data_line(json.end_object().text());
  return {};
}

// As they are stored, a line each.
Result<void> print_raw(Context& context, SessionStore& sessions, const std::string& session,
                       const Chosen& chosen) {
  return for_each_entry(sessions, session, chosen.ordinals, [&](const EntryView& entry) {
    context.out.data_line(context.json ? valid_json(entry.json) : entry.json);
    return !context.out.failed();
  });
}

Result<void> print_text(Context& context, SessionStore& sessions, const SessionSummary& summary,
                        const SessionTree& tree, const Chosen& chosen, bool full) {
  auto ids = entry_ids(tree);
  if (!ids) return std::move(ids).error();
  const ShortIds short_ids(std::move(ids).value());
  if (!chosen.single) print_header(context, summary, chosen.ordinals.size());
  EntryPrinter printer(context, full || chosen.single);
  return for_each_entry(sessions, summary.session_id, chosen.ordinals, [&](const EntryView& entry) {
    const std::string id(entry.id);
    printer.print(entry, chosen.single ? id : short_ids.of(id));
    return !context.out.failed();
  });
}

// Another agent's session: by that agent's own rules, which the path alone does not know.
Result<void> print_conversation(Context& context, Store& store, const SessionSummary& summary,
                                const SessionTree& tree, const ShowArguments& arguments) {
  std::string head;
  if (!arguments.head.empty()) {
    auto found = resolve_node(tree, arguments.head);
    if (!found) return std::move(found).error();
    auto id = tree.id(*found);
    if (!id) return std::move(id).error();
    head = std::move(id).value();
  }
  auto said = read_conversation(store, summary.session_id, head);
  if (!said) return std::move(said).error();
  auto ids = entry_ids(tree);
  if (!ids) return std::move(ids).error();
  const ShortIds short_ids(std::move(ids).value());
  print_header(context, summary, said->size());
  EntryPrinter printer(context, arguments.full);
  for (const Utterance& utterance : *said) {
    if (context.out.failed()) break;
    printer.print(utterance, short_ids.of(utterance.entry_id));
  }
  return {};
}

Result<int> run_show(Context& context, const ShowArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  SessionStore& sessions = store->sessions();
  auto id = resolve_session(sessions, arguments.session);
  if (!id) return std::move(id).error();
  auto summary = sessions.describe_session(*id);
  if (!summary) return std::move(summary).error();
  auto tree = sessions.session_tree(*id);
  if (!tree) return std::move(tree).error();
  auto chosen = choose(*tree, arguments);
  if (!chosen) return std::move(chosen).error();

  Pager pager;
  if (!context.json && !arguments.raw && !context.no_pager) pager.start(context.out);
  const bool is_imported = !summary->source.empty() && arguments.entry.empty();
  auto printed = arguments.raw  ? print_raw(context, sessions, *id, *chosen)
                 : context.json ? print_json(context, sessions, *summary, *chosen)
                 : is_imported
                     ? print_conversation(context, *store, *summary, *tree, arguments)
                     : print_text(context, sessions, *summary, *tree, *chosen, arguments.full);
  pager.finish();
  if (!printed) return std::move(printed).error();
  context.warn_of_damage(*id, summary->damaged);
  return kExitOk;
}

}  // namespace

void add_show(CommandLine& line) {
  line.add<ShowArguments>(
      "show", "show the conversation up to the head",
      [](Declare& declare, ShowArguments& arguments) {
        declare.session(arguments.session)
            .option("--entry", "ID", arguments.entry, "only this entry, whole")
            .option("--head", "ENTRY", arguments.head,
                    "the conversation up to this entry instead of the head")
            .flag("--full", arguments.full, "outputs of tools are not shortened")
            .flag("--raw", arguments.raw, "the entries as JSON, a line each");
      },
      run_show);
}

}  // namespace quipu::cli
