// SessionBranch: the scenarios of branching, time travel and labels.
#include <gmock/gmock.h>

#include "support/agent_store.h"

namespace quipu::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// msg-1 - msg-2 - msg-3 - msg-4
//               \ msg-5 - msg-6
class Branch : public AgentStore {
 protected:
  Branch() {
    append({message("msg-1", "user", "make a file"), message("msg-2", "assistant", "made"),
            message("msg-3", "user", "change it"), message("msg-4", "assistant", "changed")});
  }
  void append(const std::vector<NewEntry>& entries) {
    must(sessions().append_session_entries(session_, entries));
  }
  SessionBranch open_branch() { return must(SessionBranch::open(*store_, session_)); }
  SessionBranch branched() {
    SessionBranch branch = open_branch();
    must(branch.create_branch("msg-2", std::vector{message("msg-5", "user", "use TypeScript"),
                                                   message("msg-6", "assistant", "done")}));
    return branch;
  }

  std::string session_ = new_session();
};

TEST_P(Branch, CreateBranchGoesOnThere) {
  SessionBranch branch = open_branch();
  const AppendResult made = must(branch.create_branch(
      "msg-2", std::vector{message("msg-5", "user", "x"), message("msg-6", "assistant", "y")}));
  EXPECT_EQ(2u, made.appended_count);
  EXPECT_THAT(made.entry_ids, ElementsAre("msg-5", "msg-6"));
  EXPECT_THAT(must(branch.get_branch_points()), ElementsAre("msg-2"));
  EXPECT_THAT(must(branch.get_children("msg-2")), ElementsAre("msg-3", "msg-5"));
  EXPECT_THAT(must(branch.get_path("msg-4")), ElementsAre("msg-1", "msg-2", "msg-3", "msg-4"));
  EXPECT_THAT(must(branch.get_path("msg-6")), ElementsAre("msg-1", "msg-2", "msg-5", "msg-6"));
  EXPECT_THAT(must(branch.get_leaves()), ElementsAre("msg-4", "msg-6"));
  EXPECT_EQ("msg-6", must(branch.head()));
  append({message("msg-7", "user", "on")});
  EXPECT_EQ("msg-6", entry(session_, "msg-7").parent_id);
}

TEST_P(Branch, CreateBranchIsAllOrNothing) {
  SessionBranch branch = open_branch();
  NewEntry orphan = message("msg-6", "assistant", "y");
  orphan.parent = Parent::of("nowhere");
  const std::size_t before = entries(session_).size();
  EXPECT_EQ(
      Code::kUnknownParent,
      code_of(branch.create_branch("msg-2", std::vector{message("msg-5", "user", "x"), orphan})));
  EXPECT_EQ(before, entries(session_).size());
  EXPECT_EQ("msg-4", must(branch.head()));
  EXPECT_EQ(Code::kNotFound,
            code_of(branch.create_branch("no", std::vector{message("m", "user", "x")})));
  EXPECT_EQ(Code::kInvalidArgument,
            code_of(branch.create_branch("msg-2", std::vector<NewEntry>())));
  EXPECT_EQ(Code::kHeadMoved,
            code_of(branch.create_branch("msg-2", std::vector{message("m", "user", "x")},
                                         {.expected_head = "msg-3"})));
}

TEST_P(Branch, LinesAreKeptAsTheyAre) {
  SessionBranch branch = open_branch();
  const std::string_view line = R"({"type":"message", "id":"m", "payload":{"role":"user" }})";
  must(branch.create_branch("msg-1", std::vector{line}));
  EXPECT_EQ(R"({"role":"user" })", entry(session_, "m").payload);
  EXPECT_EQ("msg-1", entry(session_, "m").parent_id);
  EXPECT_EQ("m", must(branch.head()));
}

TEST_P(Branch, SwitchAndTimeTravel) {
  SessionBranch branch = branched();
  EXPECT_EQ("msg-4", must(branch.switch_to("msg-4")));
  EXPECT_EQ("msg-4", head(session_));
  // Back to msg-2: what a context is made of then, and a start from there.
  EXPECT_THAT(must(branch.get_path("msg-2")), ElementsAre("msg-1", "msg-2"));
  must(branch.switch_to("msg-2"));
  append({message("msg-8", "user", "a third way")});
  EXPECT_EQ("msg-2", entry(session_, "msg-8").parent_id);
  must(branch.refresh());
  EXPECT_THAT(must(branch.get_leaves()), ElementsAre("msg-4", "msg-6", "msg-8"))
      << "nothing becomes unreachable";
  const std::string header = entries(session_).front().id;
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.switch_to(header))) << "a fact is no place";
}

TEST_P(Branch, SwitchWithASummaryOfWhatIsLeft) {
  SessionBranch branch = branched();
  const std::string summary = must(branch.switch_to("msg-4", {.summary = "TypeScript \"worked\""}));
  EXPECT_EQ(summary, head(session_));
  const Entry node = entry(session_, summary);
  EXPECT_EQ("branch_summary", node.type);
  EXPECT_EQ("msg-4", node.parent_id);
  EXPECT_EQ(R"({"summary":"TypeScript \"worked\"","sourceSessionId":")" + session_ +
                R"(","sourceEntryId":"msg-6"})",
            node.payload);
}

