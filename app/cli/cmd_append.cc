#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/input.h"
#include "cli/json_out.h"
#include "cli/progress.h"
#include "quipu/limits.h"

namespace quipu::cli {
namespace {

struct AppendArguments {
  std::string session;
  std::string file = "-";
  std::optional<std::string> expect_tail;
  std::optional<std::string> expect_head;
  std::size_t batch = 0;  // lines; 0: everything is one batch
  std::string durability = "commit";
};

// Any unique prefix of an id will do. What is no entry's is left to fail as it is.
Result<void> complete_id(SessionStore& sessions, const std::string& session_id,
                         std::optional<std::string>& id) {
  if (!id || id->empty()) return {};
  auto ends = sessions.session_ends(session_id);
  if (!ends) return std::move(ends).error();
  if (*id == ends->tail || *id == ends->head) return {};
  auto tree = sessions.session_tree(session_id);
  if (!tree) return std::move(tree).error();
  auto ids = entry_ids(*tree);
  if (!ids) return std::move(ids).error();
  const auto begins = [&](const std::string& one) { return one.starts_with(*id); };
  if (std::none_of(ids->begin(), ids->end(), begins)) return {};
  auto whole = match_prefix({.name = "entry", .where_to_look = {}}, *id, *ids);
  if (!whole) return std::move(whole).error();
  id = *whole;
  return {};
}

class Appender {
 public:
  Appender(Context& context, SessionStore& sessions, std::string session_id,
           const AppendArguments& arguments)
      : context_(context), sessions_(sessions), session_id_(std::move(session_id)) {
    options_.expected_tail = arguments.expect_tail;
    options_.expected_head = arguments.expect_head;
    options_.durability =
        arguments.durability == "relaxed" ? Durability::kRelaxed : Durability::kCommit;
  }

  Result<void> append(const std::string& place, const PendingBatch& batch) {
    auto stored = sessions_.append_session_lines(session_id_, batch.views, options_);
    if (!stored) return in_terms_of_lines(std::move(stored).error(), place, batch);

    JsonWriter json;
    json.begin_object()
        .member("sessionId", stored->session_id)
        .member("lastAppendedEntryId", stored->last_appended_entry_id)
        .member("appendedCount", std::uint64_t{stored->appended_count})
        .member("alreadyPresent", std::uint64_t{stored->already_present})
        .member("durable", stored->durable)
        .end_object();
    context_.out.data_line(json.text());
    // The next batch goes after this one and nobody else's, if that was wanted
    // for the first; the head was checked once, since we move it ourselves.
    if (options_.expected_tail) options_.expected_tail = stored->last_appended_entry_id;
    options_.expected_head.reset();
    return context_.out.flush();
  }

 private:
  Context& context_;
  SessionStore& sessions_;
  std::string session_id_;
  AppendOptions options_;
};

Result<int> run_append(Context& context, const AppendArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto session_id = resolve_session(store->sessions(), arguments.session);
  if (!session_id) return std::move(session_id).error();
  AppendArguments wanted = arguments;
  for (auto* const id : {&wanted.expect_tail, &wanted.expect_head}) {
    if (auto done = complete_id(store->sessions(), *session_id, *id); !done) {
      return std::move(done).error();
    }
  }
  auto input = Input::open(arguments.file);
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1)
    context.note("Reading entries from the terminal; Ctrl-D ends them.");

  const std::string& place = input->place();
  LineReader reader(input->fd(), place, kLineBytesMax);
  Appender appender(context, store->sessions(), *session_id, wanted);
  Progress progress(input->size() > 0 && !context.json && !context.out.terminal().is_terminal,
                    context.err, "appending", input->size());
  while (true) {
    auto batch = read_batch(reader, arguments.batch);
    if (!batch) return std::move(batch).error();
    if (batch->lines.empty()) break;
    if (auto stored = appender.append(place, *batch); !stored) return std::move(stored).error();
    progress.set(reader.bytes_read());
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_append(CommandLine& line) {
  line.add<AppendArguments>(
      "append", "append entries, one JSON object a line",
      [](Declare& declare, AppendArguments& arguments) {
        declare.session(arguments.session)
            .optional_positional("FILE", arguments.file,
                                 "where the lines are; - is standard input, the default")
            .option("--expect-tail", "ID", arguments.expect_tail,
                    "fail unless this entry is the last of the log")
            .option("--expect-head", "ID", arguments.expect_head,
                    "fail unless this entry is the session's head")
            .number("--batch", arguments.batch, 1, kBatchEntriesMax,
                    "a batch every N lines, as they arrive")
            .choice("--durability", arguments.durability, {"commit", "relaxed"},
                    "commit: on the disk before the answer; relaxed: soon")
            .footer(
                "The input is one batch, stored whole or not at all, unless --batch is given.\n"
                "Each batch is answered with a line of JSON as soon as it is durable.\n"
                "Example: quipu append 0190a1 conversation.jsonl");
      },
      run_append);
}

}  // namespace quipu::cli
