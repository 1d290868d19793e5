// A transcript as a document that `opencode import` takes.
#include <map>

#include "base/json_write.h"
#include "base/time_text.h"
#include "dialect/made_ids.h"
#include "dialect/opencode/opencode.h"

namespace quipu::dialect::opencode {
namespace {

constexpr std::string_view kBuild = "build";  // the agent that it begins with
constexpr std::string_view kUnknown = "unknown";

std::string or_unknown(const std::string& name) {
  return name.empty() ? std::string(kUnknown) : name;
}

// Ids begin with a time, so that they sort as they were made.
class SortableIds {
 public:
  explicit SortableIds(std::string_view seed) : made_(seed) {}

  std::string message(std::int64_t ms) { return "msg_" + next(ms); }
  std::string part(std::int64_t ms) { return "prt_" + next(ms); }
  /// The newest sort first.
  std::string session(std::int64_t ms) {
    return "ses_" + text(~(static_cast<std::uint64_t>(ms) << 12), "session");
  }

 private:
  std::string next(std::int64_t ms) {
    last_ = std::max(last_ + 1, static_cast<std::uint64_t>(ms) << 12);
    return text(last_, std::to_string(last_));
  }

  // Twelve hexadecimal digits of it, then fourteen that make it the only one.
  std::string text(std::uint64_t number, std::string_view name) const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    constexpr std::string_view kLetters =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::string id;
    for (int shift = 44; shift >= 0; shift -= 4) id += kDigits[(number >> shift) & 15];
    const std::string hex = made_.hex(name, 28);
    for (std::size_t i = 0; i < 28; i += 2) {
      const std::size_t byte = static_cast<std::size_t>(kDigits.find(hex[i])) * 16 +
                               static_cast<std::size_t>(kDigits.find(hex[i + 1]));
      id += kLetters[byte % kLetters.size()];
    }
    return id;
  }

  MadeIds made_;
  std::uint64_t last_ = 0;
};

// Results stand in the records of their calls.
class Results {
 public:
  struct Result {
    const TranscriptMessage* from = nullptr;
    const Part* part = nullptr;
  };

  explicit Results(const Transcript& transcript) {
    for (const TranscriptMessage& message : transcript.messages) {
      for (const Part& part : message.message.parts) {
        if (part.type != PartType::kToolResult) continue;
        by_call_[part.tool_use_id].results.push_back({.from = &message, .part = &part});
      }
    }
  }

  /// Of the next call with this id; null: none came.
  const Part* take(const std::string& id) {
    const auto found = by_call_.find(id);
    if (found == by_call_.end() || found->second.taken == found->second.results.size()) {
      return nullptr;
    }
    return found->second.results[found->second.taken++].part;
  }

  template <class See>
  void for_each_left(See see) const {
    for (const auto& [id, call] : by_call_) {
      for (std::size_t i = call.taken; i < call.results.size(); ++i) see(*call.results[i].from);
    }
  }

 private:
  struct Call {
    std::vector<Result> results;
    std::size_t taken = 0;
  };
  std::map<std::string, Call> by_call_;
};

class Document {
 public:
  Document(const Transcript& transcript, Written& written)
      : transcript_(transcript),
        written_(written),
        ids_(transcript.seed),
        results_(transcript),
        created_(parse_timestamp(transcript.created).value_or(0)),
        time_(created_) {}

  std::string run() {
    session_ = written_.session = ids_.session(created_);
    out_.begin_array();
    for (const TranscriptMessage& message : transcript_.messages) add(message);
    out_.end_array();
    results_.for_each_left([&](const TranscriptMessage& from) {
      lose(from, "tool_result", "there is no call that it answers");
    });
    return "{\"info\":" + session() + ",\"messages\":" + messages_ + "}\n";
  }

 private:
  void lose(const TranscriptMessage& from, std::string_view what, std::string_view why) {
    written_.lost.push_back(
        {.entry_id = from.entry_id, .what = std::string(what), .why = std::string(why)});
  }

