#include "fault/crash_oracle.h"

#include "base/siphash.h"

namespace quipu::fault {

const char* name(Op op) {
  static constexpr const char* kNames[kOps] = {"create", "append1", "append2", "append5",
                                               "branch", "migrate", "repair",  "close"};
  return kNames[static_cast<int>(op)];
}

std::uint64_t Oracle::digest() const {
  std::string text;
  for (const ModelSession& session : sessions) {
    text += session.id;
    text += session.reported ? '+' : '-';
    text += std::to_string(session.base.size());
    for (const ModelBatch& batch : session.batches) {
      text += batch.key;
      text += batch.reported ? '+' : '-';
      text += std::to_string(batch.size);
    }
    text += ';';
  }
  text += std::to_string(target);
  if (unsealed) text += '~';
  if (in_flight) {
    text += static_cast<char>('a' + static_cast<int>(in_flight->op));
    text += std::to_string(in_flight->session);
    text += in_flight->from;
  }
  return siphash({}, text);
}

std::size_t batch_size(Op op) {
  switch (op) {
    case Op::kAppend2:
      return 2;
    case Op::kAppend5:
      return 5;
    default:
      return 1;
  }
}

std::string payload_of(const std::string& id, std::size_t batch_size) {
  const std::size_t bytes = batch_size == 1 ? 60 : batch_size == 2 ? 500 : 340;
  std::string text;
  while (text.size() < bytes) text += id + ' ';
  return "{\"role\":\"user\",\"content\":\"" + text + "\"}";
}

std::vector<NewEntry> entries_of(const ModelBatch& batch) {
  std::vector<NewEntry> entries(batch.size);
  for (std::size_t i = 0; i < batch.size; ++i) {
    entries[i].id = batch.key + "-" + std::to_string(i);
    entries[i].type = "message";
    entries[i].payload = payload_of(entries[i].id, batch.size);
  }
  return entries;
}

std::vector<ModelEntry> entries_of(const ModelSession& session) {
  std::vector<ModelEntry> entries = session.base;
  for (const ModelBatch& batch : session.batches) {
    for (NewEntry& entry : entries_of(batch)) {
      entries.push_back({std::move(entry.id), std::move(entry.payload)});
    }
  }
  return entries;
}

std::optional<std::string> compare(const ModelSession& session, const std::vector<Entry>& found,
                                   std::size_t& batches) {
  const std::vector<ModelEntry> expected = entries_of(session);
  std::size_t at = 0;
  for (const Entry& entry : found) {
    if (entry.type == "session_header") continue;
    const std::string place = session.id + ", entry " + std::to_string(at) + " (" + entry.id + ")";
    const bool known = at < expected.size() && entry.id == expected[at].id &&
                       entry.payload == expected[at].payload;
    if (!known && entry.adopted) return kSpliced + place + ": " + entry.json;
    if (at == expected.size()) return place + ": nobody wrote this";
    if (entry.id != expected[at].id) return place + ": expected " + expected[at].id;
    if (entry.payload != expected[at].payload) return place + ": payload differs";
    ++at;
  }
  std::size_t end = session.base.size();
  if (at < end) return session.id + ": entries that were always there are missing";
  std::size_t there = 0;
  while (there < session.batches.size() && end + session.batches[there].size <= at) {
    end += session.batches[there++].size;
  }
  if (end != at) return session.id + ": a part of batch " + session.batches[there].key;
  for (std::size_t i = there; i < session.batches.size(); ++i) {
    if (session.batches[i].reported) {
      return session.id + ": batch " + session.batches[i].key + " was reported and is lost";
    }
  }
  batches = there;
  return std::nullopt;
}

}  // namespace quipu::fault
