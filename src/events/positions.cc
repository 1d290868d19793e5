#include "events/positions.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/json_scan.h"
#include "base/json_write.h"

namespace quipu::events {
namespace {

// Lines stay short enough to be read by people.
constexpr std::size_t kPositionsPerEntry = 500;

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::int64_t time_of(std::string_view digits) {
  std::int64_t time = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), time);
  return time;
}

Ordinal ordinal_of(std::string_view digits) {
  const std::uint64_t number = number_of(digits);
  return number > std::numeric_limits<Ordinal>::max() ? 0 : static_cast<Ordinal>(number);
}

std::string id_of(std::string_view what, const std::string& session, std::uint64_t generation) {
  std::string id(kOwnIds);
  id += what;
  return id + ":" + session + ":" + std::to_string(generation);
}

// Under one id, whatever became of the log: one who sees it gone and one who sees its successor
// do not both end it.
NewEntry end_entry(std::string_view type, const std::string& session, std::uint64_t generation) {
  NewEntry entry;
  entry.id = id_of("ended", session, generation);
  entry.type = type;
  entry.payload.clear();
  json::Writer(entry.payload)
      .begin_object()
      .member("session", session)
      .member("generation", generation)
      .end_object();
  return entry;
}

}  // namespace

NewEntry growth_entry(const Growth& growth) {
  NewEntry entry;
  entry.id =
      id_of("entries", growth.session, growth.then.generation) + ":" + std::to_string(growth.first);
  entry.type = kGrowth;
  entry.payload.clear();
  json::Writer(entry.payload)
      .begin_object()
      .member("session", growth.session)
      .member("generation", growth.then.generation)
      .member("first", growth.first)
      .member("base", growth.base)
      .member("entries", growth.then.entries)
      .member("tail", growth.then.tail)
      .member("inode", growth.then.inode)
      .member("bytes", growth.then.bytes)
      .member("modified", growth.then.modified_ms)
      .end_object();
  return entry;
}

NewEntry replaced_entry(const std::string& session, std::uint64_t generation) {
  return end_entry(kReplaced, session, generation);
}

NewEntry removed_entry(const std::string& session, std::uint64_t generation) {
  return end_entry(kRemoved, session, generation);
}

std::optional<Growth> read_growth(std::string_view payload) {
  Growth growth;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->kind == json::Kind::kString) {
      if (member->key == "session") growth.session = json::decode_string(member->value);
      if (member->key == "tail") growth.then.tail = json::decode_string(member->value);
    }
    if (member->kind != json::Kind::kNumber) continue;
    if (member->key == "generation") growth.then.generation = number_of(member->value);
    if (member->key == "first") growth.first = ordinal_of(member->value);
    if (member->key == "base") growth.base = ordinal_of(member->value);
    if (member->key == "entries") growth.then.entries = ordinal_of(member->value);
    if (member->key == "inode") growth.then.inode = number_of(member->value);
    if (member->key == "bytes") growth.then.bytes = number_of(member->value);
    if (member->key == "modified") growth.then.modified_ms = time_of(member->value);
  }
  if (growth.session.empty() || growth.then.entries <= growth.first) return std::nullopt;
  return growth;
}

const Position* Positions::find(const std::string& session) const {
  const auto found = all_.find(session);
  return found == all_.end() ? nullptr : &found->second;
}

void Positions::take(std::string_view type, std::string_view payload) {
  if (type == kGrowth) take_growth(payload);
  if (type == kReplaced || type == kRemoved) take_end(payload);
  if (type == kPositions) take_positions(payload);
}

void Positions::take_growth(std::string_view payload) {
  if (auto growth = read_growth(payload)) all_[growth->session] = std::move(growth->then);
}

// What the session has after that is told from its first entry on.
void Positions::take_end(std::string_view payload) {
  const auto session = json::find_member(payload, "session");
  const auto generation = json::find_member(payload, "generation");
  if (!session || !generation) return;
  Position none;
  none.generation = number_of(generation->value);
  all_[json::decode_string(session->value)] = std::move(none);
}

// [[session, generation, entries, tail, inode, bytes, modified], …]
void Positions::take_positions(std::string_view payload) {
  const auto rows = json::find_member(payload, "sessions");
  if (!rows || rows->kind != json::Kind::kArray) return;
  json::ElementWalk walk(rows->value);
  while (const auto row = walk.next()) {
    std::vector<json::Member> cells;
    json::ElementWalk columns(row->value);
    while (const auto cell = columns.next()) cells.push_back(*cell);
    if (cells.size() < 7) continue;
    Position position;
    position.generation = number_of(cells[1].value);
    position.entries = ordinal_of(cells[2].value);
    position.tail = json::decode_string(cells[3].value);
    position.inode = number_of(cells[4].value);
    position.bytes = number_of(cells[5].value);
    position.modified_ms = time_of(cells[6].value);
    const std::string session = json::decode_string(cells[0].value);
    const Position* known = find(session);
    // Somebody else may have told more before this was written.
    if (known != nullptr &&
        (known->generation != position.generation || known->entries != position.entries)) {
      continue;
    }
    all_[session] = std::move(position);
  }
}

NewEntry Positions::entry_of(const std::map<std::string, Position>& positions) {
  NewEntry entry;
  entry.type = kPositions;
  entry.payload.clear();
  json::Writer out(entry.payload);
  out.begin_object().key("sessions").begin_array();
  for (const auto& [session, position] : positions) {
    out.begin_array()
        .value(session)
        .value(position.generation)
        .value(position.entries)
        .value(position.tail)
        .value(position.inode)
        .value(position.bytes)
        .value(position.modified_ms)
        .end_array();
  }
  out.end_array().end_object();
  return entry;
}

std::vector<NewEntry> Positions::checkpoint() const {
  std::vector<NewEntry> entries;
  std::map<std::string, Position> some;
  const auto put = [&] {
    entries.push_back(entry_of(some));
    some.clear();
  };
  for (const auto& [session, position] : all_) {
    some.emplace_hint(some.end(), session, position);
    if (some.size() == kPositionsPerEntry) put();
  }
  if (!some.empty()) put();
  return entries;
}

}  // namespace quipu::events
