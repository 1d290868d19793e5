// Other programs append to a log without its lock: a line of theirs comes before every call
// of an append in turn. What was acknowledged is still there, and so is their line.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fixed_world.h"
#include "observed_fs.h"

namespace quipu::fault {
namespace {

using fs::SimCall;
using fs::SimDisk;

constexpr const char* kLog = "sessions/s.jsonl";
constexpr std::string_view kForeign = R"({"id":"theirs","type":"note","payload":{}})";

void append_as_another_program(SimDisk& disk, std::string_view bytes) {
  auto process = disk.process();
  auto file = process->open(kLog, fs::OpenMode::kAppend);
  ASSERT_TRUE(file.ok()) << file.error().message();
  ASSERT_TRUE(fs::append_all(**file, bytes).ok());
}

class LineBeforeCall : public CallObserver {
 public:
  explicit LineBeforeCall(SimDisk& disk) : disk_(disk) {}

  void write_instead(std::string bytes) { bytes_ = std::move(bytes); }

  /// Before the call of this number, from now on.
  void arm(std::uint64_t number) { left_ = number; }
  bool is_armed() const { return left_ > 0; }
  std::string_view place() const { return place_; }

  void before(SimCall call, const std::string&, std::string_view) override {
    if (left_ == 0 || --left_ > 0) return;
    place_ = name(call);
    append_as_another_program(disk_, bytes_);
  }
  void after(SimCall, const std::string&) override {}

 private:
  SimDisk& disk_;
  std::string bytes_ = std::string(kForeign) + "\n";
  std::uint64_t left_ = 0;
  std::string_view place_;
};

std::string entry(const std::string& id) {
  return R"({"id":")" + id + R"(","type":"message","payload":{"role":"user","content":"said by )" +
         id + R"("}})";
}

class World {
 public:
  World() {
    auto process = disk.process();
    raw = process.get();
    EXPECT_TRUE(ours.open(observed(std::move(process), observer), true).ok());
    EXPECT_TRUE(ours.sessions().create_session({.id = "s"}).ok());
    EXPECT_TRUE(other.open(disk.process()).ok());
    EXPECT_TRUE(append(ours, {"a"}));
    EXPECT_TRUE(append(other, {"b"}));
  }

  bool append(Handle& handle, const std::vector<std::string>& ids) {
    std::vector<std::string> lines;
    for (const std::string& id : ids) lines.push_back(entry(id));
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    AppendOptions options;
    options.durability = durability;
    const auto appended = handle.sessions().append_session_lines("s", views, options);
    if (appended.ok()) acknowledged.insert(acknowledged.end(), ids.begin(), ids.end());
    return appended.ok();
  }
  /// `busy` is an answer that may be given once: there is one line.
  bool append_in_the_end(Handle& handle, const std::vector<std::string>& ids) {
    return append(handle, ids) || append(handle, ids);
  }

  void judge(Handle& handle, std::string_view who) {
    const auto entries = handle.sessions().load_session_entries("s");
    ASSERT_TRUE(entries.ok()) << who << ": " << entries.error().message();
    for (const std::string& id : acknowledged) {
      const auto count = std::count_if(entries->begin(), entries->end(),
                                       [&](const Entry& entry) { return entry.id == id; });
      EXPECT_EQ(count, 1) << who << " sees " << id;
    }
    bool theirs = std::any_of(entries->begin(), entries->end(),
                              [](const Entry& entry) { return entry.id == "theirs"; });
    // Right behind a torn line it is part of that.
    for (const std::string& path : disk.files()) {
      if (!path.starts_with("quarantine/")) continue;
      theirs = theirs || disk.read_file(path)->find(kForeign) != std::string::npos;
    }
    EXPECT_TRUE(theirs) << who << " lost the line of the other program";
  }
  void judge_all() {
    judge(ours, "who appended");
    judge(other, "another process");
    Handle fresh(9);
    ASSERT_TRUE(fresh.open(disk.process()).ok());
    judge(fresh, "a new process");
    const auto report = fresh.sessions().verify_session("s");
    ASSERT_TRUE(report.ok());
    for (const auto& problem : report->problems) ADD_FAILURE() << problem.kind;
  }

  SimDisk disk;
  LineBeforeCall observer{disk};
  fs::SimFs* raw = nullptr;  // of `ours`
  Handle ours{1};
  Handle other{2};
  Durability durability = Durability::kCommit;
  std::vector<std::string> acknowledged;
};

TEST(ForeignLine, BeforeEveryCallOfAnAppend) {
  std::uint64_t number = 1;
  for (bool came = true; came; ++number) {
    World world;
    world.observer.arm(number);
    ASSERT_TRUE(world.append_in_the_end(world.ours, {"c", "d"}));
    came = !world.observer.is_armed();
    if (!came) break;
    SCOPED_TRACE("before call " + std::to_string(number) + ": " +
                 std::string(world.observer.place()));
    world.judge_all();
    // Each goes on from what the other left.
    if (number % 2 == 0) {
      ASSERT_TRUE(world.append(world.ours, {"e"}));
    }
    ASSERT_TRUE(world.append(world.other, {"f"}));
    ASSERT_TRUE(world.append(world.ours, {"g"}));
    world.judge_all();
    if (HasFailure()) return;
  }
  EXPECT_GT(number, 5U);
}

