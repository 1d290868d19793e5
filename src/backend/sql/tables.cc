#include "backend/sql/tables.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "backend/backend.h"
#include "backend/sql/statements.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "model/message_view.h"
#include "model/session_info.h"

namespace quipu::sqlstore {
namespace {

using json::Kind;

// The columns of kChangeSession.
enum Column : std::uint8_t {
  kTitle,
  kModel,
  kDirectory,
  kSdkCwd,
  kSdkSession,
  kProject,
  kStatus,
  kArchived,
  kSummary,
  kSummaryUpdated,
  kSession,
};

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == Kind::kString ? json::decode_string(member->value)
                                                 : std::string();
}

// {"id":…,"payload":…} at the end of an array.
std::string with_element(std::string_view array, std::string_view id, std::string_view payload) {
  std::string out(array.substr(0, array.size() - 1));
  if (out.size() > 1) out += ',';
  json::Writer(out).begin_object().member("id", id).raw_member("payload", payload).end_object();
  return out + ']';
}

std::string without_element(std::string_view array, std::string_view id) {
  std::string out;
  json::Writer writer(out);
  writer.begin_array();
  json::ElementWalk walk(array);
  while (const auto element = walk.next()) {
    if (text_member(element->value, "id") != id) writer.raw(element->value);
  }
  writer.end_array();
  return out;
}

/// MessageColumns::parts.
class PartPlaces {
 public:
  explicit PartPlaces(std::string_view line) : line_(line) {}

  /// `value` is a stretch of the line.
  void add(std::string_view type, std::string_view value, bool is_bare) {
    json_ += json_.empty() ? "[\"" : ",\"";
    add_number(static_cast<std::size_t>(value.data() - line_.data()));
    add_number(value.size());
    json_ += is_bare ? '1' : '0';
    json_ += type;
    json_ += '"';
  }
  std::string json() && {
    if (!json_.empty()) json_ += ']';
    return std::move(json_);
  }

 private:
  void add_number(std::size_t number) {
    const std::string digits = std::to_string(number);
    json_.append(10 - std::min<std::size_t>(digits.size(), 10), '0').append(digits);
  }

  std::string_view line_;
  std::string json_;
};

}  // namespace

std::string_view Tables::keep(std::string text) {
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) {
    text.replace(at, 1, "\xef\xbf\xbd");
  }
  return kept_.emplace_back(std::move(text));
}

MessageColumns Tables::add(const Envelope& entry, std::string_view line, Ordinal ordinal,
                           ComputedState& computed) {
  if (session_id_.starts_with(kSystemPrefix)) {
    add_project(entry);
    return {};
  }
  if (ordinal == 0 && entry.type_code == EntryType::kSessionHeader) {
    add_header(entry);
    return {};
  }
  switch (entry.type_code) {
    case EntryType::kMessage:
      return add_message(entry, line, computed);
    case EntryType::kCompactionSummary:
      return add_summary(entry, line);
    case EntryType::kSessionInfo:
      add_info(entry);
      break;
    case EntryType::kModelChange:
      change_model(text_member(entry.payload, "model"), computed);
      break;
    case EntryType::kRedaction:
      others_.push_back(
          {.text = kHideParts,
           .params = {session_id_, keep(text_member(entry.payload, "targetEntryId"))}});
      break;
    default:
      change_runtime(entry, computed);
      break;
  }
  return {};
}

void Tables::add_header(const Envelope& entry) {
  const SessionHeader header = read_session_header(entry.payload);
  const std::string_view time = keep(std::string(entry.timestamp.view()));
  const std::string_view cwd = keep(header.cwd);
  const bool is_fork = !header.parent_session.empty();
  const std::string_view parent = keep(header.parent_session);
  others_.push_back(
      {.text = kMakeSession,
       .params = {session_id_, keep(header.title), time, cwd, cwd, keep(header.project_id),
                  keep(header.agent_id), is_fork ? sql::Param(parent) : sql::Param()}});
  if (!is_fork) return;
  others_.push_back(
      {.text = kMakeLineage, .params = {session_id_, parent, keep(header.parent_entry)}});
}