TEST_P(Branch, Diff) {
  SessionBranch branch = branched();
  const BranchDiff diff = must(branch.diff("msg-4", "msg-6"));
  EXPECT_EQ("msg-2", diff.common_ancestor);
  EXPECT_THAT(diff.only_a, ElementsAre("msg-3", "msg-4"));
  EXPECT_THAT(diff.only_b, ElementsAre("msg-5", "msg-6"));
  const BranchDiff behind = must(branch.diff("msg-2", "msg-4"));
  EXPECT_EQ("msg-2", behind.common_ancestor);
  EXPECT_THAT(behind.only_a, IsEmpty());
  EXPECT_THAT(behind.only_b, ElementsAre("msg-3", "msg-4"));
  NewEntry root = message("other-root", "user", "x");
  root.parent = Parent::root();
  append({root});
  must(branch.refresh());
  EXPECT_EQ("", must(branch.diff("msg-4", "other-root")).common_ancestor);
}

std::vector<std::string> shown(const std::vector<Label>& labels) {
  std::vector<std::string> texts;
  for (const Label& label : labels) texts.push_back(label.name + "=" + label.entry_id);
  return texts;
}

TEST_P(Branch, Labels) {
  SessionBranch branch = branched();
  must(branch.set_label("msg-4", "stable"));
  must(branch.set_label("msg-6", "try"));
  EXPECT_THAT(shown(must(branch.labels())), ElementsAre("stable=msg-4", "try=msg-6"));
  must(branch.set_label("msg-6", "experiment"));
  EXPECT_THAT(shown(must(branch.labels())), ElementsAre("stable=msg-4", "experiment=msg-6"))
      << "one label an entry: the last";
  EXPECT_EQ(Code::kNotFound, code_of(branch.resolve("try")));
  must(branch.set_label("msg-2", "stable"));
  EXPECT_THAT(shown(must(branch.labels())), ElementsAre("stable=msg-2", "experiment=msg-6"))
      << "one entry a name: the last";
  EXPECT_EQ("msg-2", must(branch.resolve("stable")));
  EXPECT_THAT(must(branch.get_path("stable")), ElementsAre("msg-1", "msg-2"));
  EXPECT_EQ("msg-6", must(branch.switch_to("experiment")));
  must(branch.remove_label("stable"));
  EXPECT_THAT(shown(must(branch.labels())), ElementsAre("experiment=msg-6"))
      << "taken from msg-4 for good";
  EXPECT_EQ(Code::kNotFound, code_of(branch.remove_label("stable")));
}

TEST_P(Branch, LabelNames) {
  SessionBranch branch = open_branch();
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.set_label("msg-1", "")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.set_label("msg-1", "a\nb")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.set_label("msg-1", "\xff")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.set_label("msg-1", std::string(129, 'x'))));
  EXPECT_EQ(Code::kInvalidArgument, code_of(branch.set_label("msg-1", "msg-3")));
  EXPECT_EQ(Code::kNotFound, code_of(branch.set_label("nowhere", "x")));
  must(branch.set_label("msg-1", "\"ünïcode\" \\"));
  EXPECT_EQ("msg-1", must(branch.resolve("\"ünïcode\" \\")));
}

TEST_P(Branch, WhichHeadWasActiveWhen) {
  SessionBranch branch = branched();
  must(branch.switch_to("msg-3"));
  const std::vector<HeadMove> moves = must(branch.heads_history());
  ASSERT_EQ(2u, moves.size());
  EXPECT_EQ("msg-2", moves[0].entry_id);
  EXPECT_EQ("msg-3", moves[1].entry_id);
  EXPECT_EQ("msg-2", must(branch.head_as_of(moves[0].fact_id)));
  EXPECT_EQ("msg-3", must(branch.head_as_of(moves[1].fact_id)));
  EXPECT_EQ("msg-3", must(branch.head_as_of("msg-3")));
  EXPECT_EQ("msg-5", must(branch.head_as_of("msg-5")));
  EXPECT_EQ("", must(branch.head_as_of(entries(session_).front().id)));
}

TEST_P(Branch, InAForkTheInheritedPathIsThere) {
  const std::string fork = must(sessions().branch_from_entry(session_, "msg-2")).session_id;
  SessionBranch branch = must(SessionBranch::open(*store_, fork));
  must(branch.create_branch("msg-1", std::vector{message("f1", "user", "x")}));
  EXPECT_THAT(must(branch.get_path("f1")), ElementsAre("msg-1", "f1"));
  must(branch.set_label("msg-2", "inherited"));
  EXPECT_EQ("msg-2", must(branch.resolve("inherited")));
  EXPECT_THAT(must(open_branch().labels()), IsEmpty()) << "facts do not cross";
}

INSTANTIATE_TEST_SUITE_P(Store, Branch, testing::Bool(), backend_name);

}  // namespace
}  // namespace quipu::test
