#include "support/model_store.h"

#include <algorithm>
#include <set>

namespace quipu::test {
namespace {

constexpr const char* kHidden = R"({"redacted":true})";

Error error(Code code) { return {code, "model"}; }

}  // namespace

const ModelStore::Stored* ModelStore::find(const Sight& sight, const std::string& id) {
  for (const auto& entry : sight) {
    if (entry.line.row.id == id) return &entry;
  }
  return nullptr;
}

bool ModelStore::has_node(const Sight& sight, const std::string& id) {
  const auto* entry = find(sight, id);
  return entry != nullptr && !entry->line.row.fact;
}

ModelStore::Sight ModelStore::path(const Sight& sight, const std::string& id) {
  Sight out;
  for (const auto* at = find(sight, id); at != nullptr && !at->line.row.fact;) {
    out.insert(out.begin(), *at);
    at = at->line.row.parent ? find(sight, *at->line.row.parent) : nullptr;
  }
  return out;
}

// A node on the head or the first root moves the head, a `head` fact sets it.
std::optional<std::string> ModelStore::head(const Sight& sight) {
  std::optional<std::string> head;
  for (const auto& entry : sight) {
    const Row& row = entry.line.row;
    if (!row.fact && row.parent == head) head = row.id;
    if (row.type == "head" && has_node(sight, entry.line.target)) head = entry.line.target;
  }
  return head;
}

std::string ModelStore::fresh_id() {
  if (ids_.empty()) return "filled-" + std::to_string(++filled_);
  std::string id = ids_.front();
  ids_.pop_front();
  return id;
}

ModelStore::Stored ModelStore::header(const std::string& session) {
  Stored out;
  out.owner = session;
  Row& row = out.line.row;
  row.id = fresh_id();
  row.type = "session_header";
  row.timestamp = now_;
  row.payload = "{}";
  row.fact = true;
  return out;
}

ModelStore::Sight ModelStore::sight(const std::string& session) const {
  const Log& log = logs_.at(session);
  Sight out;
  if (log.origin) out = path(sight(log.origin->first), log.origin->second);
  out.insert(out.end(), log.own.begin(), log.own.end());
  return out;
}

bool ModelStore::is_redacted(const Stored& entry) const {
  const Sight& own = logs_.at(entry.owner).own;
  return std::any_of(own.begin(), own.end(), [&](const Stored& fact) {
    return fact.line.row.type == "redaction" && fact.line.target == entry.line.row.id;
  });
}

Result<void> ModelStore::check_session(const std::string& id) const {
  if (!is_session_id(id)) return error(Code::kInvalidArgument);
  if (!logs_.contains(id)) return error(Code::kNotFound);
  return {};
}

Result<SessionHandle> ModelStore::create(const std::string& id) {
  if (!is_session_id(id)) return error(Code::kInvalidArgument);
  if (logs_.contains(id)) return error(Code::kIdConflict);
  logs_[id].own = {header(id)};
  return SessionHandle{id, 1};
}

// The entries themselves: each one, then against each other.
Result<ModelStore::Sight> ModelStore::admit(const std::vector<std::string>& lines) {
  if (lines.empty()) return error(Code::kInvalidArgument);
  if (lines.size() > kBatchEntriesMax) return error(Code::kTooLarge);
  Sight batch;
  for (const auto& text : lines) {
    if (text.size() > kLineBytesMax) return error(Code::kTooLarge);
    auto line = read_strict_line(text);
    if (!line) return error(Code::kInvalidArgument);
    if (line->row.id.empty()) line->row.id = fresh_id();
    batch.push_back({*line, ""});
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t j = i; j < batch.size(); ++j) {
      const std::string& later = batch[j].line.row.id;
      if (batch[i].line.row.parent == later) return error(Code::kBadBatch);
      if (i != j && batch[i].line.row.id == later) return error(Code::kBadBatch);
    }
  }
  return batch;
}

// Finds the entry's parent, fills in what is missing and adds it to the sight.
Result<void> ModelStore::place(Sight& sight, Stored entry) const {
  HistoryLine& line = entry.line;
  Row& row = line.row;
  std::string fill;
  const auto fill_in = [&](const std::string& key, const std::string& value) {
    if (line.members.emplace(key, value).second) fill += json::quoted(key) + ":" + value + ",";
  };
  fill_in("id", json::quoted(row.id));
  if (!row.fact) {
    if (!line.has("parentId")) row.parent = head(sight);
    if (row.parent && !has_node(sight, *row.parent)) return error(Code::kUnknownParent);
    fill_in("parentId", row.parent ? json::quoted(*row.parent) : "null");
  }
  if (row.type == "head" && !has_node(sight, line.target)) return error(Code::kUnknownParent);
  if (row.type == "redaction" && !find(sight, line.target)) return error(Code::kUnknownParent);
  if (row.timestamp.empty()) row.timestamp = now_;
  fill_in("timestamp", json::quoted(row.timestamp));
  row.json.insert(1, fill);
  sight.push_back(std::move(entry));
  return {};
}

