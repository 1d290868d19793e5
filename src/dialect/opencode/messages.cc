#include "dialect/opencode/messages.h"

#include "base/json_write.h"
#include "dialect/json_members.h"

namespace quipu::dialect::opencode {
namespace {

using json::Kind;

// Of the provider whose reasoning it is; it knows its own.
std::string_view signature_of(std::string_view metadata) {
  for (const auto& [provider, member] : {std::pair("anthropic", "signature"),
                                         {"anthropic", "redactedData"},
                                         {"openai", "reasoningEncryptedContent"},
                                         {"google", "thoughtSignature"}}) {
    const std::string_view token = token_in(object_in(metadata, provider), member);
    if (!token.empty()) return token;
  }
  return {};
}

void lift_file(std::string_view file, Lifted& into) {
  const std::string mime = text_in(file, "mime");
  // Their content is in a text part beside them.
  if (mime == "text/plain" || mime == "application/x-directory") return;
  PartView part;
  part.type = PartType::kAttachment;
  part.name = token_in(file, "filename");
  part.media_type = token_in(file, "mime");
  const std::string url = text_in(file, "url");
  if (const auto data = read_data_url(url)) {
    part.data = into.token(data->data);
    if (part.media_type.empty()) part.media_type = into.token(data->media_type);
  } else {
    const bool is_file = url.starts_with("file://");
    part.path = is_file ? into.token(std::string_view(url).substr(7)) : token_in(file, "url");
  }
  into.part(part);
}

// What a tool said, with the files that came with it.
std::string_view output_of(std::string_view state, Lifted& into) {
  const std::string_view output = token_in(state, "output");
  std::string files;
  json::Writer out(files);
  json::ElementWalk walk(array_in(state, "attachments"));
  while (const auto file = walk.next()) {
    const auto data = read_data_url(text_in(file->value, "url"));
    if (!data) continue;
    out.begin_object().member("type", "attachment").member("mediaType", data->media_type);
    out.text_member("name", text_in(file->value, "filename"));
    out.member("data", data->data).end_object();
  }
  if (files.empty()) return output.empty() ? std::string_view("\"\"") : output;
  std::string content = "[";
  if (!output.empty()) content += "{\"type\":\"text\",\"text\":" + std::string(output) + "},";
  return into.keep(content + files + "]");
}

PartView result_of(std::string_view tool, Lifted& into) {
  const std::string_view state = object_in(tool, "state");
  const std::string_view id = token_in(tool, "callID");
  const std::string_view metadata = object_in(state, "metadata");
  const std::string status = text_in(state, "status");
  PartView result;
  if (status == "completed") {
    const bool is_pruned = json::find_member(object_in(state, "time"), "compacted").has_value();
    result = result_part(
        id, is_pruned ? into.token("[Old tool result content cleared]") : output_of(state, into),
        false);
  } else if (status == "error") {
    const std::string_view partial = token_in(metadata, "output");
    const bool was_heard = is_true_in(metadata, "interrupted") && !partial.empty();
    std::string_view error = token_in(state, "error");
    if (error.empty()) error = "\"\"";
    result = result_part(id, was_heard ? partial : error, !was_heard);
  } else {
    result = result_part(id, into.token("[Tool execution was interrupted]"), true);
  }
  result.name = token_in(tool, "tool");
  result.details = metadata;
  return result;
}

PartView call_of(std::string_view tool) {
  const std::string_view state = object_in(tool, "state");
  std::string_view input = object_in(state, "input");
  const std::string_view raw = token_in(state, "raw");
  if (input.size() <= 2 && raw.size() > 2) input = raw;
  return call_part(token_in(tool, "callID"), token_in(tool, "tool"), input.empty() ? "{}" : input);
}

// An answer may have several steps: what came of a step's calls stands behind it.
class Answer {
 public:
  Answer(std::string_view info, Lifted& into) : info_(info), into_(into) { begin(); }

  void take(std::string_view part) {
    const std::string type = text_in(part, "type");
    if (type == "step-start") end_step();
    if (type == "text" && !is_true_in(part, "ignored")) add(text_part(text(part)));
    if (type == "reasoning") {
      const std::string_view metadata = object_in(part, "metadata");
      PartView thinking = thinking_part(text(part), signature_of(metadata));
      thinking.redacted = !token_in(object_in(metadata, "anthropic"), "redactedData").empty();
      add(thinking);
    }
    if (type == "tool") {
      add(call_of(part));
      results_.push_back(result_of(part, into_));
    }
  }

  void end_step() {
    if (results_.empty()) return;
    into_.begin(Role::kTool);
    for (const PartView& result : results_) into_.part(result);
    results_.clear();
    is_ended_ = true;
  }

 private:
  MessageView& begin() {
    MessageView& view = into_.begin(Role::kAssistant);
    view.model = token_in(info_, "modelID");
    view.provider = token_in(info_, "providerID");
    view.request_id = token_in(info_, "id");
    view.stop_reason = token_in(info_, "finish");
    // Of all steps, said once.
    if (!is_ended_) view.usage = usage_object(info_, into_);
    return view;
  }

