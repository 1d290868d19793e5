// A file of Claude's lines as a session: read by the dialect, hung together as an
// import does it, asked for its conversation.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "dialect/carry.h"
#include "dialect/claude/chain.h"
#include "dialect/claude/claude.h"
#include "support/memory_host.h"

namespace quipu::dialect::claude {

inline constexpr const char* kMainPath =
    "/home/a/.claude/projects/-home-a-p/11111111-2222-4333-8444-555555555555.jsonl";

struct ClaudeSession {
  Outline outline;
  std::deque<Record> described;  // without their bytes
  std::deque<std::string> texts;
  std::vector<StoredRecord> records;
  std::uint32_t head = kNoRecord;

  /// Reads `path` and what belongs to it.
  static ClaudeSession read(fs::HostFiles& files, const std::string& path) {
    ClaudeSession session;
    const Claude claude;
    const auto sources = claude.sources(path, files);
    EXPECT_TRUE(sources.ok());
    const auto reader = claude.open(sources->front(), files, {});
    EXPECT_TRUE(reader.ok());
    session.outline = (*reader)->outline();
    Record record;
    for (;;) {
      const auto found = (*reader)->next(record);
      EXPECT_TRUE(found.ok());
      if (!found.ok() || !*found) break;
      session.take(claude, record);
    }
    return session;
  }

  static ClaudeSession of(const std::string& lines, const std::string& path = kMainPath) {
    MemoryHost host;
    host.files[path] = lines;
    return read(host, path);
  }

  /// The uuids of the chain that ends at `at`, or at the head.
  std::vector<std::string> chain(std::uint32_t at) const {
    std::vector<std::string> ids;
    for (const std::uint32_t i : chain_of(records, at)) ids.push_back(uuid(i));
    return ids;
  }
  std::vector<std::string> chain() const { return chain(head); }

  std::vector<std::string> picked(std::uint32_t at) const {
    std::vector<std::string> ids;
    for (const Pick& pick : Claude().conversation(records, at)) ids.push_back(uuid(pick.record));
    return ids;
  }
  std::vector<std::string> picked() const { return picked(head); }

  std::uint32_t find(const std::string& id) const {
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (records[i].id == id) return i;
    }
    return kNoRecord;
  }

 private:
  std::string uuid(std::uint32_t i) const {
    const std::string id(records[i].id);
    return id.substr(0, id.find('~'));
  }

  void take(const Claude& claude, const Record& record) {
    const auto place = static_cast<std::uint32_t>(records.size());
    const auto& bytes = texts.emplace_back(record.bytes);
    described.push_back(record);
    Record& kept = described.back();
    kept.bytes = {};
    std::string id = record.id.empty() ? "line:" + std::to_string(place) : record.id;
    if (const int version = ++versions_[id]; version > 1) id += "~" + std::to_string(version);
    std::string buffer;
    Record whole = record;
    whole.bytes = bytes;
    const std::string payload(carry(whole, buffer).payload);
    StoredRecord stored;
    stored.id = texts.emplace_back(id);
    stored.kind = kept.kind;
    stored.payload = understood(texts.emplace_back(payload), texts);
    if (!record.is_fact) {
      const auto parent = places_.find(record.parent);
      if (record.link == Record::Link::kParent && parent != places_.end()) {
        stored.parent = parent->second;
      }
      places_.try_emplace(id, place);
    }
    records.push_back(stored);
    if (!record.is_fact) follow(claude, record, place);
  }

  void follow(const Claude& claude, const Record& record, std::uint32_t place) {
    if (record.leads == Record::Leads::kHere) head = place;
    if (record.leads != Record::Leads::kAbove) return;
    for (std::uint32_t at = place; at != kNoRecord; at = records[at].parent) {
      if (!claude.leads(records[at].kind)) continue;
      head = at;
      return;
    }
  }

  std::unordered_map<std::string, int> versions_;
  std::unordered_map<std::string, std::uint32_t> places_;
};

}  // namespace quipu::dialect::claude