void Tables::add_info(const Envelope& entry) {
  const SessionInfo info = read_session_info(entry.payload);
  const auto change = [&](Column column, const std::optional<std::string>& text) {
    if (text) change_[column] = keep(*text);
  };
  change(kTitle, info.title);
  change(kProject, info.project_id);
  change(kStatus, info.status);
  change(kDirectory, info.working_directory);
  change(kSdkCwd, info.sdk_cwd);
  change(kSdkSession, info.sdk_session_id);
  if (info.archived) change_[kArchived] = std::int64_t{*info.archived};
}

void Tables::change_model(std::string model, ComputedState& computed) {
  if (computed.model == model) return;
  computed.model = model;
  change_[kModel] = keep(std::move(model));
}

MessageColumns Tables::add_message(const Envelope& entry, std::string_view line,
                                   ComputedState& computed) {
  std::vector<PartView> parts;
  const MessageView message = read_message(entry.payload, parts);
  if (!message.model.empty()) change_model(json::decode_string(message.model), computed);
  PartPlaces places(line);
  for (const PartView& part : parts) {
    const bool is_bare = part.whole.empty();  // the content was a string
    places.add(name(part.type), is_bare ? part.text : part.whole, is_bare);
  }
  return {.role = name(message.role),
          .usage = message.usage,
          .is_summary = false,
          .parts = keep(std::move(places).json())};
}

MessageColumns Tables::add_summary(const Envelope& entry, std::string_view line) {
  change_[kSummary] = keep(text_member(entry.payload, "summary"));
  change_[kSummaryUpdated] = keep(std::string(entry.timestamp.view()));
  PartPlaces places(line);
  const auto summary = json::find_member(entry.payload, "summary");
  if (summary && summary->kind == Kind::kString) places.add("text", summary->value, true);
  return {.role = name(Role::kUser),
          .usage = {},
          .is_summary = true,
          .parts = keep(std::move(places).json())};
}

void Tables::add_project(const Envelope& entry) {
  if (session_id_.substr(kSystemPrefix.size()) != "projects" || entry.type.view() != "project") {
    return;
  }
  const std::string_view time = keep(std::string(entry.timestamp.view()));
  others_.push_back({.text = kSetProject,
                     .params = {keep(text_member(entry.payload, "projectId")),
                                keep(text_member(entry.payload, "root")),
                                keep(text_member(entry.payload, "name")), time, time}});
}

// What runtime.h reads from the same facts.
void Tables::change_runtime(const Envelope& entry, ComputedState& computed) {
  const auto id_in = [&](std::string_view key) { return text_member(entry.payload, key); };
  const auto own_or = [&](std::string_view key) {
    std::string id = id_in(key);
    return id.empty() ? std::string(entry.id.view()) : id;
  };
  switch (entry.type_code) {
    case EntryType::kRunStart: {
      computed.run_id = entry.id.view();
      computed.is_processing = true;
      const auto generation = json::find_member(entry.payload, "generation");
      computed.generation =
          generation ? std::strtoll(std::string(generation->value).c_str(), nullptr, 10) : 0;
      break;
    }
    case EntryType::kRunEnd:
      if (id_in("runId") == computed.run_id) computed.is_processing = false;
      break;
    case EntryType::kQueueAdd:
      computed.queued = with_element(computed.queued, own_or("queueId"), entry.payload);
      break;
    case EntryType::kQueueRemove:
      computed.queued = without_element(computed.queued, id_in("queueId"));
      break;
    case EntryType::kPermissionRequest:
      computed.pending = with_element(computed.pending, own_or("requestId"), entry.payload);
      break;
    case EntryType::kPermissionResolve:
      computed.pending = without_element(computed.pending, id_in("requestId"));
      break;
    default:
      return;
  }
  runtime_changed_ = keep(std::string(entry.timestamp.view()));
}

void Tables::write(const ComputedState& computed, std::vector<sql::Command>& commands) {
  std::move(others_.begin(), others_.end(), std::back_inserter(commands));
  const auto is_change = [](const sql::Param& param) {
    return param.kind() != sql::Param::Kind::kNull;
  };
  if (std::any_of(change_.begin(), change_.end(), is_change)) {
    change_[kSession] = session_id_;
    commands.push_back({.text = kChangeSession, .params = std::move(change_)});
  }
  if (runtime_changed_.empty()) return;
  commands.push_back(
      {.text = kSetRuntime,
       .params = {session_id_, computed.run_id, std::int64_t{computed.is_processing},
                  computed.generation, computed.queued, computed.pending, runtime_changed_}});
}

}  // namespace quipu::sqlstore