  void add(const PartView& part) {
    if (is_ended_) begin();
    is_ended_ = false;
    into_.part(part);
  }

  static std::string_view text(std::string_view part) {
    const std::string_view token = token_in(part, "text");
    return token.empty() ? std::string_view("\"\"") : token;
  }

  std::string_view info_;
  Lifted& into_;
  std::vector<PartView> results_;
  bool is_ended_ = false;  // the step whose message is the last
};

void lift_prompt(std::string_view part, Lifted& into) {
  const std::string type = text_in(part, "type");
  const std::string_view text = token_in(part, "text");
  if (type == "text" && !text.empty() && !is_true_in(part, "ignored")) into.part(text_part(text));
  if (type == "file") lift_file(part, into);
  if (type == "compaction") into.part(text_part(into.token("What did we do so far?")));
  if (type == "subtask") {
    into.part(text_part(into.token("The following tool was executed by the user")));
  }
}

}  // namespace

void lift_element(std::string_view info, std::string_view parts, Lifted& into) {
  json::ElementWalk walk(parts);
  if (text_in(info, "role") == "assistant") {
    Answer answer(info, into);
    while (const auto part = walk.next()) answer.take(part->value);
    return answer.end_step();
  }
  into.begin(Role::kUser);
  while (const auto part = walk.next()) lift_prompt(part->value, into);
}

bool is_sent(std::string_view info, std::string_view parts) {
  bool has_output = false;
  bool has_any = false;
  json::ElementWalk walk(parts);
  while (const auto part = walk.next()) {
    const std::string type = text_in(part->value, "type");
    has_any = has_any || type != "step-start";
    has_output = has_output || (type != "step-start" && type != "reasoning");
  }
  const std::string_view error = object_in(info, "error");
  if (error.empty()) return has_any;
  return text_in(error, "name") == "MessageAbortedError" && has_output;
}

std::optional<UsageNote> usage_of(std::string_view info) {
  const std::string_view tokens = object_in(info, "tokens");
  if (tokens.empty()) return std::nullopt;
  UsageNote note;
  note.provider = text_in(info, "providerID");
  note.model = text_in(info, "modelID");
  if (note.model.empty()) {  // event-sourced
    note.provider = text_in(object_in(info, "model"), "providerID");
    note.model = text_in(object_in(info, "model"), "id");
  }
  const std::string_view cache = object_in(tokens, "cache");
  const std::uint64_t input = number_in(tokens, "input").value_or(0);
  const std::uint64_t output = number_in(tokens, "output").value_or(0);
  const std::uint64_t reasoning = number_in(tokens, "reasoning").value_or(0);
  const std::uint64_t read = number_in(cache, "read").value_or(0);
  const std::uint64_t write = number_in(cache, "write").value_or(0);
  // Newer versions count what was thought beside the output and not as a part of it.
  const bool is_beside = number_in(tokens, "total") == input + output + reasoning + read + write;
  note.usage.tokens_in = input;
  note.usage.tokens_out = output + (is_beside ? reasoning : 0);
  note.usage.reasoning = reasoning;
  note.usage.cache_read = read;
  note.usage.cache_write = write;
  note.usage.cost_usd = real_in(info, "cost");
  if (input + output + reasoning + read + write == 0) return std::nullopt;
  if (const auto created = number_in(object_in(info, "time"), "created")) {
    note.key = "opencode:" + note.provider + "/" + note.model + ":" + std::to_string(*created);
  }
  return note;
}

std::string_view usage_object(std::string_view info, Lifted& into) {
  const auto note = usage_of(info);
  if (!note) return {};
  std::string json;
  json::Writer out(json);
  out.begin_object()
      .member("tokensIn", *note->usage.tokens_in)
      .member("tokensOut", *note->usage.tokens_out)
      .member("cacheRead", *note->usage.cache_read)
      .member("cacheWrite", *note->usage.cache_write)
      .member("reasoning", *note->usage.reasoning);
  if (const auto cost = json::find_member(info, "cost"); cost && cost->kind == Kind::kNumber) {
    out.raw_member("costUsd", cost->value);
  }
  out.end_object();
  return into.keep(std::move(json));
}

std::optional<DataUrl> read_data_url(std::string_view url) {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kBase64 = ";base64";
  const std::size_t comma = url.find(',');
  if (!url.starts_with(kScheme) || comma == std::string_view::npos) return std::nullopt;
  std::string_view type = url.substr(kScheme.size(), comma - kScheme.size());
  if (!type.ends_with(kBase64)) return std::nullopt;
  type.remove_suffix(kBase64.size());
  return DataUrl{.media_type = std::string(type.substr(0, type.find(';'))),
                 .data = std::string(url.substr(comma + 1))};
}

}  // namespace quipu::dialect::opencode
