#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/line_reader.h"
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

// The input, closed at the end unless it is standard input.
class Input {
 public:
  static Result<Input> open(const std::string& file) {
    if (file == "-") return Input(STDIN_FILENO);
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) return Input(fd);
    const Code code = errno == ENOENT   ? Code::kNotFound
                      : errno == EACCES ? Code::kNotAllowed
                                        : Code::kIoError;
    return Error(code, fmt::format("cannot open {}: {}", file, std::strerror(errno)))
        .with_hint("Name a file that can be read, or - for standard input.");
  }
  Input(Input&& other) noexcept : fd_(std::exchange(other.fd_, STDIN_FILENO)) {}
  Input& operator=(Input&&) = delete;
  ~Input() {
    if (fd_ != STDIN_FILENO) close(fd_);
  }
  int fd() const { return fd_; }
  // 0 for what has no size.
  std::uint64_t size() const {
    struct stat info {};
    const bool sized = fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    return sized ? static_cast<std::uint64_t>(info.st_size) : 0;
  }

 private:
  explicit Input(int fd) : fd_(fd) {}
  int fd_;
};

struct PendingBatch {
  std::deque<std::string> lines;  // a deque: the views below stay valid
  std::vector<std::string_view> views;
  std::vector<std::uint64_t> line_numbers;
  std::size_t bytes = 0;

  void add(std::string_view line, std::uint64_t number) {
    lines.emplace_back(line);
    views.push_back(lines.back());
    line_numbers.push_back(number);
    bytes += line.size();
  }
};

// The library speaks of "entry 3: ..." or "entry ID ..."; whoever looks into the
// input wants the line.
Error in_terms_of_lines(Error error, const std::string& place, const PendingBatch& batch) {
  constexpr std::string_view kEntry = "entry ";
  std::string_view rest = error.message();
  std::optional<std::size_t> position;
  if (rest.starts_with(kEntry)) {
    rest.remove_prefix(kEntry.size());
    const std::string_view word = rest.substr(0, rest.find_first_of(" :"));
    std::size_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_position =
        read.ptr == word.data() + word.size() && rest.starts_with(fmt::format("{}:", word));
    if (is_position && number >= 1 && number <= batch.line_numbers.size()) position = number - 1;
    const auto& ids = error.entry_ids();
    const auto id = std::find(ids.begin(), ids.end(), word);
    if (!position && id != ids.end()) position = static_cast<std::size_t>(id - ids.begin());
  }
  const auto& numbers = batch.line_numbers;
  if (numbers.size() == 1) position = 0;
  if (position && *position < numbers.size()) {
    return std::move(error).in(fmt::format("{}: line {}", place, numbers[*position]));
  }
  return std::move(error).in(
      fmt::format("{}: lines {} to {}", place, numbers.front(), numbers.back()));
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

// Reads one batch; empty at the end of the input.
Result<PendingBatch> read_batch(LineReader& reader, std::size_t lines_max) {
  PendingBatch batch;
  while (lines_max == 0 || batch.lines.size() < lines_max) {
    auto line = reader.next();
    if (!line) return std::move(line).error();
    if (!line->has_value()) break;
    const std::string_view text = **line;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    // No more of it is read than what the library could take.
    if (batch.lines.size() == kBatchEntriesMax || batch.bytes + text.size() > kBatchBytesMax) {
      return Error(Code::kTooLarge,
                   fmt::format("{}: line {}: a batch may have at most {} entries and {} bytes",
                               reader.place(), reader.line_number(), kBatchEntriesMax,
                               kBatchBytesMax))
          .with_hint("`--batch N` stores N lines at a time.");
    }
    batch.add(text, reader.line_number());
  }
  return batch;
}

Result<int> run_append(Context& context, const AppendArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto session_id = resolve_session(store->sessions(), arguments.session);
  if (!session_id) return std::move(session_id).error();
  auto input = Input::open(arguments.file);
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1)
    context.note("Reading entries from the terminal; Ctrl-D ends them.");

  const std::string place = arguments.file == "-" ? "standard input" : arguments.file;
  LineReader reader(input->fd(), place, kLineBytesMax);
  Appender appender(context, store->sessions(), *session_id, arguments);
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