TEST(ForeignLine, WhileATornTailIsCutOff) {
  std::uint64_t number = 1;
  for (bool came = true; came; ++number) {
    World world;
    append_as_another_program(world.disk, R"({"id":"torn","type":)");
    world.observer.arm(number);
    ASSERT_TRUE(world.append_in_the_end(world.ours, {"c", "d"}));
    came = !world.observer.is_armed();
    if (!came) break;
    SCOPED_TRACE("before call " + std::to_string(number) + ": " +
                 std::string(world.observer.place()));
    // Between the last look and the cut nothing can help: no call does both.
    if (world.observer.place() == name(SimCall::kTruncate)) continue;
    ASSERT_TRUE(world.append(world.other, {"e"}));
    world.judge_all();
    if (HasFailure()) return;
  }
  EXPECT_GT(number, 10U);
}

// The number of the call that writes.
std::uint64_t number_of_write() {
  for (std::uint64_t number = 1;; ++number) {
    World world;
    world.observer.arm(number);
    EXPECT_TRUE(world.append_in_the_end(world.ours, {"c"}));
    if (world.observer.place() == name(SimCall::kAppend)) return number;
  }
}

// A line without its line feed becomes one with ours, and of too many lines recovery forgets
// what stood before them. Then nothing is acknowledged, and nothing is gone.
TEST(ForeignLine, WhatCannotBeFoundAgainIsNotAcknowledged) {
  std::string many;
  for (int i = 0; i < 1100; ++i) many += "{\"n\":" + std::to_string(i) + "}\n";
  for (const std::string& bytes : {std::string(kForeign), many + std::string(kForeign) + "\n"}) {
    for (const Durability durability : {Durability::kCommit, Durability::kRelaxed}) {
      World world;
      world.durability = durability;
      world.observer.write_instead(bytes);
      world.observer.arm(number_of_write());
      EXPECT_FALSE(world.append(world.ours, {"c"}));
      EXPECT_FALSE(world.observer.is_armed());
      ASSERT_TRUE(world.append(world.ours, {"c"}));
      ASSERT_TRUE(world.append(world.other, {"d"}));
      world.judge_all();
    }
  }
}

// Facts do not move what the writer remembers as the newest node.
TEST(ForeignLine, AFactAndAPieceOfALine) {
  World world;
  world.observer.write_instead(R"({"id":"theirs","type":"usage","payload":{}})"
                               "\n{\"id\":\"half");
  world.observer.arm(number_of_write());
  EXPECT_FALSE(world.append(world.ours, {"c"}));
  ASSERT_TRUE(world.append(world.ours, {"c"}));
  world.judge_all();
}

// Where recovery begins must not matter: with the index it is behind the garbage.
TEST(ForeignLine, BehindGarbage) {
  bool came = false;
  for (std::uint64_t number = 1; !came; ++number) {
    World world;
    append_as_another_program(world.disk,
                              "no json\n"
                              R"({"id":"seen","type":"note","payload":{}})"
                              "\n");
    world.observer.arm(number);
    ASSERT_TRUE(world.append_in_the_end(world.ours, {"c"}));
    ASSERT_FALSE(world.observer.is_armed());
    came = world.observer.place() == name(SimCall::kAppend);
    if (!came) continue;
    world.disk.remove_file("sessions/s.idx");
    Handle fresh(9);
    ASSERT_TRUE(fresh.open(world.disk.process()).ok());
    world.judge(fresh, "without the index");
    ASSERT_TRUE(world.append(fresh, {"z"}));
    world.judge(fresh, "and after an append");
  }
}

// An entry that was staged and not written is not there, also when another takes its number.
TEST(ForeignLine, AFailedAppendIsForgotten) {
  World world;
  world.raw->set_faults({.fail_at = number_of_write(), .error = ENOSPC});
  EXPECT_FALSE(world.append(world.ours, {"c"}));
  world.raw->set_faults({});
  ASSERT_TRUE(world.append(world.other, {"x"}));
  append_as_another_program(world.disk, std::string(kForeign) + "\n");
  ASSERT_TRUE(world.append(world.ours, {"c"}));
  world.judge_all();
}

// What is taken back after a write that found no room is our own.
TEST(ForeignLine, BeforeAWriteThatFails) {
  const std::uint64_t number = number_of_write();
  World world;
  world.observer.arm(number);
  world.raw->set_faults({.fail_at = number, .error = ENOSPC, .short_write = fs::ShortWrite::kHalf});
  EXPECT_FALSE(world.append(world.ours, {"c"}));
  world.raw->set_faults({});
  ASSERT_TRUE(world.append(world.ours, {"d"}));
  world.judge_all();
}

}  // namespace
}  // namespace quipu::fault