  // Written last: it knows when the session ended.
  std::string session() const {
    std::string info;
    json::Writer out(info);
    out.begin_object().member("id", session_).member("slug", "imported");
    out.member("projectID", "global").member("directory", directory());
    out.member("title", transcript_.title.empty() ? "Imported session" : transcript_.title);
    out.member("version", "quipu").key("time").begin_object();
    out.member("created", created_).member("updated", time_).end_object().end_object();
    return info;
  }

  std::string directory() const { return transcript_.cwd.empty() ? "/" : transcript_.cwd; }

  void add(const TranscriptMessage& from) {
    time_ = std::max(time_, parse_timestamp(from.timestamp).value_or(time_));
    switch (from.message.role) {
      case Role::kSystem:
        return lose(from, "system", "opencode makes its system prompt anew");
      case Role::kTool:
        return;  // with their calls
      case Role::kUser:
      case Role::kAssistant:
        break;
    }
    const bool answers = from.message.role == Role::kAssistant;
    const std::string id = ids_.message(time_);
    message_ = id;
    std::string parts;
    json::Writer out(parts);
    out.begin_array();
    bool calls = false;
    for (const Part& part : from.message.parts) {
      calls = calls || part.type == PartType::kToolUse;
      add_part(from, part, answers, out);
    }
    out.end_array();
    if (parts == "[]") return;
    out_.begin_object().key("info").begin_object();
    out_.member("id", id).member("sessionID", session_);
    answers ? add_answer(from.message, calls) : add_prompt(from.message);
    out_.end_object().raw_member("parts", parts).end_object();
    if (!answers) prompt_ = id;
  }

  void add_prompt(const Message& message) {
    const std::string& model = message.model.empty() ? transcript_.model : message.model;
    const std::string& provider =
        message.provider.empty() ? transcript_.provider : message.provider;
    out_.member("role", "user").key("time").begin_object().member("created", time_).end_object();
    out_.member("agent", kBuild).key("model").begin_object();
    out_.member("providerID", or_unknown(provider)).member("modelID", or_unknown(model));
    out_.end_object();
  }

  void add_answer(const Message& message, bool calls) {
    const Usage usage = message.usage.value_or(Usage());
    out_.member("role", "assistant").key("time").begin_object();
    out_.member("created", time_).member("completed", time_).end_object();
    if (prompt_.empty()) prompt_ = ids_.message(time_);  // of nobody
    out_.member("parentID", prompt_).member("modelID", or_unknown(message.model));
    out_.member("providerID", or_unknown(message.provider)).member("mode", kBuild);
    out_.member("agent", kBuild).key("path").begin_object();
    out_.member("cwd", directory()).member("root", directory()).end_object();
    out_.member("cost", usage.cost_usd.value_or(0));
    // What was thought is counted beside the rest of the output.
    const std::uint64_t reasoning = usage.reasoning.value_or(0);
    const std::uint64_t output = usage.tokens_out.value_or(0);
    const std::uint64_t said = output - std::min(reasoning, output);
    const std::uint64_t read = usage.cache_read.value_or(0);
    const std::uint64_t wrote = usage.cache_write.value_or(0);
    const std::uint64_t input = usage.tokens_in.value_or(0);
    out_.key("tokens").begin_object().member("total", input + said + reasoning + read + wrote);
    out_.member("input", input).member("output", said).member("reasoning", reasoning);
    out_.key("cache").begin_object().member("read", read).member("write", wrote);
    out_.end_object().end_object().member("finish", calls ? "tool-calls" : "stop");
  }

  json::Writer& begin_part(json::Writer& out, std::string_view type) {
    out.begin_object().member("id", ids_.part(time_)).member("sessionID", session_);
    return out.member("messageID", message_).member("type", type);
  }

