#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/filter.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "cli/times.h"
#include "quipu/compact.h"

namespace quipu::cli {
namespace {

struct CompactArguments {
  std::string session;
  std::size_t keep = 20'000;
  std::string summarizer;
  std::string trigger = "manual";
  bool lift = false;
  std::string entry;
};

// What the command reads: the older summary first, if there is one.
std::string filter_input(const CompactionInput& input) {
  if (input.previous_summary.empty()) return input.transcript;
  return "Summary of what came before:\n" + input.previous_summary + "\n\n" + input.transcript;
}

std::string without_last_feeds(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<int> run_lift(Context& context, Store& store, const std::string& id,
                     const std::string& entry) {
  auto lifted = lift_compaction(store, id, entry);
  if (!lifted) return std::move(lifted).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object().member("sessionId", id).member("entryId", *lifted).end_object();
    context.out.data_line(json.text());
  } else {
    context.out.data_line(*lifted);
  }
  return kExitOk;
}

void print_json(Context& context, const std::string& id, const CompactResult& done) {
  JsonWriter json;
  json.begin_object()
      .member("sessionId", id)
      .optional_member("entryId", done.entry_id)
      .optional_member("firstKeptEntryId", done.first_kept_entry_id)
      .member("tokensBefore", done.tokens_before)
      .member("tokensAfter", done.tokens_after)
      .member("coveredEntries", done.covered_entries)
      .member("prunedOutputs", done.pruned_outputs)
      .member("filesRead", done.files_read)
      .member("filesChanged", done.files_changed)
      .end_object();
  context.out.data_line(json.text());
}

void print_for_people(Context& context, const CompactArguments& arguments,
                      const CompactResult& done) {
  if (!done.entry_id.empty()) {
    context.out.data_line(done.entry_id);
    context.note(fmt::format(
        "a summary stands for {}: {} tokens became {}; `quipu compact "
        "--lift` brings them back",
        counted(done.covered_entries, "entry", "entries"), done.tokens_before, done.tokens_after));
  } else if (done.pruned_outputs > 0) {
    context.note(
        fmt::format("no summarizer was given, so {} old tool outputs were shortened and "
                    "nothing else: {} tokens became {}",
                    done.pruned_outputs, done.tokens_before, done.tokens_after));
  } else if (arguments.summarizer.empty() && done.tokens_before > arguments.keep) {
    context.note(
        fmt::format("no summarizer was given, and no tool output is long enough to be "
                    "shortened: {} tokens, as before",
                    done.tokens_before));
  } else {
    context.note(
        fmt::format("nothing to do: the conversation takes {} tokens", done.tokens_before));
  }
}

Result<int> run_compact(Context& context, const CompactArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  if (arguments.lift) return run_lift(context, store, id, arguments.entry);

  CompactOptions options;
  options.keep_tokens = arguments.keep;
  options.trigger = arguments.trigger;
  if (!arguments.summarizer.empty()) {
    options.summarizer = [&](const CompactionInput& input) -> Result<std::string> {
      auto summary = run_filter(arguments.summarizer, filter_input(input));
      if (!summary) return std::move(summary).error().in("summarizer");
      return without_last_feeds(std::move(summary).value());
    };
  }
  auto done = compact(store, id, options);
  if (!done) return std::move(done).error();
  if (context.json) {
    print_json(context, id, *done);
  } else {
    print_for_people(context, arguments, *done);
  }
  if (auto closed = store.close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_compact(CommandLine& line) {
  line.add<CompactArguments>(
      "compact", "let a summary stand for the older part of a conversation",
      [](Declare& declare, CompactArguments& arguments) {
        declare.session(arguments.session)
            .number("--keep", arguments.keep, 0, 1'000'000'000,
                    "tokens of the newest part that stay as they are (default: 20000)")
            .option("--summarizer", "COMMAND", arguments.summarizer,
                    "reads the transcript, prints the summary; without one only old tool outputs "
                    "are shortened")
            .option("--trigger", "WORD", arguments.trigger, "why now (default: manual)")
            .flag("--lift", arguments.lift, "take the compaction in force back")
            .option("--entry", "ENTRY", arguments.entry,
                    "with --lift: this compaction or edit instead");
      },
      run_compact);
}

}  // namespace quipu::cli
