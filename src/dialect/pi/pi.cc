#include "dialect/pi/pi.h"

#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/line_reader.h"
#include "dialect/pi/harness.h"
#include "dialect/pi/messages.h"
#include "dialect/unix_time.h"

namespace quipu::dialect::pi {
namespace {

void describe(const Fields& fields, Record& record) {
  if (describe_transaction(fields, record)) return;
  record.kind = fields.text("type");
  if (record.kind.empty()) record.kind = "unknown";
  record.timestamp = fields.text("timestamp");
  if (record.kind == "session") {
    record.is_fact = true;
    return;
  }
  record.id = fields.text("id");
  if (record.id.empty()) return;  // versions 0 and 1: one after the other
  record.parent = fields.text("parentId");
  record.link = record.parent.empty() ? Record::Link::kRoot : Record::Link::kParent;
  if (record.kind == "leaf" && !fields.text("targetId").empty()) {
    record.leads = Record::Leads::kThere;
    record.leads_to = fields.text("targetId");
  }
}

// The file's name ends with the id of its session.
std::string session_in(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string stem = name.substr(0, name.rfind('.'));
  return stem.substr(stem.rfind('_') + 1);
}

}  // namespace

std::vector<std::string> Pi::places(const Machine& machine) const {
  const std::string own = machine.variable("PI_CODING_AGENT_SESSION_DIR");
  if (!own.empty()) return {own};
  return {machine.home + "/.pi/agent/sessions"};
}

bool Pi::recognises(const std::string& path, std::string_view head) const {
  if (!path.ends_with(".jsonl")) return false;
  // The first that can be read: anything but a header there is no session to pi either.
  const std::string_view first = next_object(head);
  return token_in(first, "type") == "\"session\"" ||
         (json::find_member(first, "v") && token_in(first, "kind") == "\"header\"");
}

Result<std::unique_ptr<Reader>> Pi::open(const Source& source, fs::HostFiles& files,
                                         const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  LineWindow lines(std::move(file), from);
  Outline outline;
  TRY(lines.peek(kHeadBytesMax, [&](const Fields& fields) {
    if (fields.text("type") != "session" && fields.text("kind") != "header") return true;
    outline.session = fields.text("id");
    outline.cwd = fields.text("cwd");
    outline.created = fields.text("timestamp");
    if (const json::Member* created = fields.find("createdAt")) {
      outline.created = time_of(created->value);
    }
    return false;
  }));
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, source.path + ": no session of pi");
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(lines), std::move(outline), describe));
}

bool Pi::leads(std::string_view kind) const { return kind != "session"; }

void Pi::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind == kTransaction) return lift_transaction(payload, into);
  if (kind == "message") return lift_message(object_in(payload, "message"), into);
  if (kind == "custom_message") return lift_user_content(payload, into);
  if (kind == "branch_summary") {
    const std::string_view summary = token_in(payload, "summary");
    if (says_something(summary)) into.branch_summary(summary);
  }
  if (kind == "compaction") {
    if (const std::string_view system = object_in(payload, "systemMessage"); !system.empty()) {
      lift_message(system, into);
    }
    into.summary(token_in(payload, "summary"));
  }
}

void Pi::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == kTransaction) return note_transaction(payload, into);
  if (kind == "message") {
    note_message(object_in(payload, "message"), text_in(payload, "id"), into);
  } else if (kind == "session_info") {
    into.title = text_in(payload, "name");
    into.title_is_given = !into.title->empty();
  } else if (kind == "model_change") {
    into.model = text_in(payload, "modelId");
    into.provider = text_in(payload, "provider");
  } else if (kind == "session") {
    // Opaque paths of the machine it was written on; the name says which session.
    for (const std::string_view key : {"parentSession", "branchedFrom"}) {
      const std::string parent = text_in(payload, key);
      if (parent.empty()) continue;
      into.kin.push_back(
          {.relation = Relation::kForkedFrom, .session = session_in(parent), .entry = {}});
      break;
    }
  } else if (const auto usage = usage_in(object_in(payload, "usage"))) {
    // Of a `usage` record, or of what a summary took.
    into.usage.push_back({.key = "pi:" + text_in(payload, "id"),
                          .usage = *usage,
                          .model = text_in(payload, "model"),
                          .provider = text_in(payload, "provider")});
  }
}

}  // namespace quipu::dialect::pi
