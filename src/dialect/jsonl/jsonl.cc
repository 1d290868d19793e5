#include "dialect/jsonl/jsonl.h"

#include "base/sha256.h"
#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/jsonl/flat_line.h"
#include "dialect/line_reader.h"
#include "dialect/unix_time.h"
#include "quipu/entry.h"

namespace quipu::dialect::jsonl {
namespace {

// Of the first line; more of it does not tell files apart any better.
constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

// `head` moves where the session goes on, so it must lie in the tree.
bool is_fact_kind(std::string_view kind) {
  return kind == "session_header" || kind == "metadata" || (kind != "head" && is_fact_type(kind));
}

void describe(const Fields& fields, Record& record) {
  record.kind = fields.text("type");
  if (record.kind.empty()) record.kind = "unknown";
  record.is_fact = record.kind == "unknown" || is_fact_kind(record.kind);
  record.id = fields.text("id");
  if (const json::Member* time = fields.find("timestamp")) {
    record.timestamp =
        time->kind == json::Kind::kString ? json::decode_string(time->value) : time_of(time->value);
  }
  if (const json::Member* parent = fields.find("parentId")) {
    record.parent = fields.text("parentId");
    const bool is_root = parent->kind == json::Kind::kNull;
    record.link = is_root                 ? Record::Link::kRoot
                  : record.parent.empty() ? Record::Link::kPrevious
                                          : Record::Link::kParent;
  }
  if (record.kind == "head") {
    record.leads = Record::Leads::kThere;
    record.leads_to = text_in(fields.object("payload"), "entryId");
  }
}

// A long line is cut: what it begins with must do.
bool is_entry(std::string_view line) {
  return json::value_onward(line, "payload").starts_with('{') &&
         !token_in(line, "timestamp").empty();
}

bool is_flat(std::string_view line) {
  const std::string type = text_in(line, "type");
  if (type == "metadata") return json::find_member(line, "timestamp").has_value();
  if (!is_flat_type(type)) return false;
  for (const std::string_view key : {"content", "params", "output"}) {
    if (!json::value_onward(line, key).empty()) return true;
  }
  return false;
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// Files of the same name in other directories are other sessions; a file that has grown or
// moved is the same.
Result<std::string> made_session(const std::string& path, fs::HostFiles& files) {
  TRY_ASSIGN(const std::string head, files.read(path, kHeadBytes));
  return stem_of(path) + "." + sha256_hex(head.substr(0, head.find('\n'))).substr(0, 8);
}

}  // namespace

std::vector<std::string> Jsonl::places(const Machine&) const { return {}; }

bool Jsonl::recognises(const std::string& path, std::string_view head) const {
  if (!path.ends_with(".jsonl")) return false;
  const std::string_view line = next_object(head);
  if (token_in(line, "id").empty() || token_in(line, "type").empty()) return false;
  // A log of a store: it is there already.
  if (json::find_member(line, "_tx")) return false;
  return is_entry(line) || is_flat(line);
}

Result<std::unique_ptr<Reader>> Jsonl::open(const Source& source, fs::HostFiles& files,
                                            const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  LineWindow lines(std::move(file), from);
  Outline outline;
  bool is_any = false;
  TRY(lines.peek(kHeadBytesMax, [&](const Fields& fields) {
    is_any = true;
    Record first;
    describe(fields, first);
    outline.created = first.timestamp;
    if (first.kind != "session_header") return false;
    const std::string_view header = fields.object("payload");
    outline.session = text_in(header, "sessionId");
    outline.cwd = text_in(header, "cwd");
    return false;
  }));
  if (!is_any) return Error(Code::kInvalidArgument, source.path + ": no JSON lines");
  if (outline.session.empty()) {
    TRY_ASSIGN(outline.session, made_session(source.path, files));
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(lines), std::move(outline), describe));
}

bool Jsonl::leads(std::string_view kind) const { return kind != "head"; }

}  // namespace quipu::dialect::jsonl
