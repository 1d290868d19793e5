// Every byte of an offset index flipped, every length it can be cut to, every
// older state of it: no answer changes. The index only ever saves time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "fault/fixed_world.h"

namespace quipu::fault {
namespace {

using fs::SimDisk;

constexpr const char* kIndex = "sessions/s.idx";
constexpr int kBatches = 40;

NewEntry entry(const std::string& id, std::string type = "message") {
  NewEntry made;
  made.id = id;
  made.type = std::move(type);
  made.payload = "{\"n\":\"" + id + "\"}";
  return made;
}

void append(Handle& handle, const char* session, std::vector<NewEntry> entries) {
  const auto done = handle.sessions().append_session_entries(session, entries);
  if (!done.ok()) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    std::abort();
  }
}

// A disk with a session of two index levels, and what its index looked like on
// the way there.
struct World {
  SimDisk disk;
  std::vector<std::string> older;
};

const World& world() {
  static const World made = [] {
    World world;
    Handle handle(1);
    if (!handle.open(world.disk.process(), true).ok()) std::abort();
    NewSession session;
    session.id = "s";
    if (!handle.sessions().create_session(session).ok()) std::abort();
    for (int i = 0; i < kBatches; ++i) {
      const std::string n = std::to_string(i);
      std::vector<NewEntry> batch = {entry("a" + n), entry("b" + n)};
      if (i % 5 == 4) batch[1].parent = Parent::of("a" + std::to_string(i / 2));
      if (i % 11 == 10) batch[0].parent = Parent::root();
      append(handle, "s", batch);
      if (i % 7 == 6) {
        NewEntry label = entry("label" + n, "label");
        label.payload = "{\"targetId\":\"a" + n + "\",\"label\":\"x\"}";
        NewEntry info = entry("info" + n, "session_info");
        info.payload = "{\"title\":\"title " + n + "\"}";
        append(handle, "s", {label, info});
      }
      if (i == 20) {  // another program's line
        handle.drop();
        const std::string log = *world.disk.read_file("sessions/s.jsonl");
        world.disk.write_file("sessions/s.jsonl",
                              log + "{\"type\":\"user\",\"content\":\"flat\"}\n");
        if (!handle.open(world.disk.process()).ok()) std::abort();
      }
      if (i % 6 == 5) world.older.push_back(*world.disk.read_file(kIndex));
    }
    ForkOptions fork;
    fork.new_id = "f";
    if (!handle.sessions().branch_from_entry("s", "b13", fork).ok()) std::abort();
    append(handle, "f", {entry("in-fork")});
    return world;
  }();
  return made;
}

std::string said(const Error& error) {
  return std::string(name(error.code())) + " " + error.actual();
}

void read_all(SessionStore& sessions, const char* session, std::string& out) {
  const auto entries = sessions.load_session_entries(session);
  if (!entries.ok()) {
    out += "load: " + said(entries.error()) + entries.error().message();
    return;
  }
  for (const Entry& one : *entries) out += one.json + (one.adopted ? "A\n" : "\n");
  const auto about = sessions.describe_session(session);
  out += about.ok() ? about->head + '|' + about->tail + '|' + about->title + '|' +
                          std::to_string(about->entries) + '\n'
                    : said(about.error());
  const auto tree = sessions.session_tree(session);
  if (!tree.ok()) {
    out += "tree: " + said(tree.error());
    return;
  }
  for (SessionTree::Ordinal i = 0; i < tree->size(); ++i) {
    const auto parent = tree->parent(i);
    out += std::to_string(parent ? *parent : ~0u) + ' ' + std::to_string(tree->depth(i)) + ';';
  }
  for (const auto leaf : tree->leaves()) out += 'L' + std::to_string(leaf);
  for (const auto point : tree->branch_points()) out += 'B' + std::to_string(point);
  for (const Entry& one : *entries) {
    const auto found = tree->find(one.id);
    out += found.ok() ? ' ' + std::to_string(*found) : ' ' + said(found.error());
  }
  const auto found = tree->find("nobody");
  out += found.ok() ? "found nobody" : said(found.error());
}

void append_some(SessionStore& sessions, std::string& out) {
  const auto say = [&out](const Result<AppendResult>& result) {
    out += result.ok() ? std::to_string(result->appended_count) + '/' +
                             std::to_string(result->already_present) + '\n'
                       : said(result.error()) + '\n';
  };
  for (int i = 0; i < kBatches; ++i) {
    const std::string n = std::to_string(i);
    const std::vector<NewEntry> again = {entry("a" + n), entry("b" + n)};
    say(sessions.append_session_entries("s", again));
  }
  AppendOptions expects;
  expects.expected_tail = "a0";
  const std::vector<NewEntry> fresh = {entry("new-0"), entry("new-1")};
  say(sessions.append_session_entries("s", fresh, expects));
  say(sessions.append_session_entries("s", fresh));
  std::vector<NewEntry> orphan = {entry("new-2")};
  orphan[0].parent = Parent::of("nobody");
  say(sessions.append_session_entries("s", orphan));
  orphan[0].parent = Parent::of("b20");
  say(sessions.append_session_entries("s", orphan));
}

// Everything there is to ask, before and after appending.
std::string answers(SimDisk& disk) {
  std::string out;
  {
    Handle reader(2);
    if (!reader.open(disk.process()).ok()) return "cannot open";
    read_all(reader.sessions(), "s", out);
    read_all(reader.sessions(), "f", out);
  }
  Handle writer(3);
  if (!writer.open(disk.process()).ok()) return "cannot open";
  append_some(writer.sessions(), out);
  Handle reader(4);
  if (!reader.open(disk.process()).ok()) return "cannot open";
  read_all(reader.sessions(), "s", out);
  const auto report = reader.sessions().verify_session("s");
  if (!report.ok()) return out + said(report.error());
  for (const Problem& problem : report->problems) {
    if (problem.kind != "bad_index") out += problem.kind + problem.detail;
  }
  return out;
}

const std::string& healthy() {
  static const std::string text = [] {
    SimDisk disk(world().disk);
    return answers(disk);
  }();
  return text;
}

class Damage {
 public:
  void check(const std::string& index, const std::string& what) {
    ++cases_;
    SimDisk disk(world().disk);
    disk.write_file(kIndex, index);
    const std::string got = answers(disk);
    if (got == healthy()) return;
    if (++wrong_ > 5) return;
    const auto at = std::mismatch(got.begin(), got.end(), healthy().begin(), healthy().end());
    const auto from =
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at.first - got.begin() - 80));
    ADD_FAILURE() << what << "\n  got      " << got.substr(from, 200) << "\n  expected "
                  << healthy().substr(std::min(from, healthy().size()), 200);
  }
  void print(const char* what) const {
    std::printf("%s: %llu cases, %llu answers changed\n", what,
                static_cast<unsigned long long>(cases_), static_cast<unsigned long long>(wrong_));
  }

 private:
  std::uint64_t cases_ = 0;
  std::uint64_t wrong_ = 0;
};

