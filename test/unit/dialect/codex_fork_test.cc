// Forks and reverts that refer to a part of another rollout.
#include <gtest/gtest.h>

#include <map>

#include "backend/lineage.h"
#include "codex_rollout.h"
#include "quipu/export.h"
#include "quipu/import.h"

namespace quipu::dialect::codex {
namespace {

const std::string kA = "aaaaaaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa";
const std::string kF = "ffffffff-ffff-7fff-8fff-ffffffffffff";
const std::string kG = "99999999-9999-7999-8999-999999999999";
const std::string kS = "55555555-5555-7555-8555-555555555555";

std::string numbered(int ordinal, const std::string& type, const std::string& payload) {
  return R"({"timestamp":"2026-01-02T03:04:05.678Z","ordinal":)" + std::to_string(ordinal) +
         R"(,"type":")" + type + R"(","payload":)" + payload + "}\n";
}

std::string header(int ordinal, const std::string& id, const std::string& base, int end) {
  std::string payload = R"({"id":")" + id + R"(","cwd":"/w","history_mode":"paginated")";
  if (!base.empty()) {
    payload += R"(,"history_base":{"thread_id":")" + base + R"(","end_ordinal_exclusive":)" +
               std::to_string(end) + R"(,"end_byte_offset":1})";
  }
  return numbered(ordinal, "session_meta", payload + "}");
}

std::string says(int ordinal, const std::string& text) {
  return numbered(ordinal, "response_item",
                  R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" +
                      text + "\"}]}");
}

class CodexFork : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    host_.files["/c/sessions/rollout-2026-01-02T03-04-05-" + name + ".jsonl"] = text;
  }

  /// Problems by source.
  std::map<std::string, std::vector<std::string>> import() {
    Importer importer(store_, &host_);
    auto found = importer.find({.agents = {"codex"}, .paths = {"/c"}, .since_ms = 0});
    EXPECT_TRUE(found.ok());
    std::map<std::string, std::vector<std::string>> problems;
    auto done = importer.run(found->sources, {}, [&](const ImportReport& report) {
      EXPECT_FALSE(report.error) << report.error->message();
      added_ += report.added;
      for (const ImportProblem& problem : report.problems) {
        problems[report.session_id].push_back(problem.what);
      }
      return true;
    });
    EXPECT_TRUE(done.ok());
    return problems;
  }

  /// What the session sees from its beginning: the texts of its items.
  std::vector<std::string> seen(const std::string& id) {
    auto lineage = store_.sessions().lineage("codex." + id);
    if (!lineage.ok()) return {lineage.error().message()};
    std::vector<std::string> texts;
    std::vector<std::string> payloads;
    std::vector<StoredRecord> records;
    const Lineage& all = **lineage;
    std::map<Ordinal, std::uint32_t> places;
    for (Ordinal at = 0; at < all.size(); ++at) {
      auto entry = all.entry(at);
      payloads.emplace_back(read_envelope(entry->text).payload);
    }
    for (Ordinal at = 0; at < all.size(); ++at) {
      auto entry = all.entry(at);
      const Envelope envelope = read_envelope(entry->text);
      StoredRecord record;
      record.kind = record_type(envelope.type.view()).kind;
      record.payload = payloads[at];
      // Inherited nodes are a path; own ones name their parent.
      record.parent = at == 0 ? kNoRecord : at - 1;
      if (at >= all.base()) {
        const Ordinal parent = entry->place.parent;
        record.parent = parent == kNone ? kNoRecord : parent;
      }
      records.push_back(record);
    }
    for (const Pick& pick : kCodex.conversation(records, all.head())) {
      for (std::string& text : lifted(std::string(records[pick.record].kind),
                                      std::string(records[pick.record].payload))) {
        texts.push_back(std::move(text));
      }
    }
    return texts;
  }

  std::string base_of(const std::string& id) {
    auto lineage = store_.sessions().lineage("codex." + id);
    if (!lineage.ok() || (*lineage)->ancestry() == nullptr) return "";
    const Ancestry& ancestry = *(*lineage)->ancestry();
    return ancestry.session(ancestry.count() - 1);
  }

