// Search over the text of search_text.h: from the store's logs to hits, in this process, in a new
// one, and beside ripgrep over the same files.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "measure.h"
#include "quipu/search.h"
#include "rows.h"
#include "search_text.h"

extern char** environ;

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;

const SearchOptions kEverywhere{.sessions = {.project = ProjectScope::all()}};
constexpr PageRequest kPage{.after = {}, .limit = 20};

Store open_search_store(const Fixture& fixture) {
  StoreOptions options;
  options.create = true;
  return must(Store::open(fixture.file("search").string(), options), "open");
}

struct Written {
  std::uint64_t text_bytes = 0;
  std::size_t sessions = 0;
  std::string frequent;
};

Written write_sessions(const Fixture& fixture) {
  Store store = open_search_store(fixture);
  SearchText text;
  Written written;
  while (text.bytes() < fixture.sizes().search_bytes) {
    NewSession session;
    session.id = "s" + std::to_string(written.sessions);
    must(store.sessions().create_session(session), "create");
    const auto entries = text.session(static_cast<std::uint32_t>(written.sessions++));
    must(store.sessions().append_session_entries(session.id, entries, with(Durability::kRelaxed)),
         "append");
  }
  must(store.close(), "close");
  written.text_bytes = text.bytes();
  written.frequent = text.frequent_word();
  return written;
}

// Of this process, all threads: other programs may use the cores meanwhile.
double processor_seconds() {
  rusage usage{};
  check(::getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double index_bytes(const Fixture& fixture) {
  double bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(fixture.file("search"))) {
    if (file.path().filename().string().starts_with("index.db")) {
      bytes += static_cast<double>(file.file_size());
    }
  }
  return bytes;
}

double search_cost(SessionSearch& search, const std::string& query, std::size_t least) {
  const Stopwatch watch;
  const auto page = search.search(query, kEverywhere, kPage);
  const double cost = watch.nanoseconds();
  check(page.ok() && page->items.size() >= least, "found too little: " + query);
  for (const SearchHit& hit : page->items) {
    check(hit.neighbour || !hit.marks.empty(), "a hit without the word");
  }
  return cost;
}

// Nothing when there is no such program.
std::optional<double> program_cost(const std::vector<std::string>& command,
                                   const std::string& output = "/dev/null") {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const Stopwatch watch;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  int status = 0;
  check(::waitpid(child, &status, 0) == child, "waitpid");
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return std::nullopt;
  check(WEXITSTATUS(status) == 0, command[0] + " failed");
  return watch.nanoseconds();
}

std::optional<double> program_cost(std::size_t rounds, const std::vector<std::string>& command) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto cost = program_cost(command);
    if (!cost) return std::nullopt;
    costs.push_back(*cost);
  }
  return median(std::move(costs));
}

/// From the return of an append to the hit, by whom the entry was not appended.
struct AfterAppend {
  double in_process = 0;
  double in_new_process = 0;
};

AfterAppend after_append(Fixture& fixture, SessionSearch& search) {
  const std::string place = fixture.file("search").string();
  const std::string output = fixture.file("found.json").string();
  Store store = open_search_store(fixture);
  const auto append = [&](const std::string& word) {
    NewEntry entry;
    entry.type = "message";
    entry.payload = R"({"role":"user","content":"Of )" + word + R"( nobody has heard."})";
    must(store.sessions().append_session_entries("s0", {&entry, 1}, with(Durability::kCommit)),
         "append");
  };
  const std::size_t rounds = std::max<std::size_t>(fixture.sizes().search_rounds / 4, 1);
  std::vector<double> warm, cold;
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::string first = "warmword" + std::to_string(i) + "x";
    append(first);
    warm.push_back(search_cost(search, first, 1));
    const std::string second = "coldword" + std::to_string(i) + "x";
    append(second);
    const auto cost = program_cost(
        {QUIPU_PROGRAM, "--store", place, "search", "--all", "--json", second}, output);
    check(cost.has_value(), "no quipu");
    cold.push_back(*cost);
    std::ifstream answer(output);
    const std::string text(std::istreambuf_iterator<char>(answer), {});
    check(text.find(second) != std::string::npos, "what was appended is not found");
  }
  must(store.close(), "close");
  return {.in_process = median(std::move(warm)), .in_new_process = median(std::move(cold))};
}

std::string size_text(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000) + " MB"; }

