#include <fcntl.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "measure.h"
#include "quipu/import.h"
#include "rows.h"

namespace quipu::bench {
namespace {

namespace stdfs = std::filesystem;
using Kind = Bar::Kind;

constexpr std::size_t kFileBytes = 108'000;
constexpr double kMemoryMax = 128 << 20;

double cpu_nanoseconds(int who = RUSAGE_SELF) {
  rusage used{};
  ::getrusage(who, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

struct Cost {
  double cpu = 0;
  double wall = 0;
};

// Whatever else the machine does, and files that were deleted a moment ago, only add.
void keep_least(Cost& least, const Cost& cost) {
  least.cpu = least.cpu == 0 ? cost.cpu : std::min(least.cpu, cost.cpu);
  least.wall = least.wall == 0 ? cost.wall : std::min(least.wall, cost.wall);
}

template <class Work>
Cost cost_of(Work&& work) {
  const double before = cpu_nanoseconds();
  const Stopwatch watch;
  work();
  return {.cpu = cpu_nanoseconds() - before, .wall = watch.nanoseconds()};
}

// Transcripts as Claude Code writes them: questions and answers in turns.
class Tree {
 public:
  Tree(stdfs::path place, std::size_t files) : place_(std::move(place)), random_(7) {
    for (int i = 0; i < 400; ++i) texts_.push_back(text());
    for (std::size_t i = 0; i < files; ++i) make(i);
  }

  const stdfs::path& place() const { return place_; }
  const std::vector<stdfs::path>& files() const { return files_; }

 private:
  std::string text() {
    std::lognormal_distribution<double> size(7.3, 1.1);
    const auto bytes = static_cast<std::size_t>(size(random_));
    std::string text;
    while (text.size() < bytes) {
      for (auto letters = random_() % 9 + 2; letters > 0; --letters) {
        text += static_cast<char>('a' + random_() % 26);
      }
      text += random_() % 20 == 0 ? "\\n" : random_() % 90 == 0 ? " \\\"\u00e9\u65e5\\\" " : " ";
    }
    return text;
  }

  std::string uuid() {
    char text[40];
    const auto bits = [&] { return static_cast<unsigned long long>(random_()); };
    std::snprintf(text, sizeof text, "%08llx-%04llx-4%03llx-8%03llx-%012llx", bits() & 0xffffffff,
                  bits() & 0xffff, bits() & 0xfff, bits() & 0xfff, bits() & 0xffffffffffff);
    return text;
  }

  void make(std::size_t number) {
    const std::string session = uuid();
    const std::string project = std::to_string(number % 40);
    std::string parent = "null";
    std::string lines;
    for (int turn = 1; lines.size() < kFileBytes; ++turn) {
      const std::string id = uuid();
      char time[40];
      std::snprintf(time, sizeof time, "2026-03-01T%02d:%02d:%02d.000Z", turn / 3600 % 24,
                    turn / 60 % 60, turn % 60);
      lines += R"({"parentUuid":)" + parent + R"(,"isSidechain":false,"cwd":"/home/u/p)" + project +
               R"(","sessionId":")" + session + R"(","version":"2.1.71",)";
      const std::string& said = texts_[random_() % texts_.size()];
      if (turn % 2 != 0) {
        lines += R"("type":"user","message":{"role":"user","content":")" + said + "\"}";
      } else {
        lines += R"("type":"assistant","message":{"model":"m","id":"msg_)" + id +
                 R"(","role":"assistant","content":[{"type":"text","text":")" + said +
                 R"("}],"usage":{"input_tokens":5,"output_tokens":300}},"requestId":"req_)" + id +
                 "\"";
      }
      lines += R"(,"uuid":")" + id + R"(","timestamp":")" + time + "\"}\n";
      parent = "\"" + id + "\"";
    }
    const stdfs::path directory = place_ / ("-home-u-p" + project);
    stdfs::create_directories(directory);
    files_.push_back(directory / (session + ".jsonl"));
    std::ofstream(files_.back(), std::ios::binary) << lines;
  }

  stdfs::path place_;
  std::mt19937_64 random_;
  std::vector<std::string> texts_;
  std::vector<stdfs::path> files_;
};

void import_tree(Store& store, const std::string& place, std::size_t files, unsigned threads = 0) {
  Importer importer(store);
  const auto found = must(importer.find({.agents = {"claude"}, .paths = {place}}), "find");
  check(found.sources.size() == files, "another number of sources");
  std::size_t done = 0;
  must(importer.run(found.sources, {.project_id = {}, .threads = threads},
                    [&](const ImportReport& report) {
                      check(!report.error, "an import failed");
                      ++done;
                      return true;
                    }),
       "import");
  check(done == files, "another number of reports");
}