  MemoryHost host_;
  Store store_ = Store::open("memory:").value();
  std::uint64_t added_ = 0;
};

using Texts = std::vector<std::string>;

TEST_F(CodexFork, SeesItsBaseUpToTheOrdinal) {
  put(kA, header(0, kA, "", 0) + says(1, "one") + says(2, "two") + says(3, "three"));
  put(kF, header(3, kF, kA, 3) + says(4, "fork"));
  EXPECT_TRUE(import().empty());
  EXPECT_EQ(seen(kA), (Texts{"user: one", "user: two", "user: three"}));
  EXPECT_EQ(seen(kF), (Texts{"user: one", "user: two", "user: fork"}));
  EXPECT_EQ(base_of(kF), "codex." + kA);
}

// The fork's name sorts before its base's, and the fork of the fork before both.
TEST_F(CodexFork, BasesComeFirst) {
  put(kF, header(0, kF, "", 0) + says(1, "one") + says(2, "two"));
  put(kA, header(2, kA, kF, 2) + says(3, "fork"));
  put(kG, header(4, kG, kA, 4) + says(5, "fork of fork"));
  EXPECT_TRUE(import().empty());
  EXPECT_EQ(seen(kG), (Texts{"user: one", "user: fork", "user: fork of fork"}));
  EXPECT_EQ(base_of(kG), "codex." + kA);
}

TEST_F(CodexFork, ARevertIsASegmentAndCanBeForkedItself) {
  put(kA, header(0, kA, "", 0) + says(1, "one") + says(2, "two"));
  put(kA + "_" + kS, header(2, kA, kA, 2) + says(3, "instead"));
  put(kG, header(4, kG, kS, 4) + says(5, "fork"));
  // Goes back behind the beginning of the segment.
  put(kF, header(4, kF, kS, 2) + says(5, "early"));
  EXPECT_TRUE(import().empty());
  EXPECT_EQ(seen(kS), (Texts{"user: one", "user: instead"}));
  EXPECT_EQ(seen(kG), (Texts{"user: one", "user: instead", "user: fork"}));
  EXPECT_EQ(seen(kF), (Texts{"user: one", "user: early"}));
  EXPECT_EQ(base_of(kF), "codex." + kA);
}

TEST_F(CodexFork, WithoutItsBaseItStandsAloneAndSaysSo) {
  put(kF, header(3, kF, kA, 3) + says(4, "fork"));
  put(kG, header(5, kG, kF, 5) + says(6, "fork of fork"));
  const auto problems = import();
  EXPECT_EQ(problems.at("codex." + kF), Texts{"base_missing"});
  EXPECT_FALSE(problems.contains("codex." + kG));
  EXPECT_EQ(seen(kG), (Texts{"user: fork", "user: fork of fork"}));
}

TEST_F(CodexFork, ThatNameEachOtherAreImportedAllTheSame) {
  put(kF, header(3, kF, kG, 3) + says(4, "f"));
  put(kG, header(3, kG, kF, 3) + says(4, "g"));
  EXPECT_FALSE(import().empty());
  EXPECT_EQ(added_, 4u);
}

TEST_F(CodexFork, ImportingAgainAddsNothingAndGrowthGoesOn) {
  const std::string fork = header(3, kF, kA, 3) + says(4, "fork");
  put(kA, header(0, kA, "", 0) + says(1, "one") + says(2, "two"));
  put(kF, fork);
  import();
  added_ = 0;
  import();
  EXPECT_EQ(added_, 0u);
  put(kF, fork + says(5, "more"));
  import();
  EXPECT_EQ(added_, 1u);
  EXPECT_EQ(seen(kF), (Texts{"user: one", "user: two", "user: fork", "user: more"}));
  std::string back;
  auto exported = export_session(store_, "codex." + kF, {.to = "codex"},
                                 [&](const std::string&, std::string_view bytes) {
                                   back += bytes;
                                   return Result<void>();
                                 });
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(back, fork + says(5, "more"));
}

}  // namespace
}  // namespace quipu::dialect::codex
