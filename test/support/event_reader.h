// Reading the feed of a store to its end, for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "quipu/events.h"
#include "support/agent_store.h"

namespace quipu::test {

/// All events that can be had without waiting.
inline std::vector<Event> all_of(EventTail& tail) {
  std::vector<Event> events;
  for (;;) {
    auto more = must(tail.next(std::chrono::milliseconds::zero()));
    if (more.empty()) return events;
    for (Event& event : more) events.push_back(std::move(event));
  }
}

inline std::string member_of(const Event& event, std::string_view key) {
  const auto member = json::find_member(event.payload, key);
  if (!member) return {};
  return member->kind == json::Kind::kString ? json::decode_string(member->value)
                                             : std::string(member->value);
}

/// "type" of a program's events; "type session/ordinal entry" of the store's.
inline std::string told(const Event& event) {
  if (!event.type.starts_with("quipu.")) return event.type;
  std::string text = event.type.substr(6) + " " + member_of(event, "session");
  const std::string ordinal = member_of(event, "ordinal");
  if (!ordinal.empty()) text += "/" + ordinal + " " + member_of(event, "entry");
  return text;
}

inline std::vector<std::string> told(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(told(event));
  return all;
}

inline NewEvent event_of(std::string type, std::string id = {}, std::string payload = "{}") {
  NewEvent event;
  event.type = std::move(type);
  event.id = std::move(id);
  event.payload = std::move(payload);
  return event;
}

/// The same as its sessions: every entry once, in the order of its log.
inline void expect_complete(Store& store, const std::vector<Event>& events) {
  std::map<std::string, std::vector<std::string>> feed;
  for (const Event& event : events) {
    const std::string session = member_of(event, "session");
    if (event.type == "quipu.session_replaced" || event.type == "quipu.session_removed") {
      feed[session].clear();
    } else if (event.type.starts_with("quipu.") && !session.empty()) {
      feed[session].push_back(member_of(event, "entry"));
    }
  }
  for (const std::string& session : must(store.sessions().session_ids())) {
    std::vector<std::string> ids;
    for (const Entry& entry : must(store.sessions().load_session_entries(session))) {
      if (!entry.inherited) ids.push_back(entry.id);
    }
    EXPECT_EQ(ids, feed[session]) << session;
    feed.erase(session);
  }
  for (const auto& [session, ids] : feed) EXPECT_TRUE(ids.empty()) << session;
}

}  // namespace quipu::test
