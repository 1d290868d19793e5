#include "dialect/codex/codex.h"

#include <algorithm>

#include "base/try.h"
#include "dialect/codex/conversation.h"
#include "dialect/codex/lift.h"
#include "dialect/codex/line.h"
#include "dialect/codex/notes.h"
#include "dialect/codex/write.h"
#include "dialect/document_reader.h"
#include "dialect/json_members.h"
#include "dialect/shared_index.h"
#include "dialect/side_files.h"
#include "fs/zstd_file.h"

namespace quipu::dialect::codex {
namespace {

constexpr std::size_t kKindBytes = 64;
constexpr std::size_t kUuidBytes = 36;
constexpr std::string_view kLines = ".jsonl";
constexpr std::string_view kCompressed = ".zst";

// What the file is called, without its endings.
std::string_view stem_of(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(kCompressed)) name.remove_suffix(kCompressed.size());
  if (name.ends_with(kLines)) name.remove_suffix(kLines.size());
  return name;
}

bool is_rollout(std::string_view stem) { return stem.starts_with("rollout-"); }

// What a rollout's name says of its id: the thread's, or the segment's. Empty: nothing.
struct NamedIds {
  std::string_view thread;
  std::string_view segment;
};

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidBytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool is_hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f') ||
                        (text[i] >= 'A' && text[i] <= 'F');
    if (is_dash ? text[i] != '-' : !is_hex) return false;
  }
  return true;
}

NamedIds ids_of(std::string_view stem) {
  NamedIds ids;
  if (!is_rollout(stem) || stem.size() < kUuidBytes) return ids;
  std::string_view last = stem.substr(stem.size() - kUuidBytes);
  if (!is_uuid(last)) return ids;
  std::string_view before = stem.substr(0, stem.size() - kUuidBytes);
  ids.thread = last;
  if (!before.ends_with('_') || before.size() <= kUuidBytes) return ids;
  before.remove_suffix(1);
  if (!is_uuid(before.substr(before.size() - kUuidBytes))) return ids;
  ids.thread = before.substr(before.size() - kUuidBytes);
  ids.segment = last;
  return ids;
}

bool can_be_kind(std::string_view text) {
  return !text.empty() && text.size() <= kKindBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

// The header of a file whose lines are bare has no type.
bool is_bare_header(const Fields& fields) {
  return fields.find("type") == nullptr && fields.find("record_type") == nullptr &&
         !fields.text("id").empty();
}

void describe(const Fields& fields, Record& record) {
  record.timestamp = fields.text("timestamp");
  record.kind = fields.text("type");
  const bool is_bare = fields.find("payload") == nullptr;
  if (is_bare && is_bare_header(fields)) {
    record.kind = kMeta;
  } else if (is_bare && fields.find("record_type") != nullptr) {
    record.kind = "state";
  } else if (is_bare && !record.kind.empty()) {
    record.kind = kItem;
  }
  if (!can_be_kind(record.kind)) record.kind = "raw";
}

void read_header(std::string_view meta, const std::string& written, Outline& outline) {
  outline.session = text_in(meta, "id");
  outline.cwd = text_in(meta, "cwd");
  outline.created = text_in(meta, "timestamp");
  if (outline.created.empty()) outline.created = written;
  const std::string_view spawn =
      object_in(object_in(object_in(meta, "source"), "subagent"), "thread_spawn");
  outline.spawned_by = text_in(spawn, "parent_thread_id");
  if (outline.spawned_by.empty()) outline.spawned_by = text_in(meta, "parent_thread_id");
  const std::string_view base = object_in(meta, "history_base");
  const auto end = number_in(base, "end_ordinal_exclusive");
  if (!end) return;
  outline.base_session = text_in(base, "thread_id");
  outline.in_base = [end = *end](std::string_view record) {
    const auto ordinal = number_in(record, "ordinal");
    return ordinal && *ordinal < end;
  };
}

void describe_item(const Fields& fields, Record& record) {
  record.kind = kItem;
  record.timestamp = fields.text("timestamp");
}

// {"session": {"timestamp": …, "id": …}, "items": [ … ]}
Result<std::unique_ptr<Reader>> open_document(const std::string& path, fs::HostFile& file) {
  TRY_ASSIGN(std::string text, read_document(file));
  Outline outline;
  std::vector<json::Member> members;
  if (json::scan_object(text, members).ok()) {
    read_header(Fields(members).object("session"), {}, outline);
  }
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, path + ": no session of Codex");
  }
  TRY_ASSIGN(Document document, Document::parse(std::move(text), "items"));
  return std::unique_ptr<Reader>(
      std::make_unique<DocumentReader>(std::move(document), std::move(outline), describe_item));
}