pid_t start_cp(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  check(::posix_spawnp(&child, "cp", nullptr, nullptr, arguments.data(), environ) == 0, "cp");
  return child;
}

// The yardstick, in two steps: `cp`, several at a time if an import has several threads (what
// a second core does makes the first slower), and what they copied brought to the disk …
Cost cost_of_cp(const Tree& tree, const stdfs::path& to, unsigned processes) {
  std::vector<std::vector<std::string>> parts(processes, {"cp", "-r", "-t", to.string()});
  std::size_t next = 0;
  for (const auto& project : stdfs::directory_iterator(tree.place())) {
    parts[next++ % processes].push_back(project.path().string());
  }
  stdfs::create_directories(to);
  const double before = cpu_nanoseconds(RUSAGE_CHILDREN);
  Cost cost = cost_of([&] {
    std::vector<pid_t> children;
    for (auto& words : parts) children.push_back(start_cp(std::move(words)));
    for (const pid_t child : children) {
      int status = 0;
      check(::waitpid(child, &status, 0) == child && status == 0, "cp failed");
    }
    const int copied = ::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(copied >= 0 && ::syncfs(copied) == 0, "syncfs");
    ::close(copied);
  });
  cost.cpu += cpu_nanoseconds(RUSAGE_CHILDREN) - before;
  return cost;
}

simdjson::padded_string parsed(simdjson::dom::parser& parser, const stdfs::path& file) {
  auto text = simdjson::padded_string::load(file.string());
  check(text.error() == simdjson::SUCCESS, "cannot read a source");
  simdjson::dom::document_stream lines;
  check(parser.parse_many(text.value_unsafe()).get(lines) == simdjson::SUCCESS, "parse");
  for (auto line : lines) check(line.error() == simdjson::SUCCESS, "a line that is no JSON");
  return std::move(text).value_unsafe();
}

