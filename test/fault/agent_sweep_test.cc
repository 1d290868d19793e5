// Crashes and failed calls under what agents do: the writer's batches, the
// queue, runs, attachments. The machine is cut off after every call to the file
// system in turn, and the disk is looked at under every crash policy.
//
// Whatever happens: what was acknowledged is there; what was not is there whole
// or not at all; a queued message is in the queue or in the conversation, never
// in both and never in neither; an attachment has its bytes or does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/sha256.h"
#include "fault/agent_sweep.h"

namespace quipu::fault {
namespace {

std::vector<std::string> conversation(Store& store) {
  auto branch = SessionBranch::open(store, kSession);
  EXPECT_TRUE(branch.ok());
  const auto head = branch->head();
  EXPECT_TRUE(head.ok());
  if (!branch.ok() || !head.ok() || head->empty()) return {};
  auto path = branch->get_path(*head);
  EXPECT_TRUE(path.ok());
  return path.ok() ? *path : std::vector<std::string>();
}

// ---- the writer ----

struct Written {
  std::vector<std::string> appended;  // ids, in order
  std::size_t durable = 0;            // how many of them a flush acknowledged
};

void write_turns(Store& store, Written& written) {
  auto writer = SessionWriter::open(store, kSession, {.batch_entries = 3});
  if (!writer.ok()) return;
  // After an error the caller tries again, as it is told to.
  const auto note = [&](const Result<std::string>& id) {
    if (id.ok()) written.appended.push_back(*id);
    if (writer->buffered() == 0) written.durable = written.appended.size();
  };
  const auto flush = [&] {
    for (int tries = 0; tries < 3; ++tries) {
      if (!writer->flush().ok()) continue;
      written.durable = written.appended.size();
      return;
    }
  };
  for (int turn = 0; turn < 3; ++turn) {
    note(writer->append_user("question"));
    note(writer->append_tool("ls", "{}", "call"));
    note(writer->append_tool_result("call", "files"));
    note(writer->append_assistant("answer"));
    flush();
  }
}

void judge_turns(Store& store, const Written& written) {
  const std::vector<std::string> path = conversation(store);
  ASSERT_GE(path.size(), written.durable) << "an acknowledged entry is lost";
  ASSERT_LE(path.size(), written.appended.size());
  for (std::size_t i = 0; i < path.size(); ++i) ASSERT_EQ(written.appended[i], path[i]);
  // The next process goes on where this one was cut off.
  auto writer = SessionWriter::open(store, kSession);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->append_user("and on").ok());
  ASSERT_TRUE(writer->flush().ok());
  ASSERT_EQ(path.size() + 1, conversation(store).size());
}

const Sweep<Written> kWriterSweep{write_turns, judge_turns};

TEST(AgentSweep, WriterSurvivesACrashAfterEveryCall) { kWriterSweep.crash_everywhere(); }

TEST(AgentSweep, WriterSurvivesEveryFailedCall) {
  for (const int error : {ENOSPC, EIO, EINTR}) kWriterSweep.fail_everywhere(error);
}

TEST(AgentSweep, AFullDiskDelaysTheWriterAndLosesNothing) {
  SimDisk disk = disk_with_session();
  Handle handle(2);
  ASSERT_TRUE(handle.open(disk.process()).ok());
  auto writer =
      SessionWriter::open(handle.store(), kSession, {.batch_entries = 2, .buffer_bytes = 4000});
  ASSERT_TRUE(writer.ok());
  std::vector<std::string> taken;
  taken.push_back(writer->append_user("before").value());
  ASSERT_TRUE(writer->flush().ok());
  disk.set_capacity_bytes(0);
  std::optional<Code> refused;
  for (int i = 0; i < 100 && !refused; ++i) {
    auto id = writer->append_user(std::string(100, 'x'));
    if (id.ok()) {
      taken.push_back(*id);
    } else {
      refused = id.error().code();
    }
  }
  EXPECT_EQ(Code::kNoSpace, refused) << "memory is bounded";
  EXPECT_GT(writer->buffered(), 5u);
  EXPECT_LT(writer->buffered(), 50u);
  const auto full = writer->flush();
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(Code::kNoSpace, full.error().code());
  disk.set_capacity_bytes(std::uint64_t{1} << 30);
  ASSERT_TRUE(writer->flush().ok());
  taken.push_back(writer->append_user("after").value());
  ASSERT_TRUE(writer->flush().ok());
  EXPECT_EQ(taken, conversation(handle.store()));
}

// ---- queue and runs ----

struct Queue {
  std::set<std::string> queued;
  std::set<std::string> tried;
  std::set<std::string> dequeued;
  std::uint64_t generation = 0;
};

void use_queue(Store& store, Queue& queue) {
  Runtime runtime(store, kSession);
  const auto run = runtime.begin_run({.take_over = true});
  if (run.ok()) queue.generation = run->generation;
  for (const char* id : {"q1", "q2", "q3"}) {
    queue.tried.insert(id);
    const auto added =
        runtime.enqueue(R"({"role":"user","content":")" + std::string(id) + R"("})", id);
    if (added.ok()) queue.queued.insert(id);
    if (id == std::string_view("q1")) continue;
    const auto taken = runtime.dequeue_into();
    if (taken.ok() && taken->has_value()) queue.dequeued.insert((*taken)->queue_id);
  }
  if (run.ok()) ignore(runtime.end_run(*run), "the judge only wants the generation");
}

void judge_queue(Store& store, const Queue& queue) {
  Runtime runtime(store, kSession);
  const auto waiting = runtime.queued();
  ASSERT_TRUE(waiting.ok());
  std::map<std::string, int> places;
  for (const QueuedMessage& one : *waiting) ++places[one.queue_id];
  for (const std::string& id : conversation(store)) {
    ASSERT_TRUE(id.ends_with(".message")) << id;
    ++places[id.substr(0, id.size() - std::string_view(".message").size())];
  }
  for (const auto& [id, count] : places) {
    ASSERT_EQ(1, count) << id << " is in the queue and in the conversation";
    ASSERT_TRUE(queue.tried.contains(id));
  }
  for (const std::string& id : queue.queued) {
    ASSERT_TRUE(places.contains(id)) << id << " is lost";
  }
  for (const QueuedMessage& one : *waiting) {
    ASSERT_FALSE(queue.dequeued.contains(one.queue_id)) << one.queue_id << " came back";
  }
  const auto state = runtime.state();
  ASSERT_TRUE(state.ok());
  ASSERT_GE(state->generation, queue.generation);
  // What is left can be taken up, once.
  std::size_t taken = 0;
  for (;; ++taken) {
    const auto next = runtime.dequeue_into();
    ASSERT_TRUE(next.ok());
    if (!next->has_value()) break;
  }
  ASSERT_EQ(waiting->size(), taken);
  ASSERT_EQ(places.size(), conversation(store).size());
}

const Sweep<Queue> kQueueSweep{use_queue, judge_queue};

TEST(AgentSweep, QueueNeitherLosesNorDoublesAfterACrash) { kQueueSweep.crash_everywhere(); }

TEST(AgentSweep, QueueNeitherLosesNorDoublesAfterAFailedCall) {
  for (const int error : {ENOSPC, EIO, EINTR}) kQueueSweep.fail_everywhere(error);
}

// ---- attachments ----

using Attached = std::set<std::string>;  // contents

std::vector<std::string> contents() {
  return {std::string(5000, 'a'), "small", std::string(), std::string(5000, 'a')};
}

void attach(Store& store, Attached& attached) {
  Attachments attachments(store);
  for (const std::string& bytes : contents()) {
    if (attachments.put(bytes).ok()) attached.insert(bytes);
  }
}

void judge_attachments(Store& store, const Attached& attached) {
  Attachments attachments(store);
  for (const std::string& bytes : contents()) {
    const auto got = attachments.get(sha256_hex(bytes));
    if (got.ok()) {
      ASSERT_EQ(bytes, *got);
    } else {
      ASSERT_EQ(Code::kNotFound, got.error().code()) << "half an attachment";
      ASSERT_FALSE(attached.contains(bytes)) << "an acknowledged attachment is lost";
    }
  }
  for (const std::string& bytes : contents()) ASSERT_TRUE(attachments.put(bytes).ok());
  const auto all = attachments.list();
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(3u, all->size());
}

const Sweep<Attached> kAttachmentSweep{attach, judge_attachments};

TEST(AgentSweep, AttachmentsAreWholeOrAbsentAfterACrash) { kAttachmentSweep.crash_everywhere(); }

TEST(AgentSweep, AttachmentsAreWholeOrAbsentAfterAFailedCall) {
  for (const int error : {ENOSPC, EIO, EINTR}) kAttachmentSweep.fail_everywhere(error);
}

TEST(AgentSweep, ARottenAttachmentIsReplacedAndItsBytesKept) {
  const std::string bytes = "picture";
  const std::string path = "attachments/" + sha256_hex(bytes);
  const std::string aside = "quarantine/attachment-" + sha256_hex(bytes) + ".1";
  SimDisk prepared = disk_with_session();
  prepared.write_file(path, "rotten");
  for (std::uint64_t call = 0;; ++call) {
    SimDisk disk = prepared;
    disk.set_faults({.crash_after = call});
    bool acknowledged = false;
    {
      Handle handle(2);
      if (handle.open(disk.process()).ok()) {
        acknowledged = Attachments(handle.store()).put(bytes).ok();
      }
    }
    for (const fs::CrashPolicy& policy : fs::all_crash_policies()) {
      SCOPED_TRACE("after call " + std::to_string(call) + ", " + fs::name(policy));
      SimDisk after = disk.crash(policy, 1);
      ASSERT_TRUE(after.read_file(path) == "rotten" || after.read_file(aside) == "rotten");
      Handle handle(3);
      ASSERT_TRUE(handle.open(after.process()).ok());
      const auto got = Attachments(handle.store()).get(sha256_hex(bytes));
      ASSERT_TRUE(got.ok() || !acknowledged);
      ASSERT_TRUE(!got.ok() || *got == bytes);
    }
    if (!disk.crashed()) {
      ASSERT_TRUE(acknowledged);
      return;
    }
  }
}

}  // namespace
}  // namespace quipu::fault
