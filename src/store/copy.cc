#include "quipu/copy.h"

#include <algorithm>
#include <set>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/sha256.h"
#include "base/try.h"
#include "events/event_log.h"
#include "events/feed.h"
#include "quipu/attachments.h"
#include "quipu/events.h"
#include "store/guarded.h"

namespace quipu {
namespace {

// One batch: well below what a store takes at once.
constexpr std::size_t kBatchBytes = std::size_t{8} << 20;
constexpr std::size_t kBatchEntries = 4096;
const std::string kProjects = std::string(kSystemPrefix) + "projects";

// A log of the store's own. Each store has made its own headers for them, which say
// nothing: what counts is what follows.
bool is_system(const std::string& id) { return id.starts_with(kSystemPrefix); }

// The object as it is stored, without the seal: what a redaction hides is copied, too.
Result<std::string> object_of(const Lineage& lineage, Ordinal own) {
  TRY_ASSIGN(const StoredEntry stored, lineage.own().entry(own));
  if (stored.damaged) {
    TRY_ASSIGN(const std::string id, lineage.own().id(own));
    return Error(Code::kCorrupt, "entry " + id + " is damaged: it would not be the same there");
  }
  if (stored.adopted) {
    EntryText text;
    TRY(read_entry(lineage, lineage.base() + own, text));
    return std::string(text.json);
  }
  std::string object(stored.text.substr(0, stored.text.size() - stored.seal_bytes));
  if (stored.seal_bytes > 0) object += '}';
  return object;
}

// Attachments are named where a part of a message names them.
void note_attachments(std::string_view line, std::set<std::string>& names) {
  constexpr std::string_view kMember = "\"sha256\":\"";
  for (std::size_t at = line.find(kMember); at != std::string_view::npos;
       at = line.find(kMember, at + 1)) {
    const std::string_view name = line.substr(at + kMember.size(), 64);
    if (is_sha256_hex(name)) names.emplace(name);
  }
}

class Copy {
 public:
  Copy(Store& from, Store& to) : from_(from), to_(to) {}

  Result<void> log(const std::string& id) {
    TRY_ASSIGN(const auto source, from_.backend()->lineage(id));
    const Ordinal count = source->own().fold().count;
    TRY_ASSIGN(Ordinal next, stored_prefix(*source, id));
    report.entries_present += next;
    while (next < count) {
      std::vector<std::string> lines;
      std::size_t bytes = 0;
      for (; next < count && bytes < kBatchBytes && lines.size() < kBatchEntries; ++next) {
        TRY_ASSIGN(std::string line, object_of(*source, next));
        note_attachments(line, attachments);
        bytes += line.size();
        lines.push_back(std::move(line));
      }
      TRY(add(id, lines, next == lines.size()));
    }
    return compare(*source, id);
  }

  Result<void> attachment(const std::string& sha256) {
    Attachments there(to_);
    if (there.stat(sha256).ok()) return {};
    Attachments here(from_);
    auto reader = here.open(sha256);
    // A session may name one that nobody has.
    if (!reader.ok() && reader.error().code() == Code::kNotFound) return {};
    if (!reader.ok()) return std::move(reader).error();
    TRY(there.put([&](std::span<char> into) { return reader->read(into); }));
    ++report.attachments_added;
    return {};
  }

  // What programs said. The log itself is not copied: its order, and what it tells of
  // sessions, are the other store's.
  Result<void> events() {
    events::EventLog log(from_.backend(), {});
    events::Feed feed(log, {.batch = kBatchEntries}, events::Feed::Own::kLeftOut);
    EventStore there(to_);
    TRY(feed.rewind());
    while (!feed.at_end()) {
      TRY_ASSIGN(auto read, feed.read());
      std::vector<NewEvent> batch;
      std::size_t bytes = 0;
      for (Event& event : read) {
        if (bytes >= kBatchBytes) TRY(add(there, batch));
        if (batch.empty()) bytes = 0;
        bytes += event.payload.size();
        batch.push_back({.id = std::move(event.id),
                         .type = std::move(event.type),
                         .timestamp = std::move(event.timestamp),
                         .source = std::move(event.source),
                         .payload = std::move(event.payload)});
      }
      TRY(add(there, batch));
    }
    return {};
  }

  CopyReport report;
  std::set<std::string> attachments;

 private:
  // How many entries at the beginning are there already, and the same.
  Result<Ordinal> stored_prefix(const Lineage& source, const std::string& id) {
    auto there = to_.backend()->lineage(id);
    if (!there.ok() && there.error().code() == Code::kNotFound) return Ordinal{0};
    if (!there.ok()) return std::move(there).error();
    const Ordinal both = std::min(source.own().fold().count, (*there)->own().fold().count);
    Ordinal same = 0;
    for (; same < both; ++same) {
      TRY_ASSIGN(const std::string one, object_of(source, same));
      TRY_ASSIGN(const std::string other, object_of(**there, same));
      if (one != other && !(same == 0 && is_system(id))) break;
      note_attachments(one, attachments);
    }
    if (same == 0 && both > 0) {
      return Error(Code::kIdConflict, "another session has the id " + id);
    }
    return same;
  }

