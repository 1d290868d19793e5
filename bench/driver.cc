// quipu_bench: the table of what Quipu promises about speed and memory, each
// number beside the limit it is measured against, from the same run.
#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fixture.h"
#include "measure.h"
#include "rows.h"
#include "table.h"

namespace {

using namespace quipu::bench;

struct Group {
  std::string_view name;
  std::vector<Row> (*run)(Fixture&);
};

constexpr std::array<Group, 21> kGroups{{{"durable", durable_rows},
                                         {"batch", batch_rows},
                                         {"relaxed", relaxed_rows},
                                         {"growth", growth_rows},
                                         {"open", open_rows},
                                         {"processes", process_rows},
                                         {"rebuild", rebuild_rows},
                                         {"foreign", foreign_rows},
                                         {"tree", tree_rows},
                                         {"memory", memory_rows},
                                         {"catalogue", catalogue_rows},
                                         {"listed", listed_append_rows},
                                         {"events", events_rows},
                                         {"usage", usage_rows},
                                         {"sqlite", sqlite_rows},
                                         {"postgres", postgres_rows},
                                         {"vectors", vector_rows},
                                         {"search", search_rows},
                                         {"followed", followed_append_rows},
                                         {"import", import_rows},
                                         {"context", context_rows}}};

struct Options {
  bool smoke = false;
  bool json = false;
  std::vector<std::string> rows;  // empty: all
};

int usage() {
  std::cerr << "usage: quipu_bench [--smoke] [--json] [--row NAME]...\n"
               "Measures in the current directory; NAME is one of:";
  for (const Group& group : kGroups) std::cerr << ' ' << group.name;
  std::cerr << '\n';
  return 2;
}

bool is_group(const std::string& name) {
  return std::any_of(kGroups.begin(), kGroups.end(),
                     [&](const Group& g) { return g.name == name; });
}

bool read_options(const std::vector<std::string>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--smoke") {
      options.smoke = true;
    } else if (arguments[i] == "--json") {
      options.json = true;
    } else if (arguments[i] == "--row" && i + 1 < arguments.size() && is_group(arguments[i + 1])) {
      options.rows.push_back(arguments[++i]);
    } else {
      return false;
    }
  }
  return true;
}

void run(const Options& options) {
  Fixture fixture(options.smoke ? Sizes::smoke() : Sizes{});
  if (fixture.scratch().in_memory()) {
    std::cerr << "this directory is in memory: durable rows mean nothing here\n";
  }
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    const auto wanted = std::find(options.rows.begin(), options.rows.end(), group.name);
    if (!options.rows.empty() && wanted == options.rows.end()) continue;
    std::cerr << "measuring: " << group.name << '\n';
    const auto more = group.run(fixture);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (options.json) {
    print_json(std::cout, rows, fixture.entries(), fixture.bytes(), fixture.digest());
    return;
  }
  print_table(std::cout, rows);
  std::cout << "work: " << fixture.entries() << " entries, " << fixture.bytes()
            << " bytes of payload, digest " << std::hex << fixture.digest() << std::dec << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 4 && arguments[0] == "--memory-probe") {
      return run_memory_probe(arguments[1], arguments[2], arguments[3]);
    }
    Options options;
    if (!read_options(arguments, options)) return usage();
    run(options);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "quipu_bench: " << failure.what() << '\n';
    return 1;
  }
}