Result<std::unique_ptr<Reader>> open_rollout(const Source& source, fs::HostFiles& files,
                                             const ReadPosition& from) {
  TRY_ASSIGN(auto file, fs::open_plain(files, source.path));
  if (source.path.ends_with(".json")) return open_document(source.path, *file);
  Outline outline;
  LineWindow lines(std::move(file), from);
  TRY(lines.peek(kHeadBytesMax, [&](const Fields& fields) {
    if (fields.text("type") == kMeta) {
      read_header(fields.object("payload"), fields.text("timestamp"), outline);
    } else if (is_bare_header(fields)) {
      outline.session = fields.text("id");
      outline.created = fields.text("timestamp");
    } else {
      return true;
    }
    return false;
  }));
  const NamedIds named = ids_of(stem_of(source.path));
  if (!named.segment.empty()) {
    outline.session = named.segment;
  } else if (outline.session.empty()) {
    outline.session = named.thread;
  }
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, source.path + ": no session of Codex");
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(lines), std::move(outline), describe));
}

// Names that were given to threads: {"id", "thread_name", "updated_at"} a line, for each
// thread the last counts.
std::optional<IndexEntries> split_index(std::string_view text) {
  IndexEntries entries;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (json::validate(line).ok()) entries.insert_or_assign(text_in(line, "id"), line);
  }
  return entries;
}

// Above the places that rollouts lie in; beside one that lies elsewhere.
std::string index_of(const std::string& path) {
  for (const std::string_view place : {"/sessions/", "/archived_sessions/"}) {
    const std::size_t at = path.rfind(place);
    if (at != std::string::npos) return path.substr(0, at + 1) + std::string(kIndexName);
  }
  return path.substr(0, path.rfind('/') + 1) + std::string(kIndexName);
}

}  // namespace

std::vector<std::string> Codex::places(const Machine& machine) const {
  std::string home = machine.variable("CODEX_HOME");
  if (home.empty()) home = machine.home + "/.codex";
  return {home + "/sessions", home + "/archived_sessions"};
}

bool Codex::recognises(const std::string& path, std::string_view head) const {
  if (fs::is_compressed(path)) return path.ends_with(".jsonl.zst") && is_rollout(stem_of(path));
  if (path.ends_with(".json")) {
    return is_rollout(stem_of(path)) && !object_in(head, "session").empty();
  }
  if (!path.ends_with(kLines)) return false;
  // Lines that it cannot read or does not know are passed over: the header may come later.
  std::string_view line = next_object(head);
  if (is_rollout(stem_of(path))) return !line.empty();
  while (!line.empty() && text_in(line, "type") != kMeta) line = next_object(head);
  return !line.empty();
}

Result<std::vector<Source>> Codex::sources(const std::string& path, fs::HostFiles& files) const {
  if (fs::is_compressed(path) && files.exists(path.substr(0, path.size() - kCompressed.size()))) {
    return std::vector<Source>();
  }
  TRY_ASSIGN(auto sources, Dialect::sources(path, files));
  const std::string thread(ids_of(stem_of(path)).thread);
  for (Source& source : sources) add_index(source, index_of(path), thread, files, split_index);
  return sources;
}

Result<std::unique_ptr<Reader>> Codex::open(const Source& source, fs::HostFiles& files,
                                            const ReadPosition& from) const {
  TRY_ASSIGN(auto first, open_rollout(source, files, from));
  if (source.index.empty()) return first;
  const auto kind_of = [](std::string_view) { return std::string(kName); };
  const auto part_of = [&source](std::string_view) { return std::optional(source.state + "\n"); };
  return std::unique_ptr<Reader>(
      std::make_unique<SideFiles>(std::move(first), source, files, kind_of, part_of));
}

bool Codex::leads(std::string_view) const { return true; }

void Codex::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  lift_record(kind, payload, into);
}

void Codex::note(std::string_view kind, std::string_view payload, Note& into) const {
  note_record(kind, payload, into);
}

std::vector<Pick> Codex::conversation(std::span<const StoredRecord> records,
                                      std::uint32_t at) const {
  return conversation_at(records, at);
}

// Lines with ordinals are counted by an index of Codex's.
bool Codex::goes_on_from(std::string_view record) const {
  return !object_in(record, "payload").empty() && !number_in(record, "ordinal");
}

Result<Written> Codex::write(const Transcript& transcript) const {
  return write_rollout(transcript);
}

// A name that the thread got there is newer than ours.
Result<Joined> Codex::join(std::string_view index, std::string_view part) const {
  Joined joined{.text = std::string(index)};
  if (split_index(index)->contains(text_in(part, "id"))) return joined;
  if (!index.empty() && !index.ends_with('\n')) joined.text += '\n';
  joined.text += part;
  return joined;
}

}  // namespace quipu::dialect::codex