  Result<void> add(const std::string& id, std::span<const std::string> lines, bool is_new) {
    if (is_new) {
      TRY(to_.backend()->create(id, lines));
      report.entries_added += lines.size();
      return {};
    }
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    TRY_ASSIGN(const Batch batch, admit_lines(views, to_.backend()->filler()));
    AppendOptions options;
    options.mode = AppendMode::kMerge;
    TRY_ASSIGN(const AppendResult added, to_.backend()->append(id, batch, options));
    report.entries_added += added.appended_count;
    report.entries_present += added.already_present;
    return {};
  }

  Result<void> add(EventStore& there, std::vector<NewEvent>& batch) {
    TRY_ASSIGN(const EventsAppended added, there.append(batch));
    report.entries_added += added.appended;
    report.entries_present += added.already_present;
    batch.clear();
    return {};
  }

  Result<void> compare(const Lineage& source, const std::string& id) {
    TRY_ASSIGN(const auto there, to_.backend()->lineage(id));
    for (Ordinal own = is_system(id) ? 1 : 0; own < source.own().fold().count; ++own) {
      TRY_ASSIGN(const std::string one, object_of(source, own));
      if (own >= there->own().fold().count) return lacks(id, own);
      TRY_ASSIGN(std::string other, object_of(*there, own));
      if (one == other) continue;
      // It went on in both places: the order differs from here on.
      TRY_ASSIGN(const std::string entry_id, source.own().id(own));
      TRY_ASSIGN(const auto found, there->own().find(entry_id));
      if (!found) return lacks(id, own);
      TRY_ASSIGN(other, object_of(*there, *found));
      if (one != other) return lacks(id, own);
    }
    return {};
  }

  static Error lacks(const std::string& id, Ordinal own) {
    return {Code::kCorrupt, "entry " + std::to_string(own) + " of session " + id +
                                " is not in the copy as it is here"};
  }

  Store& from_;
  Store& to_;
};

// The sessions asked for and what they go on from, that first.
std::vector<std::string> in_order(Backend& backend, std::span<const std::string> wanted) {
  std::vector<std::string> order;
  std::set<std::string> known;
  for (std::string id : wanted) {
    std::vector<std::string> line;  // youngest first; headers that go in a circle end it, too
    while (!id.empty() && known.insert(id).second) {
      line.push_back(id);
      const auto header = backend.header(id);
      id = header.ok() ? header->parent_session : std::string();
    }
    order.insert(order.end(), line.rbegin(), line.rend());
  }
  return order;
}

// Wrong with the store and not with one session of it.
bool is_about_storage(Code code) {
  return code == Code::kNoSpace || code == Code::kStorageGone || code == Code::kIoError ||
         code == Code::kDurabilityUnknown || code == Code::kUnsupported || code == Code::kNoMemory;
}

}  // namespace

Result<CopyReport> copy_store(Store& from, Store& to, const CopyOptions& options) {
  return guarded([&]() -> Result<CopyReport> {
    if (from.id() == to.id()) {
      return Error(Code::kInvalidArgument, "both URLs name the same store");
    }
    Backend& backend = *from.backend();
    std::vector<std::string> wanted = options.sessions;
    if (wanted.empty()) {
      TRY_ASSIGN(wanted, backend.list());
    }
    const std::vector<std::string> ids = in_order(backend, wanted);
    Copy copy(from, to);
    TRY_ASSIGN(const std::vector<std::string> system, backend.list_system());
    for (const std::string& id : system) {
      // Sessions name their projects; the rest is the store's as a whole.
      const bool is_wanted = options.sessions.empty() || id == kProjects;
      if (is_wanted && !events::EventLog::is_segment(id)) TRY(copy.log(id));
    }
    if (options.sessions.empty()) TRY(copy.events());
    for (const std::string& id : ids) {
      auto copied = copy.log(id);
      if (!copied.ok() && is_about_storage(copied.error().code())) return std::move(copied).error();
      if (copied.ok()) {
        ++copy.report.sessions;
      } else {
        copy.report.problems.push_back({.session_id = id, .error = std::move(copied).error()});
      }
      if (options.progress) {
        options.progress(copy.report.sessions + copy.report.problems.size(), ids.size());
      }
    }
    if (options.sessions.empty()) {
      TRY_ASSIGN(const auto all, backend.attachments().list());
      for (const AttachmentFacts& facts : all) copy.attachments.insert(facts.sha256);
    }
    for (const std::string& sha256 : copy.attachments) TRY(copy.attachment(sha256));
    return std::move(copy.report);
  });
}

}  // namespace quipu
