// A transcript as a session file of pi, version 3.
#include <map>

#include "base/time_text.h"
#include "dialect/draft.h"
#include "dialect/json_members.h"
#include "dialect/pi/pi.h"

namespace quipu::dialect::pi {
namespace {

std::string slug_of(std::string cwd) {
  if (cwd.starts_with('/') || cwd.starts_with('\\')) cwd.erase(0, 1);
  for (char& c : cwd) {
    if (c == '/' || c == '\\' || c == ':') c = '-';
  }
  return "--" + cwd + "--";
}

std::string stamp_of(std::string created) {
  for (char& c : created) {
    if (c == ':' || c == '.') c = '-';
  }
  return created;
}

std::string_view api_of(const std::string& provider) {
  if (provider == "anthropic") return "anthropic-messages";
  if (provider == "google" || provider == "gemini") return "google-generative-ai";
  return provider == "openai" ? "openai-responses" : "openai-completions";
}

class SessionText {
 public:
  explicit SessionText(const Transcript& transcript) : draft_(transcript) {}

  Written run() {
    if (const auto& after = draft_.transcript.after) {
      draft_.written.session = after->session;
      last_ = text_in(after->record, "id");
      add_all();
      return finish();
    }
    draft_.written.session = draft_.ids.uuid("session");
    draft_.line([&](json::Writer& out) {
      out.member("type", "session").member("version", 3).member("id", draft_.written.session);
      out.member("timestamp", draft_.transcript.created).member("cwd", draft_.transcript.cwd);
    });
    if (!draft_.transcript.model.empty()) {
      entry("model_change", draft_.transcript.created, [&](json::Writer& out) {
        out.member("provider", provider_of(draft_.transcript.provider));
        out.member("modelId", draft_.transcript.model);
      });
    }
    add_all();
    if (!draft_.transcript.title.empty()) {
      entry("session_info", last_time_,
            [&](json::Writer& out) { out.member("name", draft_.transcript.title); });
    }
    return finish();
  }

 private:
  Written finish() {
    draft_.written.files.push_back({.path = "sessions/" + slug_of(draft_.transcript.cwd) + "/" +
                                            stamp_of(draft_.transcript.created) + "_" +
                                            draft_.written.session + ".jsonl",
                                    .bytes = std::move(draft_.text)});
    return std::move(draft_.written);
  }

  template <class Members>
  void entry(std::string_view type, const std::string& time, Members members) {
    const std::string id = draft_.ids.hex(std::to_string(++count_), 8);
    draft_.line([&](json::Writer& out) {
      out.member("type", type).member("id", id).key("parentId");
      last_.empty() ? out.raw("null") : out.value(last_);
      out.member("timestamp", time);
      members(out);
    });
    last_ = id;
    last_time_ = time;
  }

  static std::string provider_of(const std::string& provider) {
    return provider.empty() ? "unknown" : provider;
  }

  // An entry hangs on the one before it, a message on what it follows.
  void add_all() {
    each_with_asides(draft_.transcript, last_,
                     [&](const TranscriptMessage& message, const std::string& before) {
                       last_ = before;
                       add(message);
                       return last_;
                     });
  }

  // Results are messages of their own; everything else of a message stays together.
  void add(const TranscriptMessage& from) {
    const Message& message = from.message;
    std::vector<const Part*> said;
    for (const Part& part : message.parts) {
      if (part.type != PartType::kToolResult) said.push_back(&part);
    }
    if (message.role == Role::kSystem) {
      draft_.lose(from, "system", "pi makes its system prompt anew");
    } else if (!said.empty()) {
      add_said(from, said);
    }
    for (const Part& part : message.parts) {
      if (part.type == PartType::kToolResult) add_result(from, part);
    }
  }

  void add_said(const TranscriptMessage& from, const std::vector<const Part*>& parts) {
    const bool is_assistant = from.message.role == Role::kAssistant;
    std::string blocks;
    json::Writer out(blocks);
    out.begin_array();
    bool calls = false;
    for (const Part* part : parts) {
      calls = calls || part->type == PartType::kToolUse;
      add_block(from, *part, is_assistant, out);
    }
    out.end_array();
    if (blocks == "[]") return;
    entry("message", from.timestamp, [&](json::Writer& line) {
      line.key("message").begin_object();
      line.member("role", is_assistant ? "assistant" : "user").raw_member("content", blocks);
      if (is_assistant) add_answer(from.message, calls, line);
      line.member("timestamp", parse_timestamp(from.timestamp).value_or(0)).end_object();
    });
    for (const Part* part : parts) {
      if (part->type == PartType::kToolUse) names_[part->tool_use_id] = part->name;
    }
  }

