#include "view/session_row.h"

#include <charconv>

#include "base/json_scan.h"
#include "base/json_write.h"

namespace quipu::view {
namespace {

using json::Kind;
using json::Member;

struct TextField {
  std::string_view key;
  std::string SessionSummary::*field;
};
constexpr TextField kTexts[] = {
    {"agentId", &SessionSummary::agent_id},
    {"presetId", &SessionSummary::preset_id},
    {"cwd", &SessionSummary::cwd},
    {"parentSession", &SessionSummary::parent_session},
    {"created", &SessionSummary::created},
    {"model", &SessionSummary::model},
    {"provider", &SessionSummary::provider},
    {"head", &SessionSummary::head},
    {"tail", &SessionSummary::tail},
    {"source", &SessionSummary::source},
    {"spawnedBy", &SessionSummary::spawned_by},
    {"continuedIn", &SessionSummary::continued_in},
    {"importMark", &SessionSummary::import_mark},
};

struct RowTextField {
  std::string_view key;
  std::string SessionRow::*field;
};
constexpr RowTextField kRowTexts[] = {
    {"headerTitle", &SessionRow::header_title},
    {"headerProject", &SessionRow::header_project},
    {"firstWords", &SessionRow::first_words},
    {"givenTitle", &SessionRow::given_title},
    {"madeTitle", &SessionRow::made_title},
    {"foreignSdkSession", &SessionRow::foreign_sdk_session},
    {"noteMemory", &SessionRow::note_memory},
    {"runId", &SessionRow::run_id},
};

std::vector<std::string> read_texts(std::string_view array) {
  std::vector<std::string> texts;
  json::ElementWalk walk(array);
  while (const auto text = walk.next()) texts.push_back(json::decode_string(text->value));
  return texts;
}

void write_texts(json::Writer& out, std::string_view key, const std::vector<std::string>& texts) {
  out.key(key).begin_array();
  for (const std::string& text : texts) out.value(text);
  out.end_array();
}

void write_counts(json::Writer& out, const SessionCounts& counts) {
  out.begin_object()
      .member("messages", counts.messages)
      .member("tokensIn", counts.tokens_in)
      .member("tokensOut", counts.tokens_out)
      .member("cacheRead", counts.cache_read)
      .member("cacheWrite", counts.cache_write)
      .member("costNanoUsd", counts.cost_nano_usd)
      .end_object();
}

template <class T>
void read_number(const Member& member, T& into) {
  if (member.kind != Kind::kNumber) return;
  std::from_chars(member.value.data(), member.value.data() + member.value.size(), into);
}

SessionCounts read_counts(std::string_view object) {
  SessionCounts counts;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    if (member->key == "messages") read_number(*member, counts.messages);
    if (member->key == "tokensIn") read_number(*member, counts.tokens_in);
    if (member->key == "tokensOut") read_number(*member, counts.tokens_out);
    if (member->key == "cacheRead") read_number(*member, counts.cache_read);
    if (member->key == "cacheWrite") read_number(*member, counts.cache_write);
    if (member->key == "costNanoUsd") read_number(*member, counts.cost_nano_usd);
  }
  return counts;
}

std::vector<CountedRequest> read_requests(std::string_view array) {
  std::vector<CountedRequest> requests;
  json::ElementWalk elements(array);
  while (const auto element = elements.next()) {
    CountedRequest request;
    json::MemberWalk walk(element->value);
    while (const auto member = walk.next()) {
      if (member->key == "id") request.id = json::decode_string(member->value);
      if (member->key == "counted") request.counted = read_counts(member->value);
      if (member->key == "beforeReset") request.before_reset = member->value == "true";
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

void read_member(const Member& member, SessionRow& row) {
  SessionSummary& summary = row.summary;
  if (member.kind == Kind::kString) {
    for (const TextField& text : kTexts) {
      if (member.key == text.key) summary.*text.field = json::decode_string(member.value);
    }
    for (const RowTextField& text : kRowTexts) {
      if (member.key == text.key) row.*text.field = json::decode_string(member.value);
    }
    return;
  }
  if (member.key == "newestMs") read_number(member, row.newest_ms.emplace());
  if (member.key == "logBytes") read_number(member, summary.log_bytes);
  if (member.key == "schemaVersion") read_number(member, summary.schema_version);
  if (member.key == "damaged") read_number(member, summary.damaged);
  if (member.key == "counts") summary.counts = read_counts(member.value);
  if (member.key == "totals") summary.totals = read_counts(member.value);
  if (member.key == "info") row.info = read_session_info(member.value);
  if (member.key == "foreignArchived") row.foreign_archived = member.value == "true";
  if (member.key == "foreignTags") row.foreign_tags = read_texts(member.value);
  if (member.key == "processing") summary.processing = member.value == "true";
  if (member.key == "generation") read_number(member, summary.generation);
  if (member.key == "queued") row.queued = read_texts(member.value);
  if (member.key == "pending") row.pending = read_texts(member.value);
  if (member.key == "requests") row.requests = read_requests(member.value);
}

}  // namespace

void SessionRow::finish() {
  const auto said = [](const std::optional<std::string>& text) { return text.value_or(""); };
  const auto either = [](const std::optional<std::string>& text, const std::string& otherwise) {
    return text && !text->empty() ? *text : otherwise;
  };
  summary.session_id = session_id;
  summary.title = info.title.value_or("");
  for (const std::string* title : {&header_title, &given_title, &made_title, &first_words}) {
    if (summary.title.empty()) summary.title = *title;
  }
  summary.project_id = either(info.project_id, header_project);
  summary.status = either(info.status, "active");
  summary.working_directory = said(info.working_directory);
  summary.sdk_cwd = said(info.sdk_cwd);
  summary.sdk_session_id = info.sdk_session_id.value_or(foreign_sdk_session);
  summary.archived = info.archived.value_or(foreign_archived.value_or(false));
  summary.tags = info.tags.value_or(foreign_tags);
  summary.queued = static_cast<std::uint32_t>(queued.size());
  summary.pending = static_cast<std::uint32_t>(pending.size());
  summary.entries = cursor.entries;
  summary.modified_ms = cursor.modified_ms;
  summary.last_active_ms = newest_ms.value_or(cursor.modified_ms);
}

std::string encode_row(const SessionRow& row) {
  const SessionSummary& summary = row.summary;
  std::string record;
  json::Writer out(record);
  out.begin_object();
  for (const TextField& text : kTexts) out.text_member(text.key, summary.*text.field);
  for (const RowTextField& text : kRowTexts) out.text_member(text.key, row.*text.field);
  if (row.newest_ms) out.member("newestMs", *row.newest_ms);
  if (row.foreign_archived) out.member("foreignArchived", *row.foreign_archived);
  out.member("logBytes", summary.log_bytes)
      .member("schemaVersion", summary.schema_version)
      .member("damaged", summary.damaged)
      .raw_member("info", session_info_payload(row.info));
  out.member("processing", summary.processing).member("generation", summary.generation);
  write_texts(out, "foreignTags", row.foreign_tags);
  write_texts(out, "queued", row.queued);
  write_texts(out, "pending", row.pending);
  write_counts(out.key("counts"), summary.counts);
  write_counts(out.key("totals"), summary.totals);
  out.key("requests").begin_array();
  for (const CountedRequest& request : row.requests) {
    out.begin_object().member("id", request.id).member("beforeReset", request.before_reset);
    write_counts(out.key("counted"), request.counted);
    out.end_object();
  }
  out.end_array().end_object();
  return record;
}

std::optional<SessionRow> decode_row(std::string session_id, const LogCursor& cursor,
                                     std::string_view record) {
  if (!json::is_object(record)) return std::nullopt;
  SessionRow row;
  row.session_id = std::move(session_id);
  row.cursor = cursor;
  json::MemberWalk walk(record);
  while (const auto member = walk.next()) read_member(*member, row);
  row.finish();
  return row;
}

}  // namespace quipu::view