// … and a look at every line of every file.
void parse(const Tree& tree, unsigned threads) {
  const auto work = [&](std::size_t first) {
    simdjson::dom::parser parser;
    for (std::size_t i = first; i < tree.files().size(); i += threads) {
      parsed(parser, tree.files()[i]);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
}

// Both at once, in a program that does no more: every file is read, every line parsed, all
// of it written again and brought to the disk.
void copy_and_parse(const Tree& tree, const stdfs::path& to) {
  simdjson::dom::parser parser;
  stdfs::create_directories(to);
  int last = -1;
  for (std::size_t i = 0; i < tree.files().size(); ++i) {
    const simdjson::padded_string bytes = parsed(parser, tree.files()[i]);
    const int file = ::open((to / std::to_string(i)).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    check(file >= 0, "cannot make a copy");
    check(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
    if (last >= 0) ::close(last);
    last = file;
  }
  check(::syncfs(last) == 0, "syncfs");
  ::close(last);
}

// What was written before a turn is on the disk and leaves the page cache: both turns get
// memory that was used before. In a virtual machine the first use of memory may cost
// several times what the copy does, as system time.
void advise(const stdfs::path& place, int advice) {
  for (const auto& entry : stdfs::recursive_directory_iterator(place)) {
    if (!entry.is_regular_file()) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    check(file >= 0, "cannot open what was written");
    ::posix_fadvise(file, 0, 0, advice);
    ::close(file);
  }
}
void forget(const stdfs::path& place) { advise(place, POSIX_FADV_DONTNEED); }

// CPU a second while nothing happens, after the first look at everything: that is made
// between the first two questions whether it is over.
double watch_cost(Store& store, const std::string& place, double seconds) {
  std::optional<Stopwatch> watch;
  double from = 0;
  int questions = 0;
  must(Importer(store).watch(
           {.agents = {"claude"}, .paths = {place}}, {}, [](const ImportReport&) { return true; },
           [&] {
             if (++questions == 2) {
               from = cpu_nanoseconds();
               watch.emplace();
             }
             return watch && watch->nanoseconds() > seconds * 1e9;
           }),
       "watch");
  return (cpu_nanoseconds() - from) / (watch->nanoseconds() / 1e9);
}

double watch_cost(Fixture& fixture, const StoreOptions& options) {
  const Sizes& sizes = fixture.sizes();
  const Tree tree(fixture.file("watched") / "projects", sizes.watch_files);
  const std::string place = tree.place().string();
  Store store = must(Store::open(fixture.file("watching").string(), options), "open");
  import_tree(store, place, sizes.watch_files);
  return watch_cost(store, place, sizes.watch_seconds);
}

}  // namespace

int run_import_probe(const std::string& store, const std::string& place) {
  StoreOptions options;
  options.create = true;
  Store opened = must(Store::open(store, options), "open");
  Importer importer(opened);
  const auto found = must(importer.find({.agents = {"claude"}, .paths = {place}}), "find");
  must(importer.run(found.sources, {}, [](const ImportReport&) { return true; }), "import");
  return 0;
}

std::vector<Row> import_rows(Fixture& fixture) {
  const std::size_t files = fixture.sizes().import_files;
  const Tree tree(fixture.file("agents") / "projects", files);
  const std::string place = tree.place().string();
  const std::string of = std::to_string(files) + " files";
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  // By the number of threads: one, and all cores.
  struct {
    unsigned threads;
    Cost ours{};
    Cost copied{};
    Cost parsed{};
    double yardstick() const { return copied.cpu + parsed.cpu; }
  } one{.threads = 1}, all{.threads = cores};
  Cost at_once;
  StoreOptions options;
  options.create = true;
  copy_and_parse(tree, fixture.file("first"));
  forget(fixture.file("first"));
  for (std::size_t round = 0; round < fixture.sizes().import_rounds; ++round) {
    for (auto* with : {&all, &one}) {
      const std::string number = std::to_string(round) + (with == &one ? "-one" : "-all");
      const stdfs::path imported = fixture.file("imported" + number);
      const stdfs::path copy = fixture.file("copy" + number);
      fixture.scratch().settle();
      keep_least(with->ours, cost_of([&] {
                   Store store = must(Store::open(imported.string(), options), "open");
                   import_tree(store, place, files, with->threads);
                   must(store.close(), "close");
                 }));
      fixture.scratch().settle();
      forget(imported);
      keep_least(with->copied, cost_of_cp(tree, copy, with->threads));
      fixture.scratch().settle();
      forget(copy);
      keep_least(with->parsed, cost_of([&] { parse(tree, with->threads); }));
    }
    const stdfs::path both = fixture.file("both" + std::to_string(round));
    keep_least(at_once, cost_of([&] { copy_and_parse(tree, both); }));
    fixture.scratch().settle();
    forget(both);
  }
  const std::string imported = fixture.file("imported0-all").string();
  advise(imported, POSIX_FADV_WILLNEED);
  Store store = must(Store::open(imported), "open");
  // The catalogue learns of what is new.
  const Cost first = cost_of([&] { import_tree(store, place, files); });
  const Cost again = cost_of([&] { import_tree(store, place, files); });
  const double watching = watch_cost(fixture, options);
  const double memory = memory_of_import(fixture.file("probed").string(), place);
  return {{.name = "import of " + of + ", CPU / cp + simdjson DOM",
           .ours = all.ours.cpu,
           .other = all.yardstick(),
           .ratio = all.ours.cpu / all.yardstick(),
           .bar = Bar{Kind::kRatioAtMost, 1.3}},
          {.name = "the same, one thread",
           .ours = one.ours.cpu,
           .other = one.yardstick(),
           .ratio = one.ours.cpu / one.yardstick()},
          {.name = "one thread / a program that reads once for both",
           .ours = one.ours.cpu,
           .other = at_once.cpu,
           .ratio = one.ours.cpu / at_once.cpu},
          {.name = "import of " + of + ", time / cp",
           .ours = all.ours.wall,
           .other = one.copied.wall,
           .ratio = all.ours.wall / one.copied.wall,
           .bar = Bar{Kind::kRatioAtMost, 1.5}},
          {.name = "first import after that of " + of + ", per file",
           .ours = first.wall / static_cast<double>(files)},
          {.name = "import of " + of + " again, per file",
           .ours = again.wall / static_cast<double>(files),
           .bar = Bar{Kind::kOursAtMost, 30e3}},
          {.name = "watching " + std::to_string(fixture.sizes().watch_files) +
                   " idle files, CPU per second",
           .ours = watching,
           .bar = Bar{Kind::kOursAtMost, 1e7}},
          {.name = "anonymous memory, import of " + of,
           .unit = Unit::kBytes,
           .ours = memory,
           .bar = Bar{Kind::kOursAtMost, kMemoryMax}}};
}

}  // namespace quipu::bench
