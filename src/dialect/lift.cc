#include "dialect/lift.h"

#include "base/json_scan.h"
#include "base/json_write.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/jsonl/flat_line.h"

namespace quipu {
namespace dialect {

bool carries_message(std::string_view type) {
  return type == "message" || jsonl::is_flat_type(type);
}

MessageView lift(std::string_view type, std::string_view payload, std::vector<PartView>& parts) {
  if (type == "message") return read_message(payload, parts);
  return jsonl::read_flat_line(type, payload, parts);
}

}  // namespace dialect

namespace {

std::string text_of(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

// The members of an object that `Part` and `Message` have no place for.
template <class IsKnown>
std::string extra_of(std::string_view object, IsKnown is_known) {
  std::string extra;
  json::Writer out(extra);
  bool any = false;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    if (is_known(*member)) continue;
    if (!any) out.begin_object();
    any = true;
    out.raw_member(member->key, member->value);
  }
  if (any) out.end_object();
  return extra;
}

bool lies_in(std::string_view view, std::initializer_list<std::string_view> taken) {
  for (const std::string_view value : taken) {
    if (!value.empty() && value.data() == view.data()) return true;
  }
  return false;
}

Part owned(const PartView& view) {
  Part part;
  part.type = view.type;
  if (view.type == PartType::kOther) {
    part.extra = view.whole;
    return part;
  }
  part.text = text_of(view.text);
  part.signature = text_of(view.signature);
  part.redacted = view.redacted;
  part.tool_use_id = text_of(view.tool_use_id);
  part.name = text_of(view.name);
  part.input = view.input;
  part.raw_input = text_of(view.raw_input);
  part.is_error = view.is_error;
  part.details = view.details;
  part.media_type = text_of(view.media_type);
  part.data = text_of(view.data);
  part.sha256 = text_of(view.sha256);
  part.path = text_of(view.path);
  std::vector<PartView> content;
  read_content(view.content, content);
  for (const PartView& inner : content) part.content.push_back(owned(inner));
  part.extra = extra_of(view.whole, [&](const json::Member& member) {
    return member.key == "type" || member.key == "redacted" || member.key == "isError" ||
           lies_in(member.value, {view.text, view.signature, view.tool_use_id, view.name,
                                  view.input, view.raw_input, view.content, view.details,
                                  view.media_type, view.data, view.sha256, view.path});
  });
  return part;
}

}  // namespace

namespace dialect {

Message owned(const MessageView& view, std::span<const PartView> parts) {
  Message message;
  message.role = view.role;
  for (const PartView& part : parts) message.parts.push_back(quipu::owned(part));
  message.model = text_of(view.model);
  message.provider = text_of(view.provider);
  message.request_id = text_of(view.request_id);
  message.stop_reason = text_of(view.stop_reason);
  if (!view.usage.empty()) {
    message.usage = read_usage(view.usage);
    message.usage->extra = extra_of(view.usage, [](const json::Member& member) {
      return read_usage("{\"" + std::string(member.key) + "\":" + std::string(member.value) +
                        "}") != Usage{};
    });
  }
  return message;
}

}  // namespace dialect

namespace {

// Another agent's record. Of several messages the parts follow each other.
Result<Message> lift_foreign(const dialect::RecordType& type, std::string_view payload) {
  std::deque<std::string> kept;
  dialect::Lifted lifted;
  type.dialect->lift(type.kind, dialect::understood(payload, kept), lifted);
  if (lifted.messages().empty()) return Error(Code::kNotFound, "the record carries no message");
  return dialect::owned(lifted.messages().front().view, lifted.all_parts());
}

}  // namespace

Result<Message> lift_message(std::string_view type, std::string_view payload) {
  if (const auto record = dialect::record_type(type); record.dialect != nullptr) {
    return lift_foreign(record, payload);
  }
  if (!dialect::carries_message(type)) {
    return Error(Code::kNotFound, "entries of type " + std::string(type) + " carry no message");
  }
  std::vector<PartView> parts;
  const MessageView view = dialect::lift(type, payload, parts);
  Message message = dialect::owned(view, parts);
  // A flat line is lifted, never written back: all of it is kept by its entry.
  if (type == "message") {
    message.extra = extra_of(payload, [&](const json::Member& member) {
      return member.key == "role" || member.key == "content" ||
             lies_in(member.value,
                     {view.model, view.provider, view.request_id, view.stop_reason, view.usage});
    });
  }
  return message;
}

}  // namespace quipu
