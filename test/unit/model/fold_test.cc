// The rules of parent and head.
#include "model/fold.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace quipu {
namespace {

/// Folds entries by name; what a log would know of them.
class Folder {
 public:
  explicit Folder(Ordinal base = 0) : state(fold_start(base)) {
    for (Ordinal i = 0; i < base; ++i) {
      known_["i" + std::to_string(i)] = {.ordinal = i, .is_node = true, .depth = i};
    }
  }

  Placement node(const std::string& id) { return add(id, input(ParentLink::kAbsent, "")); }
  Placement root(const std::string& id) { return add(id, input(ParentLink::kNull, "")); }
  Placement on(const std::string& id, const std::string& parent, bool after_gap = false) {
    return add(id, input(ParentLink::kEntry, parent), after_gap);
  }
  Placement fact(const std::string& id, EntryType type, const std::string& target = "") {
    FoldInput given;
    given.type = type;
    given.target = target;
    return add(id, given);
  }
  Placement add(const std::string& id, const FoldInput& input, bool after_gap = false) {
    const Ordinal ordinal = state.next();
    const Placement placed = fold(
        state, input,
        [this](std::string_view wanted) -> std::optional<FoundEntry> {
          const auto found = known_.find(std::string(wanted));
          if (found == known_.end()) return std::nullopt;
          return found->second;
        },
        after_gap);
    known_[id] = {.ordinal = ordinal, .is_node = !is_fact(input.type), .depth = placed.depth};
    return placed;
  }
  Ordinal at(const std::string& id) { return known_.at(id).ordinal; }

  FoldState state;

 private:
  static FoldInput input(ParentLink link, std::string_view parent) {
    FoldInput given;
    given.type = EntryType::kMessage;
    given.parent_link = link;
    given.parent = parent;
    return given;
  }