// A program that starts, searches once and ends.
std::vector<Row> program_rows(const Fixture& fixture, const Written& written, std::size_t hits) {
  const std::string rare(SearchText::kRareWord);
  const std::string of = ", " + size_text(written.text_bytes) + " of text";
  const std::string place = fixture.file("search").string();
  const std::size_t program_rounds = std::max<std::size_t>(fixture.sizes().search_rounds / 4, 1);
  const auto cold = [&](const std::string& word) {
    const auto cost = program_cost(
        program_rounds, {QUIPU_PROGRAM, "--store", place, "search", "--all", "--json", word});
    check(cost.has_value(), "no quipu");
    return *cost;
  };
  const auto ripgrep = [&](const std::string& word) {
    return program_cost(program_rounds, {"rg", "-c", word, place + "/sessions"});
  };
  const auto program_row = [&](const std::string& name, const std::string& word) {
    Row row{.name = "quipu search, a new process: " + name + of + " / ripgrep",
            .ours = cold(word),
            .bar = Bar{Kind::kOursAtMost, 60e6}};
    row.other = hits > 0 || word != rare ? ripgrep(word) : std::nullopt;
    if (row.other) row.ratio = row.ours / *row.other;
    return row;
  };
  return {program_row("a rare word", rare), program_row("a frequent word", written.frequent)};
}

}  // namespace

std::vector<Row> search_rows(Fixture& fixture) {
  const std::size_t rounds = fixture.sizes().search_rounds;
  const Written written = write_sessions(fixture);
  fixture.scratch().settle();
  const auto text_bytes = static_cast<double>(written.text_bytes);
  const std::string rare(SearchText::kRareWord);
  const std::string of = ", " + size_text(written.text_bytes) + " of text";

  Store store = open_search_store(fixture);
  SessionSearch search(store);
  const double before = processor_seconds();
  const auto report = must(search.refresh(), "index");
  const double indexing = processor_seconds() - before;
  check(report.entries == written.sessions * SearchText::kEntries, "entries are not indexed");
  const double bytes = index_bytes(fixture);
  const std::size_t hits = (written.sessions + 92) / 100;
  const double rare_cost =
      median_cost(rounds, [&](std::size_t) { search_cost(search, rare, hits); });
  const double frequent_cost =
      median_cost(rounds, [&](std::size_t) { search_cost(search, written.frequent, 20); });
  const double both_cost = median_cost(
      rounds, [&](std::size_t) { search_cost(search, written.frequent + " " + rare, hits); });
  const double question_cost = median_cost(rounds, [&](std::size_t) {
    search_cost(search, "where is " + rare + " beside " + written.frequent, hits);
  });
  const AfterAppend appended = after_append(fixture, search);
  must(store.close(), "close");

  std::vector<Row> rows{
      {.name = "search: a rare word" + of, .ours = rare_cost, .bar = Bar{Kind::kOursAtMost, 15e6}},
      {.name = "search: first 20 of a frequent word" + of,
       .ours = frequent_cost,
       .bar = Bar{Kind::kOursAtMost, 60e6}},
      {.name = "search: a rare and a frequent word" + of, .ours = both_cost},
      {.name = "search: a question with both, neighbours join" + of, .ours = question_cost},
      {.name = "search: from an append by others to its hit" + of,
       .ours = appended.in_process,
       .bar = Bar{Kind::kOursAtMost, 200e6}},
      {.name = "search: from an append to its hit, a new process" + of,
       .ours = appended.in_new_process,
       .bar = Bar{Kind::kOursAtMost, 200e6}},
      {.name = "search index" + of,
       .unit = Unit::kBytes,
       .ours = bytes,
       .other = text_bytes,
       .ratio = bytes / text_bytes,
       .bar = Bar{Kind::kRatioAtMost, 0.5}},
      {.name = "search: indexing, a core" + of,
       .unit = Unit::kBytesPerSecond,
       .ours = text_bytes / indexing,
       .bar = Bar{Kind::kOursAtLeast, 10e6}}};
  std::ranges::move(program_rows(fixture, written, hits), std::back_inserter(rows));
  return rows;
}

std::vector<Row> followed_append_rows(Fixture& fixture) {
  Store followed = fixture.open_store();
  Store alone = fixture.open_store();
  Session first = fixture.make_session(followed, 100);
  Session second = fixture.make_session(alone, 100);
  SessionSearch search(followed);
  must(search.refresh(), "index");
  const auto append_each = [&](Store& store, Session& session) {
    const Block block = fixture.block(session.work, fixture.sizes().followed_block);
    return median_cost(block.entries.size(), [&](std::size_t i) {
      must(store.sessions().append_session_entries(session.id, {&block.entries[i], 1},
                                                   with(Durability::kCommit)),
           "append");
    });
  };
  fixture.scratch().settle();
  const Rounds turns = take_turns(fixture.sizes().followed_rounds,
                                  {[&](std::size_t) {
                                     const SearchFollower follower(search);
                                     return append_each(followed, first);
                                   },
                                   [&](std::size_t) { return append_each(alone, second); }});
  must(followed.close(), "close");
  must(alone.close(), "close");
  return {{.name = "durable append, index following, p50 / no index",
           .ours = turns.cost(0),
           .other = turns.cost(1),
           .ratio = turns.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.05}}};
}

}  // namespace quipu::bench
