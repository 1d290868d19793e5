#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/input.h"
#include "cli/json_in.h"
#include "cli/json_out.h"
#include "cli/stop_signal.h"
#include "cli/times.h"
#include "quipu/events.h"

namespace quipu::cli {
namespace {

// How long somebody who presses Ctrl-C may have to wait.
constexpr std::chrono::milliseconds kFollowWait{200};
constexpr std::size_t kUnlimited = 0;
constexpr std::size_t kLinesAtOnce = 1000;

struct EventsArguments {
  std::string action;
  std::string file = "-";
  // tail
  bool follow = false;
  bool now = false;
  bool jsonl = false;
  std::string after;
  std::string types;
  std::string session;
  std::size_t limit = kUnlimited;
  // append
  std::size_t batch = kLinesAtOnce;
  // prune
  std::string older;
  std::size_t bytes = kUnlimited;
  bool dry_run = false;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

std::string event_json(const Event& event) {
  JsonWriter json;
  json.begin_object()
      .member("cursor", event.cursor)
      .member("id", event.id)
      .member("type", event.type)
      .member("timestamp", event.timestamp)
      .optional_member("source", event.source)
      .key("payload")
      .raw(event.payload)
      .end_object();
  return json.text();
}

// What it is about, for people.
std::string summary(const Event& event) {
  const JsonView payload(event.payload);
  const std::string session = payload.member("session").string();
  if (!event.type.starts_with("quipu.") || session.empty()) return event.payload;
  std::string text = session;
  if (const JsonView ordinal = payload.member("ordinal"); ordinal.exists()) {
    text += fmt::format(" #{} {}", ordinal.raw(), payload.member("type").string());
  }
  return text;
}

void print_event(Context& context, const Event& event, bool as_json) {
  if (as_json) return context.out.data_line(event_json(event));
  context.out.line(fmt::format("{}  {}  {:<22} {}", context.shown(event.cursor),
                               local_text(event.timestamp), context.shown(event.type),
                               context.shown(summary(event))));
}

Result<void> follow(Context& context, EventTail& tail, const EventsArguments& arguments) {
  const bool as_json = context.json || arguments.jsonl;
  const auto wait = arguments.follow ? kFollowWait : std::chrono::milliseconds::zero();
  std::size_t printed = 0;
  bool said = false;
  while (!stop_wanted()) {
    auto events = tail.next(wait);
    if (!events) return std::move(events).error();
    if (tail.journal_problem() && !said) {
      said = true;
      context.warn(
          "what was done to sessions since somebody last tailed is not among the events: " +
          tail.journal_problem()->message());
    }
    for (const Event& event : *events) {
      print_event(context, event, as_json);
      if (++printed == arguments.limit) return context.out.flush();
    }
    if (auto flushed = context.out.flush(); !flushed) return flushed;
    if (events->empty() && !arguments.follow) return {};
  }
  return {};
}

Result<int> run_tail(Context& context, Store& store, const EventsArguments& arguments) {
  TailOptions options;
  options.from_now = arguments.now;
  options.types = split(arguments.types);
  if (!arguments.session.empty()) {
    auto session = resolve_session(store.sessions(), arguments.session);
    if (!session) return std::move(session).error();
    options.session = *session;
  }
  note_stop_signals();
  auto tail = EventStore(store).tail(arguments.after, options);
  if (!tail) return std::move(tail).error();
  if (auto done = follow(context, *tail, arguments); !done) return std::move(done).error();
  if (tail->damaged() > 0) {
    context.warn(
        fmt::format("{} damaged lines of the log of events were passed over", tail->damaged()));
  }
  return kExitOk;
}

Result<void> append_batch(Context& context, EventStore& store, const std::string& place,
                          const PendingBatch& batch) {
  std::vector<NewEvent> events;
  for (std::size_t i = 0; i < batch.views.size(); ++i) {
    auto event = read_event(batch.views[i]);
    if (!event) {
      return std::move(event).error().in(fmt::format("{}: line {}", place, batch.line_numbers[i]));
    }
    events.push_back(std::move(event).value());
  }
  auto stored = store.append(events);
  if (!stored) return in_terms_of_lines(std::move(stored).error(), place, batch);
  JsonWriter json;
  json.begin_object()
      .member("appendedCount", std::uint64_t{stored->appended})
      .member("alreadyPresent", std::uint64_t{stored->already_present})
      .member("lastEventId", stored->ids.back())
      .end_object();
  context.out.data_line(json.text());
  return context.out.flush();
}

Result<int> run_append(Context& context, Store& store, const EventsArguments& arguments) {
  auto input = Input::open(arguments.file);
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1) context.note("Reading events from the terminal; Ctrl-D ends them.");
  LineReader reader(input->fd(), input->place(), kLineBytesMax);
  EventStore events(store);
  while (true) {
    auto batch = read_batch(reader, arguments.batch);
    if (!batch) return std::move(batch).error();
    if (batch->lines.empty()) return kExitOk;
    if (auto stored = append_batch(context, events, input->place(), *batch); !stored) {
      return std::move(stored).error();
    }
  }
}

void print_segments(JsonWriter& json, const char* name, const std::vector<EventSegment>& segments) {
  json.key(name).begin_array();
  for (const EventSegment& segment : segments) {
    json.begin_object()
        .member("number", segment.number)
        .member("bytes", segment.bytes)
        .member("begun", utc_text(segment.begun_ms))
        .optional_member("closed", segment.closed ? utc_text(segment.closed_ms) : std::string())
        .end_object();
  }
  json.end_array();
}

Result<int> run_prune(Context& context, Store& store, const EventsArguments& arguments) {
  PruneOptions options;
  options.dry_run = arguments.dry_run;
  if (!arguments.older.empty()) {
    const auto time = read_time(arguments.older, now_ms());
    if (!time) {
      return context.refuse(Error(Code::kInvalidArgument, "--older: no time: " + arguments.older)
                                .with_hint("such as 30d, 12h, 2026-03-01"));
    }
    options.closed_before_ms = *time;
  }
  if (arguments.bytes != kUnlimited) options.bytes_max = arguments.bytes;
  if (arguments.older.empty() && arguments.bytes == kUnlimited) {
    return context.refuse(Error(Code::kInvalidArgument, "what is to go? --older TIME or --bytes N")
                              .with_hint("nothing is removed unless it is asked for"));
  }
  auto report = EventStore(store).prune(options);
  if (!report) return std::move(report).error();
  if (context.json) {
    JsonWriter json;
    json.begin_object().member("dryRun", arguments.dry_run);
    print_segments(json, "removed", report->removed);
    print_segments(json, "kept", report->kept);
    context.out.data_line(json.end_object().text());
    return kExitOk;
  }
  for (const EventSegment& segment : report->removed) {
    context.out.line(fmt::format("{} segment {}: {}, events until {}",
                                 arguments.dry_run ? "would remove" : "removed", segment.number,
                                 bytes_text(segment.bytes), local_text(segment.closed_ms)));
  }
  context.out.line(counted(report->kept.size(), "segment", "segments") + " kept");
  return kExitOk;
}

Result<int> run_events(Context& context, const EventsArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto done = arguments.action == "tail"     ? run_tail(context, *store, arguments)
              : arguments.action == "append" ? run_append(context, *store, arguments)
                                             : run_prune(context, *store, arguments);
  if (!done) return std::move(done).error();
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return *done;
}

}  // namespace

void add_events(CommandLine& line) {
  line.add<EventsArguments>(
      "events", "what happens in the store and what programs say, as a log to follow",
      [](Declare& declare, EventsArguments& arguments) {
        declare.word_choice("ACTION", arguments.action, {"tail", "append", "prune"}, "what to do")
            .optional_positional("FILE", arguments.file,
                                 "append: where the lines are; - is standard input, the default")
            .flag("-f,--follow", arguments.follow, "tail: go on with what comes, until Ctrl-C")
            .option("--after", "CURSOR", arguments.after, "tail: go on after this event")
            .flag("--now", arguments.now, "tail: only what comes from now on")
            .option("--types", "A,B", arguments.types, "tail: only events of these types")
            .option("--session", "ID", arguments.session, "tail: only events about this session")
            .number("--limit", arguments.limit, 1, SIZE_MAX, "tail: end after so many events")
            .flag("--jsonl", arguments.jsonl, "tail: a JSON object a line, as with --json")
            .number("--batch", arguments.batch, 1, kBatchEntriesMax,
                    "append: store every N lines, as they arrive (1000)")
            .option("--older", "TIME", arguments.older,
                    "prune: segments without an event since then")
            .number("--bytes", arguments.bytes, 1, SIZE_MAX,
                    "prune: the oldest segments, until at most N bytes are left")
            .flag("--dry-run", arguments.dry_run, "prune: say what would go")
            .footer(
                "quipu events tail -f --after CURSOR    each line begins with its cursor\n"
                "quipu events tail --types quipu.session_created,deploy --json\n"
                "quipu events append events.jsonl       lines {\"type\":…, \"id\"?, "
                "\"timestamp\"?, "
                "\"source\"?, \"payload\"?}\n"
                "quipu events prune --older 30d --dry-run\n"
                "Nothing is skipped or repeated after a cursor. Types that begin with quipu. are "
                "the store's own:\nsession_created, entry_appended, entry_redacted, "
                "session_changed, session_replaced, session_removed,\nmemory_changed, "
                "knowledge_changed, usage_changed, projects_changed, pruned.");
      },
      run_events);
}

}  // namespace quipu::cli