Result<AppendResult> ModelStore::append(const std::string& session,
                                        const std::vector<std::string>& lines,
                                        const AppendOptions& options) {
  if (!is_session_id(session)) return error(Code::kInvalidArgument);
  auto admitted = admit(lines);
  if (!admitted.ok()) return std::move(admitted).error();
  if (!logs_.contains(session)) return error(Code::kNotFound);
  auto result = store(session, *admitted, options);
  if (result.ok()) return result;
  std::vector<std::string> ids;
  for (const auto& entry : *admitted) ids.push_back(entry.line.row.id);
  return std::move(result).error().with_entry_ids(ids);
}

Result<AppendResult> ModelStore::store(const std::string& session, const Sight& batch,
                                       const AppendOptions& options) {
  // A redaction belongs into the log that holds its target; one batch, one log.
  Sight sight = this->sight(session);
  std::set<std::string> owners;
  for (const auto& entry : batch) {
    const bool redacts = entry.line.row.type == "redaction";
    const Stored* target = redacts ? find(sight, entry.line.target) : nullptr;
    owners.insert(target == nullptr ? session : target->owner);
  }
  const std::string owner = *owners.begin();
  const bool expects = options.expected_tail || options.expected_head || options.fence;
  if (owners.size() > 1 || (owner != session && expects)) return error(Code::kBadBatch);
  for (const auto& entry : batch) {
    const Stored* seen = owner != session ? find(sight, entry.line.row.id) : nullptr;
    if (seen != nullptr && seen->owner != owner) return error(Code::kIdConflict);
  }
  if (owner != session) sight = this->sight(owner);

  AppendResult result{owner, batch.back().line.row.id, 0, 0, true, {}};
  Sight missing;
  for (const auto& entry : batch) {
    result.entry_ids.push_back(entry.line.row.id);
    const Stored* present = find(sight, entry.line.row.id);
    if (present == nullptr) {
      missing.push_back({entry.line, owner});
      continue;
    }
    ++result.already_present;
    for (const auto& [key, value] : entry.line.members) {
      const auto& stored = present->line.members;
      if (!stored.contains(key) || stored.at(key) != value) return error(Code::kIdConflict);
    }
  }
  if (missing.empty()) return result;
  if (result.already_present > 0 && options.mode == AppendMode::kNormal) {
    return error(Code::kPartialOverlap);
  }
  const std::string tail = sight.back().line.row.id;
  if (options.expected_tail && *options.expected_tail != tail) {
    return error(Code::kTailMoved).with_actual(tail);
  }
  if (options.expected_head && options.expected_head != head(sight)) {
    return error(Code::kHeadMoved).with_actual(head(sight).value_or(""));
  }
  std::string run;
  for (const auto& entry : sight) {
    if (entry.line.row.type == "run_start" && entry.owner == owner) run = entry.line.row.id;
  }
  if (options.fence && *options.fence != run) return error(Code::kFenced).with_actual(run);
  const auto before = static_cast<std::ptrdiff_t>(sight.size());
  for (const auto& entry : missing) {
    if (auto placed = place(sight, entry); !placed.ok()) return std::move(placed).error();
  }
  auto& own = logs_[owner].own;
  own.insert(own.end(), sight.begin() + before, sight.end());
  result.appended_count = missing.size();
  return result;
}

Result<SessionHandle> ModelStore::fork(const std::string& session, const std::string& entry,
                                       const ForkOptions& options) {
  if (auto known = check_session(session); !known.ok()) return std::move(known).error();
  if (find(sight(session), entry) == nullptr) return error(Code::kNotFound);
  Sight path = this->path(sight(session), entry);
  if (path.empty() || !is_session_id(options.new_id)) return error(Code::kInvalidArgument);
  if (logs_.contains(options.new_id)) return error(Code::kIdConflict);
  Log log{std::nullopt, {header(options.new_id)}};
  if (!options.detach) log.origin = {path.back().owner, entry};
  for (auto& copy : path) {
    if (!options.detach) break;
    if (is_redacted(copy)) {
      copy.line.row.payload = copy.line.members["payload"] = kHidden;
      copy.line.row.meta.clear();
      copy.line.members.erase("meta");
      std::string& whole = copy.line.row.json = "{";
      for (const auto& [key, value] : copy.line.members)
        whole += json::quoted(key) + ":" + value + ",";
      whole.back() = '}';
    }
    copy.owner = options.new_id;
    log.own.push_back(copy);
  }
  logs_[options.new_id] = std::move(log);
  return SessionHandle{options.new_id, 1};
}

Result<SessionView> ModelStore::view(const std::string& session) {
  if (auto known = check_session(session); !known.ok()) return std::move(known).error();
  const Sight sight = this->sight(session);
  SessionView view;
  view.head = head(sight);
  view.tail = sight.back().line.row.id;
  if (logs_[session].origin) view.parent_session = logs_[session].origin->first;
  for (const auto& entry : sight) {
    Row row = entry.line.row;
    row.inherited = entry.owner != session;
    row.redacted = is_redacted(entry);
    if (row.redacted) row.payload = kHidden;
    if (row.redacted) row.meta.clear();
    view.rows.push_back(row);
  }
  view.derive_shape();
  return view;
}

Result<std::vector<std::string>> ModelStore::sessions() {
  std::vector<std::string> out;
  for (const auto& [id, log] : logs_) out.push_back(id);
  return out;
}

}  // namespace quipu::test
