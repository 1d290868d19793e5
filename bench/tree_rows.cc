#include <algorithm>
#include <functional>

#include "measure.h"
#include "rows.h"

namespace quipu::bench {
namespace {

using Ordinals = std::vector<std::uint32_t>;

// Plain arrays, no allocation: the least that the questions cost.
class PlainTree {
 public:
  explicit PlainTree(Ordinals parents)
      : parents_(std::move(parents)), answer_(parents_.size()), counts_(parents_.size()) {}

  std::size_t path(std::uint32_t entry) {
    std::size_t at = answer_.size();
    for (; entry != kNoParent; entry = parents_[entry]) answer_[--at] = entry;
    consume(answer_.data());
    return answer_.size() - at;
  }
  std::size_t leaves() {
    return select([](std::uint8_t children) { return children == 0; });
  }
  std::size_t branch_points() {
    return select([](std::uint8_t children) { return children > 1; });
  }

 private:
  template <class Keep>
  std::size_t select(Keep keep) {
    std::fill(counts_.begin(), counts_.end(), std::uint8_t{0});
    for (const std::uint32_t parent : parents_) {
      if (parent != kNoParent && counts_[parent] < 2) ++counts_[parent];
    }
    std::size_t size = 0;
    // The header, entry 0, is no node.
    for (std::uint32_t entry = 1; entry < counts_.size(); ++entry) {
      if (keep(counts_[entry])) answer_[size++] = entry;
    }
    consume(answer_.data());
    return size;
  }

  Ordinals parents_;
  Ordinals answer_;
  std::vector<std::uint8_t> counts_;
};

Ordinals parents_of(const SessionTree& tree) {
  Ordinals parents;
  for (std::uint32_t entry = 0; entry < tree.size(); ++entry) {
    parents.push_back(tree.parent(entry).value_or(kNoParent));
  }
  return parents;
}

double time_of(const std::function<std::size_t()>& work, std::size_t expected) {
  const Stopwatch watch;
  const std::size_t size = work();
  const double cost = watch.nanoseconds();
  check(size == expected, "a tree question was answered in two ways");
  return cost;
}

Row compare(const Fixture& fixture, std::string name, const std::function<std::size_t()>& ours,
            const std::function<std::size_t()>& plain) {
  const std::size_t expected = plain();
  const Rounds rounds = take_turns(fixture.sizes().tree_rounds,
                                   {[&](std::size_t) { return time_of(ours, expected); },
                                    [&](std::size_t) { return time_of(plain, expected); }});
  return {.name = std::move(name),
          .ours = rounds.cost(0),
          .other = rounds.cost(1),
          .ratio = rounds.ratio(0, 1),
          .bar = Bar{Bar::Kind::kRatioAtMost, 1.5}};
}

}  // namespace

std::vector<Row> tree_rows(Fixture& fixture) {
  const Session& session = fixture.biggest();
  Store store = fixture.open_store();
  const SessionTree tree = must(store.sessions().session_tree(session.id), "session_tree");
  const std::uint32_t head = tree.head().value();
  PlainTree plain(parents_of(tree));
  const std::string at = " at " + std::to_string(session.work.count()) + " entries / array walk";
  std::vector<Row> rows{
      compare(
          fixture, "path" + at, [&] { return tree.path(head).size(); },
          [&] { return plain.path(head); }),
      compare(
          fixture, "leaves" + at, [&] { return tree.leaves().size(); },
          [&] { return plain.leaves(); }),
      compare(
          fixture, "branch points" + at, [&] { return tree.branch_points().size(); },
          [&] { return plain.branch_points(); }),
      compare(
          fixture, "session_tree and path" + at,
          [&] {
            const auto made = store.sessions().session_tree(session.id);
            return made.ok() ? made->path(head).size() : 0;
          },
          [&] { return plain.path(head); })};
  // Asked once for many questions, so the bar is not for it; here to be seen.
  rows.back().bar.reset();
  return rows;
}

}  // namespace quipu::bench