  std::map<std::string, FoundEntry> known_;
};

TEST(Fold, FirstNodeIsARootAndTheHead) {
  Folder log;
  EXPECT_EQ(log.state.head, kNone);
  const Placement placed = log.node("a");
  EXPECT_EQ(placed.parent, kNone);
  EXPECT_EQ(placed.depth, 0U);
  EXPECT_EQ(log.state.head, 0U);
}

TEST(Fold, NodesWithoutParentChain) {
  Folder log;
  log.node("a");
  EXPECT_EQ(log.node("b").parent, 0U);
  const Placement c = log.node("c");
  EXPECT_EQ(c.parent, 1U);
  EXPECT_EQ(c.depth, 2U);
  EXPECT_EQ(log.state.head, 2U);
  EXPECT_EQ(log.state.head_depth, 2U);
}

TEST(Fold, LateAppendToAnOldPlaceDoesNotStealTheHead) {
  Folder log;
  log.node("a");
  log.node("b");
  const Placement late = log.on("late", "a");
  EXPECT_EQ(late.parent, 0U);
  EXPECT_EQ(late.depth, 1U);
  EXPECT_EQ(log.state.head, log.at("b"));
  log.on("later", "late");
  EXPECT_EQ(log.state.head, log.at("b"));
  EXPECT_EQ(log.node("c").parent, log.at("b"));
}

TEST(Fold, NodeOnTheHeadBecomesTheHead) {
  Folder log;
  log.node("a");
  log.on("b", "a");
  EXPECT_EQ(log.state.head, log.at("b"));
}

TEST(Fold, SecondRootDoesNotMoveTheHead) {
  Folder log;
  log.root("a");
  EXPECT_EQ(log.state.head, log.at("a"));
  log.root("b");
  EXPECT_EQ(log.state.head, log.at("a"));
}

TEST(Fold, HeadFactSetsIt) {
  Folder log;
  log.node("a");
  log.node("b");
  const Placement head = log.fact("h", EntryType::kHead, "a");
  EXPECT_EQ(head.parent, log.at("a"));
  EXPECT_EQ(log.state.head, log.at("a"));
  EXPECT_EQ(log.state.head_depth, 0U);
  const Placement c = log.node("c");
  EXPECT_EQ(c.parent, log.at("a"));
  EXPECT_EQ(c.depth, 1U);
  EXPECT_EQ(log.state.head, log.at("c"));
}

TEST(Fold, HeadFactThatPointsNowhereChangesNothing) {
  Folder log;
  log.node("a");
  log.fact("u", EntryType::kUsage);
  EXPECT_EQ(log.fact("h", EntryType::kHead, "gone").parent, kNone);
  EXPECT_EQ(log.state.head, log.at("a"));
  log.fact("h2", EntryType::kHead, "u");
  EXPECT_EQ(log.state.head, log.at("a")) << "a fact is no place to go on from";
}

TEST(Fold, BookkeepingNeverMovesTheHead) {
  Folder log;
  log.node("a");
  for (std::uint8_t type = 1; type <= 12; ++type) {
    if (static_cast<EntryType>(type) == EntryType::kHead) continue;
    log.fact("f" + std::to_string(type), static_cast<EntryType>(type), "a");
    ASSERT_EQ(log.state.head, log.at("a")) << int{type};
  }
}

TEST(Fold, FactsOfOneTypeAreLinkedBackwards) {
  Folder log;
  EXPECT_EQ(log.fact("l1", EntryType::kLabel).depth, kNone);
  log.node("a");
  EXPECT_EQ(log.fact("u1", EntryType::kUsage).depth, kNone);
  EXPECT_EQ(log.fact("l2", EntryType::kLabel, "a").depth, log.at("l1"));
  EXPECT_EQ(log.fact("l3", EntryType::kLabel, "gone").depth, log.at("l2"));
  EXPECT_EQ(log.state.last_fact[static_cast<std::size_t>(EntryType::kLabel)], log.at("l3"));
  EXPECT_EQ(log.state.last_fact[static_cast<std::size_t>(EntryType::kUsage)], log.at("u1"));
}

TEST(Fold, MissingParentMakesAnOrphanRoot) {
  Folder log;
  log.node("a");
  const Placement orphan = log.on("o", "gone");
  EXPECT_TRUE(orphan.orphan);
  EXPECT_EQ(orphan.parent, kNone);
  EXPECT_EQ(log.state.head, log.at("a"));
}

TEST(Fold, MissingParentAfterDamageGoesOnFromTheHead) {
  Folder log;
  log.node("a");
  const Placement orphan = log.on("o", "gone", true);
  EXPECT_TRUE(orphan.orphan);
  EXPECT_EQ(orphan.parent, log.at("a"));
  EXPECT_EQ(log.state.head, log.at("o"));
}

TEST(Fold, NamingAFactAsParentMeansTheHead) {
  Folder log;
  log.node("a");
  log.fact("u", EntryType::kUsage);
  const Placement placed = log.on("b", "u");
  EXPECT_FALSE(placed.orphan);
  EXPECT_EQ(placed.parent, log.at("a"));
  EXPECT_EQ(log.state.head, log.at("b"));
}

TEST(Fold, ForkStartsWhereItsPathEnds) {
  Folder fork(3);
  EXPECT_EQ(fork.state.head, 2U);
  EXPECT_EQ(fork.state.head_depth, 2U);
  fork.fact("header", EntryType::kSessionHeader);
  const Placement placed = fork.node("a");
  EXPECT_EQ(placed.parent, 2U);
  EXPECT_EQ(placed.depth, 3U);
  EXPECT_EQ(fork.at("a"), 4U);
  fork.fact("h", EntryType::kHead, "i0");
  const Placement other = fork.node("b");
  EXPECT_EQ(other.parent, 0U);
  EXPECT_EQ(other.depth, 1U);
}

TEST(Fold, UnknownTypesAreNodes) {
  Folder log;
  FoldInput unknown;
  unknown.type = entry_type("something_new");
  log.add("x", unknown);
  EXPECT_EQ(log.state.head, 0U);
  EXPECT_FALSE(is_fact(EntryType::kOther));
  EXPECT_TRUE(is_fact(entry_type("session_info")));
  EXPECT_FALSE(is_fact(entry_type("Session_Info")));
}

}  // namespace
}  // namespace quipu
