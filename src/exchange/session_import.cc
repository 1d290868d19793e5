#include "exchange/session_import.h"

#include <deque>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/time_text.h"
#include "base/try.h"
#include "fs/zstd_file.h"
#include "model/session_header.h"
#include "quipu/attachments.h"
#include "quipu/limits.h"

namespace quipu::exchange {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
constexpr std::size_t kBatchEntries = 4096;
// Leaves room for `~` and a number.
constexpr std::size_t kIdBytes = kEntryIdBytesMax - 16;

// The first entries of every imported session.
constexpr std::string_view kHeaderId = "header";
constexpr std::string_view kSourceId = "source";

// What a source is called wherever it lies. An agent may compress it, or die before it gave
// the file that it wrote its name.
std::string source_name(const dialect::Source& source) {
  std::string name = dialect::file_name(source, 0);
  for (const std::string_view ending : {".zst", ".tmp"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return source.part.empty() ? name : name + "#" + source.part;
}

bool can_be_id(std::string_view id) {
  if (id.empty() || id.size() > kIdBytes || id == kHeaderId || id == kSourceId) return false;
  for (const char c : id) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

std::string made_id(std::string_view agent, std::string_view session, std::string_view bytes,
                    std::uint32_t occurrence) {
  Sha256 hash;
  hash.update(agent);
  hash.update(std::string_view("\0", 1));
  hash.update(session);
  hash.update(std::string_view("\0", 1));
  hash.update(bytes);
  hash.update(std::string_view("\0", 1));
  hash.update(std::to_string(occurrence));
  return hash.finish().substr(0, 32);
}

}  // namespace

SessionImport::SessionImport(Store& store, const dialect::Dialect& dialect, fs::HostFiles& files,
                             ProjectOf project_of)
    : store_(store), dialect_(dialect), files_(files), project_of_(std::move(project_of)) {}

Result<Imported> SessionImport::run(const dialect::Source& source, const ImportFrom& from) {
  source_ = &source;
  only_new_ = from.position.offset != 0;
  result_.report.total = only_new_ ? from.state.records : 0;
  TRY_ASSIGN(const auto reader, dialect_.open(source, files_, from.position));
  is_whole_ = reader->is_whole();
  agent_session_ = reader->outline().session;
  TRY_ASSIGN(const bool is_open, open_session(reader->outline(), from.base));
  if (!is_open) {
    const std::string& base = reader->outline().base_session;
    result_.waits_for = dialect::session_id_of(dialect_.name(), base);
    return std::move(result_);
  }
  Record record;
  for (;;) {
    TRY_ASSIGN(const bool found, reader->next(record));
    if (!found) break;
    if (from.is_live && record.problem == "torn") break;
    TRY(take(record));
  }
  if (is_whole_) TRY(add_recipe());
  TRY(flush());
  if (stored_ != nullptr && !has_news_) return std::move(result_);
  // Not before everything is on the disk: after a power cut a mark that survived would keep
  // us from reading what did not.
  TRY(store_.backend()->settle(result_.report.session_id));
  TRY(add_mark(from.state, is_whole_ ? dialect::ReadPosition() : reader->position()));
  TRY(flush());
  return std::move(result_);
}

// Several files may say that they are the same session: copies, resumed sessions. The
// first that came has the name; each of the others a name with its own in it.
Result<bool> SessionImport::open_session(const dialect::Outline& outline, ImportFrom::Base base) {
  timestamp_ = parse_timestamp(outline.created) ? outline.created : std::string();
  const std::string mark = sha256_hex(source_name(*source_)).substr(0, 8);
  for (const std::string& name : {outline.session, outline.session + "." + mark}) {
    result_.report.session_id = dialect::session_id_of(dialect_.name(), name);
    const std::string& id = result_.report.session_id;
    auto lineage = store_.sessions().lineage(id);
    if (!lineage.ok() && lineage.error().code() == Code::kNotFound) {
      if (!outline.base_session.empty()) {
        if (base == ImportFrom::Base::kLater) return false;
        TRY(find_base(outline));
        if (base_entry_.empty() && base == ImportFrom::Base::kStored) return false;
        if (base_entry_.empty()) add_problem("base_missing");
      }
      auto created = create(id, outline);
      if (created.ok()) return true;
      // Somebody was faster: look again.
      if (created.error().code() != Code::kIdConflict) return std::move(created).error();
      lineage = store_.sessions().lineage(id);
    }
    if (!lineage.ok()) return std::move(lineage).error();
    TRY_ASSIGN(const bool is_ours, is_of_this_source(**lineage));
    if (!is_ours) continue;
    stored_ = *lineage;
    TRY(look_at_stored());
    return true;
  }
  return Error(Code::kIdConflict, result_.report.session_id + " is a session of another source");
}

// The last record of the base that the fork refers to, in whichever log it lies.
Result<void> SessionImport::find_base(const dialect::Outline& outline) {
  const std::string id = dialect::session_id_of(dialect_.name(), outline.base_session);
  auto found = store_.sessions().lineage(id);
  if (!found.ok()) {
    return found.error().code() == Code::kNotFound ? Result<void>() : std::move(found).error();
  }
  const Lineage& base = **found;
  for (Ordinal at = base.size(); at-- > 0;) {
    TRY_ASSIGN(const StoredEntry entry, base.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    const dialect::RecordType type = dialect::record_type(envelope.type.view());
    if (type.dialect != &dialect_ || type.is_fact) continue;
    std::deque<std::string> owned;
    const bool is_it = outline.in_base
                           ? outline.in_base(dialect::understood(envelope.payload, owned))
                           : envelope.id.view() == outline.base_record;
    if (!is_it) continue;
    base_session_ = at < base.base() ? base.ancestry()->session(at) : id;
    base_entry_ = envelope.id.view();
    last_node_ = head_ = base_entry_;
    has_root_ = true;
    // The fork must not outlive it.
    return store_.backend()->settle(base_session_);
  }
  return {};
}

Result<bool> SessionImport::is_of_this_source(const Lineage& stored) {
  TRY_ASSIGN(const auto found, stored.find(kSourceId));
  if (!found) return false;
  TRY_ASSIGN(const StoredEntry entry, stored.entry(found->ordinal));
  const auto file = json::find_member(read_envelope(entry.text).payload, "file");
  return file && json::decode_string(file->value) == source_name(*source_);
}

Result<void> SessionImport::create(const std::string& id, const dialect::Outline& outline) {
  SessionHeader header;
  header.version = kSchemaVersion;
  header.session_id = id;
  header.cwd = outline.cwd;
  header.agent_id = dialect_.name();
  TRY_ASSIGN(header.project_id, project_of_(outline.cwd));
  header.parent_session = base_session_;
  header.parent_entry = base_entry_;
  std::string source;
  json::Writer out(source);
  out.begin_object().member("agent", dialect_.name()).member("session", outline.session);
  out.member("path", source_->path).text_member("part", source_->part);
  out.member("file", source_name(*source_)).text_member("spawnedBy", outline.spawned_by);
  out.end_object();
  const std::string now = format_timestamp(store_.backend()->filler().clock.unix_ms());
  const std::string& timestamp = timestamp_.empty() ? now : timestamp_;
  const std::string payload = session_header_payload(header);
  std::vector<std::string> entries(2);
  append_entry_json(entries[0], {.id = kHeaderId,
                                 .parent = std::nullopt,
                                 .type = "session_header",
                                 .timestamp = timestamp,
                                 .run_id = {},
                                 .payload = payload,
                                 .meta = {}});
  append_entry_json(entries[1], {.id = kSourceId,
                                 .parent = std::nullopt,
                                 .type = "fact.quipu.source",
                                 .timestamp = timestamp,
                                 .run_id = {},
                                 .payload = source,
                                 .meta = {}});
  return store_.backend()->create(id, entries);
}

// Where the last pass ended.
Result<void> SessionImport::look_at_stored() {
  const LogView& own = stored_->own();
  has_root_ = stored_->head() != kNone;
  if (has_root_) {
    TRY_ASSIGN(head_, stored_->id(stored_->head()));
    TRY_ASSIGN(const StoredEntry head, stored_->entry(stored_->head()));
    const Envelope envelope = read_envelope_prefix(head.text);
    follows_ = dialect::record_type(envelope.type.view()).dialect == &dialect_;
  }
  // The last node and the last record are among the last entries, or nearly.
  bool record_found = false;
  for (Ordinal at = own.fold().count; at-- > 0;) {
    TRY_ASSIGN(const StoredEntry entry, own.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    if (envelope.type.view() == dialect::kRecipeType && stored_recipe_.empty()) {
      stored_recipe_ = envelope.payload;
    }
    if (dialect::record_type(envelope.type.view()).dialect != &dialect_) continue;
    const dialect::CarriedMeta meta = dialect::read_meta(envelope.meta);
    if (!meta.file.empty()) continue;  // the other files come last, and each is whole
    if (!record_found) {
      if (meta.problem == "torn") torn_ = envelope.id.view();
      if (meta.problem != "torn" && meta.end.empty()) open_ = envelope.id.view();
    }
    record_found = true;
    if (is_fact(entry.place.type)) continue;
    last_node_ = envelope.id.view();
    break;
  }
  if (last_node_.empty() && stored_->base() > 0) {
    TRY_ASSIGN(last_node_, stored_->id(stored_->base() - 1));
  }
  return {};
}

void SessionImport::add_problem(std::string_view what) {
  for (ImportProblem& problem : result_.report.problems) {
    if (problem.what != what) continue;
    ++problem.count;
    return;
  }
  result_.report.problems.push_back({.path = source_->path, .what = std::string(what)});
}

Result<void> SessionImport::take(const Record& record) {
  if (only_new_ && !open_.empty() && record.file == 0 && record.bytes.empty() &&
      record.large_size == 0) {
    return add_end(std::exchange(open_, {}), record.end);
  }
  open_.clear();
  TRY_ASSIGN(const dialect::Carried payload, carried(record));
  TRY_ASSIGN(const Placed placed, place(record, payload.payload));
  ++result_.report.total;
  if (!record.problem.empty()) add_problem(record.problem);
  if (parse_timestamp(record.timestamp)) timestamp_ = record.timestamp;
  if (placed.id == torn_) torn_.clear();

  NewEntry entry;
  dialect::CarriedMeta meta;
  TRY(link(record, entry, meta));
  const std::string parent = entry.parent.id();
  remember(record, placed.id, parent);
  if (is_whole_ && record.file == 0) {
    recipe_.items.push_back({.id = placed.id, .end = std::string(record.end)});
  }
  if (placed.fate == Fate::kPresent) {
    if (!is_whole_ && placed.stored_end.empty() && !record.end.empty())
      return add_end(placed.id, record.end);
    return {};
  }

  meta.carried = payload.carried;
  if (!is_whole_ || record.file != 0) meta.end = record.end;
  if (record.file != 0) meta.file = dialect::file_name(*source_, record.file);
  meta.problem = record.problem;
  meta.supersedes = placed.supersedes;
  if (!torn_.empty() && record.file == 0) meta.supersedes = std::exchange(torn_, {});
  entry.id = placed.id;
  entry.type = dialect::entry_type_of(dialect_, record.kind, record.is_fact);
  entry.timestamp = timestamp_;
  entry.payload = payload.payload;
  entry.meta = dialect::encode_meta(meta);
  add(std::move(entry));
  ++result_.report.added;
  if (!record.is_fact) TRY(follow(record, placed.id, parent));
  if (pending_bytes_ >= kBatchBytes || pending_.size() >= kBatchEntries) TRY(flush());
  return {};
}

void SessionImport::add(NewEntry entry) {
  has_news_ = true;
  pending_bytes_ += entry.payload.size() + entry.meta.size() + 256;
  pending_.push_back(std::move(entry));
}

// A file ended without a line end when it was read, and has gone on since.
Result<void> SessionImport::add_end(const std::string& id, std::string_view end) {
  NewEntry entry;
  entry.id = id + ".end";
  entry.type = dialect::entry_type_of(dialect_, "raw", true);
  entry.timestamp = timestamp_;
  entry.payload = "{\"raw\":\"\"}";
  dialect::CarriedMeta meta;
  meta.carried = "text";
  meta.end = end;
  entry.meta = dialect::encode_meta(meta);
  TRY_ASSIGN(const auto stored, stored_as(entry.id, entry.payload));
  if (!stored) add(std::move(entry));
  return {};
}

Result<dialect::Carried> SessionImport::carried(const Record& record) {
  if (record.large_size == 0) return dialect::carry(record, carry_buffer_);
  const std::string& path = source_->files[record.file];
  TRY_ASSIGN(const auto file, fs::open_plain(files_, path));
  std::uint64_t at = record.large_offset;
  const std::uint64_t end = at + record.large_size;
  TRY_ASSIGN(const StoredAttachment kept,
             Attachments(store_).put([&](std::span<char> into) -> Result<std::size_t> {
               const std::size_t want = std::min<std::uint64_t>(into.size(), end - at);
               TRY_ASSIGN(const std::size_t got, file->read_at(into.first(want), at));
               at += got;
               return got;
             }));
  carry_buffer_ = "{\"attachment\":{\"sha256\":\"" + kept.sha256 +
                  "\",\"bytes\":" + std::to_string(kept.bytes) + "}}";
  return dialect::Carried{.payload = carry_buffer_, .carried = "attachment"};
}

Result<SessionImport::Placed> SessionImport::place(const Record& record, std::string_view payload) {
  const bool has_own = can_be_id(record.id);
  const std::string own =
      has_own ? record.id : made_id(dialect_.name(), agent_session_, payload, 1);
  std::uint32_t& used = met_[own].versions;
  for (std::uint32_t version = used + 1;; ++version) {
    std::string id = own;
    if (version > 1) {
      id = has_own ? own + "~" + std::to_string(version)
                   : made_id(dialect_.name(), agent_session_, payload, version);
    }
    TRY_ASSIGN(const auto stored, stored_as(id, payload));
    const bool is_old = only_new_ && record.file == 0 && id != torn_;
    if (stored && (is_old || !stored->is_same)) continue;
    used = version;
    Placed placed{.id = std::move(id),
                  .fate = stored ? Fate::kPresent : Fate::kNew,
                  .supersedes = {},
                  .stored_end = stored ? stored->end : std::string()};
    if (version > 1 && has_own) {
      placed.supersedes = version == 2 ? own : own + "~" + std::to_string(version - 1);
    }
    return placed;
  }
}

Result<std::optional<SessionImport::Stored>> SessionImport::stored_as(const std::string& id,
                                                                      std::string_view payload) {
  if (stored_ == nullptr) return std::optional<Stored>();
  TRY_ASSIGN(const auto found, stored_->find(id));
  if (!found) return std::optional<Stored>();
  TRY_ASSIGN(const StoredEntry entry, stored_->entry(found->ordinal));
  const Envelope envelope = read_envelope(entry.text);
  return std::optional(
      Stored{.is_same = envelope.payload == payload, .end = dialect::read_meta(envelope.meta).end});
}

Result<bool> SessionImport::is_node(const std::string& id) {
  if (const auto met = met_.find(id); met != met_.end()) return met->second.is_node;
  if (stored_ == nullptr) return false;
  TRY_ASSIGN(const auto found, stored_->find(id));
  return found && found->is_node;
}

Result<void> SessionImport::link(const Record& record, NewEntry& entry,
                                 dialect::CarriedMeta& meta) {
  if (record.is_fact) return {};
  entry.parent = Parent::root();
  if (record.link == Record::Link::kPrevious && !last_node_.empty()) {
    entry.parent = Parent::of(last_node_);
  }
  if (record.link == Record::Link::kParent) {
    TRY_ASSIGN(const bool is_there, is_node(record.parent));
    if (is_there) {
      entry.parent = Parent::of(record.parent);
    } else {
      meta.source_parent = record.parent;
    }
  }
  return {};
}

void SessionImport::remember(const Record& record, const std::string& id,
                             const std::string& parent) {
  const auto at = met_.try_emplace(id).first;
  if (record.is_fact) return;
  at->second.is_node = true;
  last_node_ = id;
  if (dialect_.leads(record.kind)) {
    at->second.leader = &at->first;
  } else if (const auto above = met_.find(parent); above != met_.end()) {
    at->second.leader = above->second.leader;
  }
}

// Keeps track of where the session's head will be, and where the agent would go on.
Result<void> SessionImport::follow(const Record& record, const std::string& id,
                                   const std::string& parent) {
  const bool moves = parent.empty() ? !has_root_ : parent == head_;
  if (moves) head_ = id;
  has_root_ = true;
  switch (record.leads) {
    case Record::Leads::kHere:
      leaf_ = id;
      break;
    case Record::Leads::kThere:
      leaf_ = record.leads_to;
      break;
    case Record::Leads::kAbove: {
      TRY_ASSIGN(std::string leader, nearest_leader(parent));
      if (!leader.empty()) leaf_ = std::move(leader);
      break;
    }
    case Record::Leads::kNot:
      break;
  }
  return {};
}

Result<std::string> SessionImport::nearest_leader(std::string id) {
  while (!id.empty()) {
    if (const auto met = met_.find(id); met != met_.end() && met->second.leader != nullptr) {
      return *met->second.leader;
    }
    if (stored_ == nullptr) break;
    TRY_ASSIGN(const auto found, stored_->find(id));
    if (!found) break;
    TRY_ASSIGN(const StoredEntry entry, stored_->entry(found->ordinal));
    const Envelope envelope = read_envelope_prefix(entry.text);
    if (dialect_.leads(dialect::record_type(envelope.type.view()).kind)) return id;
    if (entry.place.parent == kNone) break;
    TRY_ASSIGN(id, stored_->id(entry.place.parent));
  }
  return std::string();
}

Result<void> SessionImport::add_recipe() {
  NewEntry entry;
  entry.payload = dialect::encode_recipe(recipe_);
  if (entry.payload == stored_recipe_) return {};
  entry.type = dialect::kRecipeType;
  entry.timestamp = timestamp_;
  add(std::move(entry));
  return {};
}

Result<void> SessionImport::add_mark(ImportMark mark, const dialect::ReadPosition& position) {
  mark.offset = position.offset;
  mark.records = result_.report.total;
  if (mark.offset != 0) {
    TRY_ASSIGN(mark.before, sum_before(source_->path, mark.offset, files_));
  }
  NewEntry entry;
  entry.type = kMarkType;
  entry.timestamp = timestamp_;
  entry.payload = encode_mark(mark);
  add(std::move(entry));
  return {};
}

Result<void> SessionImport::flush() {
  if (follows_ && !leaf_.empty() && leaf_ != head_) {
    TRY_ASSIGN(const bool is_there, is_node(leaf_));
    if (is_there) {
      NewEntry head;
      head.type = "head";
      head.timestamp = timestamp_;
      head.payload = "{\"entryId\":" + json::quoted(leaf_) + "}";
      pending_.push_back(std::move(head));
      head_ = leaf_;
    }
  }
  if (pending_.empty()) return {};
  AppendOptions options;
  options.durability = Durability::kRelaxed;
  TRY(store_.sessions().append_session_entries(result_.report.session_id, pending_, options));
  pending_.clear();
  pending_bytes_ = 0;
  return {};
}

}  // namespace quipu::exchange