// At less than full scale every k-th case.
std::size_t stride() {
  return static_cast<std::size_t>(std::max(1.0, 1 / std::max(test_scale(), 0.001)));
}

TEST(IndexDamage, HealthyAnswersMakeSense) {
  SimDisk without(world().disk);
  without.remove_file(kIndex);
  EXPECT_EQ(answers(without), healthy());
  EXPECT_NE(healthy().find("0/2\n"), std::string::npos);
  EXPECT_NE(healthy().find("tail_moved "), std::string::npos);
  EXPECT_NE(healthy().find("2/0\n"), std::string::npos);
  EXPECT_NE(healthy().find("unknown_parent"), std::string::npos);
  EXPECT_GT(world().disk.read_file(kIndex)->size(), 4096u) << "two levels are wanted";
}

TEST(IndexDamage, EveryByteFlipped) {
  const std::string good = *world().disk.read_file(kIndex);
  Damage damage;
  for (std::size_t at = 0; at < good.size(); at += stride()) {
    const bool busy = good.substr(at / 64 * 64, 64) != std::string(64, '\0');
    for (const int mask : {1 << (at % 8), 0xff, 0x80}) {
      if (!busy && mask != 0xff) continue;
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ mask);
      damage.check(bad, "byte " + std::to_string(at) + " ^ " + std::to_string(mask));
    }
  }
  damage.print("flipped");
}

TEST(IndexDamage, EveryLength) {
  const std::string good = *world().disk.read_file(kIndex);
  Damage damage;
  for (std::size_t size = 0; size < good.size(); size += stride() * 3) {
    damage.check(good.substr(0, size), "cut to " + std::to_string(size));
    std::string zero = good;
    std::fill(zero.begin() + static_cast<std::ptrdiff_t>(size), zero.end(), '\0');
    if (size % 64 == 0) damage.check(zero, "zero from " + std::to_string(size));
  }
  damage.print("cut");
}

TEST(IndexDamage, EveryOlderState) {
  const std::string good = *world().disk.read_file(kIndex);
  Damage damage;
  for (std::size_t age = 0; age < world().older.size(); ++age) {
    std::string old = world().older[age];
    const std::string label = "state " + std::to_string(age);
    damage.check(old, label);
    old.resize(good.size(), '\0');
    std::size_t number = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
      if (good[at] == old[at] || number++ % stride() != 0) continue;
      std::string mixed = good;
      mixed[at] = old[at];
      damage.check(mixed, label + ", old byte at " + std::to_string(at));
    }
  }
  damage.print("stale");
}

}  // namespace
}  // namespace quipu::fault