  void add_part(const TranscriptMessage& from, const Part& part, bool answers, json::Writer& out) {
    switch (part.type) {
      case PartType::kText:
        if (!part.text.empty()) begin_part(out, "text").member("text", part.text).end_object();
        break;
      case PartType::kThinking:
        if (answers) add_thinking(from, part, out);
        break;
      case PartType::kToolUse:
        add_call(from, part, out);
        break;
      case PartType::kToolResult:
        break;  // with its call
      case PartType::kAttachment:
        add_file(from, part, out);
        break;
      case PartType::kStatus:
        lose(from, "status", "for a screen only");
        break;
      case PartType::kOther:
        lose(from, "part", "of a kind that opencode does not know");
        break;
    }
  }

  void add_thinking(const TranscriptMessage& from, const Part& part, json::Writer& out) {
    begin_part(out, "reasoning").member("text", part.text).key("time").begin_object();
    out.member("start", time_).member("end", time_).end_object();
    if (!part.signature.empty() && from.message.provider == "anthropic") {
      out.key("metadata").begin_object().key("anthropic").begin_object();
      out.member(part.redacted ? "redactedData" : "signature", part.signature);
      out.end_object().end_object();
    } else if (!part.signature.empty()) {
      lose(from, "signature", "of reasoning: opencode has a place for Anthropic's only");
    }
    out.end_object();
  }

  void add_file(const TranscriptMessage& from, const Part& part, json::Writer& out) {
    if (part.data.empty()) return lose(from, "attachment", "its bytes are not in the session");
    begin_part(out, "file").member("mime", part.media_type).text_member("filename", part.name);
    out.member("url", "data:" + part.media_type + ";base64," + part.data).end_object();
  }

  void add_call(const TranscriptMessage& from, const Part& call, json::Writer& out) {
    const Part* result = results_.take(call.tool_use_id);
    std::string input = call.input;
    if (input.empty()) input = "{\"input\":" + json::quoted(call.raw_input) + "}";
    begin_part(out, "tool").member("callID", call.tool_use_id).member("tool", call.name);
    out.key("state").begin_object();
    const bool is_good = result != nullptr && !result->is_error;
    out.member("status", is_good ? "completed" : "error").raw_member("input", input);
    std::string said;
    for (const Part& part : result == nullptr ? std::vector<Part>() : result->content) {
      if (part.type != PartType::kText) continue;
      if (!said.empty()) said += '\n';
      said += part.text;
    }
    if (result == nullptr) said = "Tool execution aborted";
    out.member(is_good ? "output" : "error", said);
    if (is_good) out.member("title", call.name);
    const bool has_details = result != nullptr && result->details.starts_with('{');
    out.raw_member("metadata", has_details ? result->details : "{}");
    out.key("time").begin_object().member("start", time_).member("end", time_).end_object();
    if (is_good) add_files_of(from, *result, out);
    out.end_object().end_object();
  }

  void add_files_of(const TranscriptMessage& from, const Part& result, json::Writer& out) {
    bool is_first = true;
    for (const Part& part : result.content) {
      if (part.type != PartType::kAttachment) continue;
      if (is_first) out.key("attachments").begin_array();
      is_first = false;
      add_file(from, part, out);
    }
    if (!is_first) out.end_array();
  }

  const Transcript& transcript_;
  Written& written_;
  SortableIds ids_;
  Results results_;
  const std::int64_t created_;
  std::int64_t time_;  // of the last message
  std::string session_;
  std::string message_;  // that parts are added to
  std::string prompt_;   // that answers answer
  std::string messages_;
  json::Writer out_{messages_};
};

}  // namespace

Result<Written> Opencode::write(const Transcript& transcript) const {
  Written written;
  std::string text = Document(transcript, written).run();
  written.files.push_back({.path = written.session + ".json", .bytes = std::move(text)});
  return written;
}

}  // namespace quipu::dialect::opencode