  void add_block(const TranscriptMessage& from, const Part& part, bool is_assistant,
                 json::Writer& out) {
    switch (part.type) {
      case PartType::kText:
        out.begin_object().member("type", "text").member("text", part.text).end_object();
        break;
      case PartType::kThinking:
        if (!is_assistant) break;
        out.begin_object().member("type", "thinking").member("thinking", part.text);
        out.text_member("thinkingSignature", part.signature);
        if (part.redacted) out.member("redacted", true);
        out.end_object();
        break;
      case PartType::kToolUse:
        out.begin_object().member("type", "toolCall").member("id", part.tool_use_id);
        out.member("name", part.name).key("arguments");
        write_input(out, part);
        out.end_object();
        break;
      case PartType::kAttachment:
        add_image(from, part, out);
        break;
      case PartType::kStatus:
        draft_.lose(from, "status", "for a screen only");
        break;
      default:
        draft_.lose(from, "part", "of a kind that pi does not know");
    }
  }

  void add_image(const TranscriptMessage& from, const Part& part, json::Writer& out) {
    if (!part.media_type.starts_with("image/") || part.data.empty()) {
      return draft_.lose(from, "attachment", "pi takes images only: " + part.media_type);
    }
    out.begin_object().member("type", "image").member("data", part.data);
    out.member("mimeType", part.media_type).end_object();
  }

  void add_answer(const Message& message, bool calls, json::Writer& out) {
    const Usage usage = message.usage.value_or(Usage());
    const std::uint64_t in = usage.tokens_in.value_or(0);
    const std::uint64_t answered = usage.tokens_out.value_or(0);
    const std::uint64_t read = usage.cache_read.value_or(0);
    const std::uint64_t wrote = usage.cache_write.value_or(0);
    out.member("api", api_of(message.provider)).member("provider", provider_of(message.provider));
    out.member("model", message.model.empty() ? "unknown" : message.model);
    out.key("usage").begin_object().member("input", in).member("output", answered);
    out.member("cacheRead", read).member("cacheWrite", wrote);
    out.member("totalTokens", in + answered + read + wrote);
    out.key("cost").begin_object();
    for (const std::string_view name : {"input", "output", "cacheRead", "cacheWrite"}) {
      out.member(name, 0);
    }
    out.member("total", usage.cost_usd.value_or(0)).end_object().end_object();
    out.member("stopReason", calls ? "toolUse" : "stop");
  }

  void add_result(const TranscriptMessage& from, const Part& part) {
    entry("message", from.timestamp, [&](json::Writer& out) {
      out.key("message").begin_object().member("role", "toolResult");
      out.member("toolCallId", part.tool_use_id).member("toolName", names_[part.tool_use_id]);
      out.key("content").begin_array();
      for (const Part& inner : part.content) {
        if (inner.type == PartType::kText) {
          out.begin_object().member("type", "text").member("text", inner.text).end_object();
        } else if (inner.type == PartType::kAttachment) {
          add_image(from, inner, out);
        }
      }
      out.end_array().member("isError", part.is_error);
      if (!part.details.empty()) out.raw_member("details", part.details);
      out.member("timestamp", parse_timestamp(from.timestamp).value_or(0)).end_object();
    });
  }

  Draft draft_;
  std::string last_;
  std::string last_time_ = draft_.transcript.created;
  std::uint64_t count_ = 0;
  std::map<std::string, std::string> names_;  // of tools, by call
};

}  // namespace

// Version 1 has no ids, and the harness has another form.
bool Pi::goes_on_from(std::string_view record) const {
  return !text_in(record, "id").empty() && !json::find_member(record, "kind");
}

Result<Written> Pi::write(const Transcript& transcript) const {
  return SessionText(transcript).run();
}

}  // namespace quipu::dialect::pi
