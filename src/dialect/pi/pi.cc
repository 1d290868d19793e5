#include "dialect/pi/pi.h"

#include "base/try.h"
#include "dialect/line_reader.h"

namespace quipu::dialect::pi {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;

void describe(const Fields& fields, Record& record) {
  record.kind = fields.text("type");
  if (record.kind.empty()) record.kind = "raw";
  record.timestamp = fields.text("timestamp");
  if (record.kind == "session") {
    record.is_fact = true;
    return;
  }
  record.id = fields.text("id");
  if (record.id.empty()) return;  // versions 0 and 1: one after the other
  record.parent = fields.text("parentId");
  record.link = record.parent.empty() ? Record::Link::kRoot : Record::Link::kParent;
}

}  // namespace

std::vector<std::string> Pi::places(const Machine& machine) const {
  const std::string own = machine.variable("PI_CODING_AGENT_SESSION_DIR");
  if (!own.empty()) return {own};
  return {machine.home + "/.pi/agent/sessions"};
}

bool Pi::recognises(const std::string& path, std::string_view head) const {
  if (!path.ends_with(".jsonl")) return false;
  const auto type = json::find_member(head.substr(0, head.find('\n')), "type");
  return type && type->value == "\"session\"";
}

Result<std::unique_ptr<Reader>> Pi::open(const Source& source, fs::HostFiles& files,
                                         const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  Outline outline;
  TRY(peek_lines(*file, kHeadBytes, [&](const Fields& fields) {
    if (fields.text("type") != "session") return true;
    outline.session = fields.text("id");
    outline.cwd = fields.text("cwd");
    outline.created = fields.text("timestamp");
    return false;
  }));
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, source.path + ": no session of pi");
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(file), std::move(outline), from, describe));
}

bool Pi::leads(std::string_view kind) const { return kind != "session"; }

void Pi::lift(std::string_view, std::string_view, Lifted&) const {}

void Pi::note(std::string_view, std::string_view, Note&) const {}

Result<Written> Pi::write(const Transcript&) const {
  return Error(Code::kUnsupported, "pi: cannot be written yet");
}

}  // namespace quipu::dialect::pi
