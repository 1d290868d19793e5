#include "dialect/codex/write.h"

#include <algorithm>
#include <unordered_set>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/time_text.h"
#include "dialect/codex/line.h"

namespace quipu::dialect::codex {
namespace {

constexpr std::string_view kVersion = "0.166.0";

// A UUID of version 7 that is the same for the same seed.
std::string made_uuid(std::int64_t unix_ms, std::string_view seed, std::string_view of) {
  const std::string hash = sha256_hex(std::string(seed) + "\n" + std::string(of));
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string time;
  for (int shift = 44; shift >= 0; shift -= 4) {
    time += kHex[static_cast<std::size_t>((unix_ms >> shift) & 0xf)];
  }
  return time.substr(0, 8) + "-" + time.substr(8, 4) + "-7" + hash.substr(0, 3) + "-" +
         kHex[8 + (static_cast<unsigned char>(hash[3]) & 3)] + hash.substr(4, 3) + "-" +
         hash.substr(7, 12);
}

// A rollout that names a provider which Codex does not know cannot be gone on with: it
// knows these without being told.
bool is_foreign(std::string_view provider) {
  return provider != "openai" && provider != "oss" && provider != "ollama" &&
         provider != "lmstudio";
}

bool is_for_models(const Part& part) {
  return part.type == PartType::kText ||
         (part.type == PartType::kAttachment && part.media_type.starts_with("image/") &&
          !part.data.empty());
}

class RolloutWriter {
 public:
  explicit RolloutWriter(const Transcript& transcript) : transcript_(transcript) {
    created_ms_ = std::max<std::int64_t>(parse_timestamp(transcript.created).value_or(0), 0);
    now_ = format_timestamp(created_ms_);
    written_.session = transcript.after ? transcript.after->session
                                        : made_uuid(created_ms_, transcript.seed, "session");
    provider_ = is_foreign(transcript.provider) ? "openai" : transcript.provider;
  }

  Written run() {
    if (!transcript_.after) write_header();
    for (const TranscriptMessage& message : transcript_.messages) write_message(message);
    end_turn();
    note_losses();
    std::string stamp = format_timestamp(created_ms_).substr(0, 19);
    const std::string day =
        stamp.substr(0, 4) + "/" + stamp.substr(5, 2) + "/" + stamp.substr(8, 2);
    std::replace(stamp.begin(), stamp.end(), ':', '-');
    written_.files.push_back(
        {.path = "sessions/" + day + "/rollout-" + stamp + "-" + written_.session + ".jsonl",
         .bytes = std::move(text_)});
    if (!transcript_.after) write_name();
    return std::move(written_);
  }

 private:
  // ---- lines

  template <class Payload>
  void line(std::string_view type, Payload payload) {
    json::Writer out(text_);
    out.begin_object().member("timestamp", now_).member("type", type).key("payload");
    out.begin_object();
    payload(out);
    out.end_object().end_object();
    text_ += '\n';
  }
  template <class Payload>
  void event(std::string_view type, Payload payload) {
    line(kEvent, [&](json::Writer& out) {
      out.member("type", type);
      payload(out);
    });
  }
  template <class Payload>
  void item(std::string_view type, Payload payload) {
    line(kItem, [&](json::Writer& out) {
      out.member("type", type);
      payload(out);
    });
  }

  void write_header() {
    line(kMeta, [&](json::Writer& out) {
      out.member("id", written_.session).member("timestamp", now_);
      out.member("cwd", cwd()).member("originator", "codex_cli_rs");
      out.member("cli_version", kVersion).member("source", "cli");
      out.member("model_provider", provider_).member("history_mode", "legacy");
    });
  }

  std::string cwd() const { return transcript_.cwd.empty() ? "/" : transcript_.cwd; }

  // ---- turns

  void begin_turn() {
    end_turn();
    turn_ = made_uuid(created_ms_, transcript_.seed, "turn " + std::to_string(++turns_));
    answer_.clear();
    event("task_started", [&](json::Writer& out) {
      out.member("turn_id", turn_).raw_member("model_context_window", "null");
      out.member("collaboration_mode_kind", "default");
    });
  }

  // Names the model, which Codex then goes on with: only one that its provider has.
  void write_turn_context() {
    if (is_foreign(transcript_.provider) || transcript_.model.empty()) return;
    line(kTurnContext, [&](json::Writer& out) {
      out.member("turn_id", turn_).member("cwd", cwd()).member("approval_policy", "on-request");
      out.raw_member("sandbox_policy", "{\"type\":\"read-only\"}");
      out.member("model", transcript_.model).member("summary", "auto");
    });
  }

  void end_turn() {
    if (turn_.empty()) return;
    event("task_complete", [&](json::Writer& out) {
      out.member("turn_id", turn_);
      if (answer_.empty()) {
        out.raw_member("last_agent_message", "null");
      } else {
        out.member("last_agent_message", answer_);
      }
    });
    turn_.clear();
  }

  // Without one a thread is called by its first prompt.
  void write_name() {
    const std::string& title = transcript_.title;
    if (title.empty() || first_said_.starts_with(title)) return;
    std::string named;
    json::Writer(named)
        .begin_object()
        .member("id", written_.session)
        .member("thread_name", title)
        .member("updated_at", now_)
        .end_object();
    written_.files.push_back({.path = std::string(kIndexName), .bytes = named + "\n"});
  }

  void lose(std::string_view what, std::string_view why) {
    written_.lost.push_back(
        {.entry_id = entry_, .what = std::string(what), .why = std::string(why)});
  }

  void note_losses() {
    entry_.clear();
    if (is_foreign(transcript_.provider) && !transcript_.model.empty()) {
      lose("model", "Codex would go on with it, and does not have it");
    }
  }

  // ---- messages

  void write_message(const TranscriptMessage& from) {
    entry_ = from.entry_id;
    if (const auto at = parse_timestamp(from.timestamp)) now_ = format_timestamp(*at);
    const Message& message = from.message;
    switch (message.role) {
      case Role::kUser:
        write_said(message, "user");
        break;
      case Role::kSystem:
        write_said(message, "developer");
        break;
      case Role::kAssistant:
      case Role::kTool:
        for (const Part& part : message.parts) write_part(message, part);
        break;
    }
    if (message.role == Role::kAssistant && message.usage) write_usage(*message.usage);
  }

  void write_said(const Message& message, std::string_view role) {
    std::string text;
    std::string images;
    json::Writer out(images);
    out.begin_array();
    const bool has_any = std::any_of(message.parts.begin(), message.parts.end(), is_for_models);
    for (const Part& part : message.parts) {
      if (part.type == PartType::kText) text += (text.empty() ? "" : "\n") + part.text;
      if (part.type == PartType::kAttachment && is_for_models(part)) out.value(url_of(part));
      if (part.type == PartType::kToolResult) write_result(part);
    }
    out.end_array();
    if (!has_any) {
      for (const Part& part : message.parts) lose_part(part);
      return;
    }
    std::string body;
    json::Writer body_out(body);
    body_out.begin_object().member("type", "message").member("role", role).key("content");
    write_blocks(body_out, message.parts);
    body_out.end_object();
    const bool is_turn = role == "user" && begins_turn(body);
    if (is_turn) begin_turn();
    line(kItem, [&](json::Writer& into) {
      into.member("type", "message").member("role", role);
      into.raw_member("content", json::find_member(body, "content")->value);
    });
    if (!is_turn) return;
    if (first_said_.empty()) first_said_ = text;
    event("user_message", [&](json::Writer& into) {
      into.member("message", text).raw_member("images", images);
      into.raw_member("local_images", "[]").raw_member("text_elements", "[]");
    });
    write_turn_context();
  }

  static std::string url_of(const Part& part) {
    return "data:" + part.media_type + ";base64," + part.data;
  }

  void lose_part(const Part& part) {
    if (is_for_models(part) || part.type == PartType::kToolResult) return;
    lose(name(part.type), part.type == PartType::kAttachment
                              ? "Codex sends images only, with their bytes"
                              : "Codex has no place for it");
  }

  void write_blocks(json::Writer& out, const std::vector<Part>& parts) {
    out.begin_array();
    for (const Part& part : parts) {
      if (part.type == PartType::kText) {
        out.begin_object().member("type", "input_text").member("text", part.text).end_object();
      } else if (is_for_models(part)) {
        out.begin_object().member("type", "input_image");
        out.member("image_url", url_of(part)).end_object();
      } else {
        lose_part(part);
      }
    }
    out.end_array();
  }

  void write_part(const Message& message, const Part& part) {
    if (part.type == PartType::kToolResult) return write_result(part);
    if (turn_.empty()) begin_turn();
    switch (part.type) {
      case PartType::kText:
        return write_answer(part);
      case PartType::kThinking:
        return write_thinking(message, part);
      case PartType::kToolUse:
        return write_call(part);
      default:
        return lose(name(part.type), "Codex has no place for it in an answer");
    }
  }

  void write_answer(const Part& part) {
    answer_ = part.text;
    event("agent_message", [&](json::Writer& out) { out.member("message", part.text); });
    item("message", [&](json::Writer& out) {
      out.member("role", "assistant").key("content").begin_array().begin_object();
      out.member("type", "output_text").member("text", part.text).end_object().end_array();
    });
  }

  // Reasoning that its provider cannot read is refused by it: then it is only shown.
  void write_thinking(const Message& message, const Part& part) {
    if (!part.text.empty()) {
      event("agent_reasoning", [&](json::Writer& out) { out.member("text", part.text); });
    }
    if (message.provider != "openai" || part.signature.empty()) {
      return lose("thinking", "shown, but not sent: not signed by this provider");
    }
    item("reasoning", [&](json::Writer& out) {
      out.key("summary").begin_array();
      if (!part.text.empty()) {
        out.begin_object().member("type", "summary_text").member("text", part.text).end_object();
      }
      out.end_array().raw_member("content", "null");
      out.member("encrypted_content", part.signature);
    });
  }

  std::string tool_name(const Part& part) {
    std::string tool = part.name.empty() ? "tool" : part.name;
    for (char& c : tool) {
      const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '-';
      if (!is_good) c = '_';
    }
    if (!part.name.empty() && tool != part.name) lose("tool name", "written as " + tool);
    return tool;
  }

  void write_call(const Part& part) {
    const std::string tool = tool_name(part);
    if (part.input.empty() && !part.raw_input.empty()) {
      texts_.insert(part.tool_use_id);
      return item("custom_tool_call", [&](json::Writer& out) {
        out.member("status", "completed").member("call_id", part.tool_use_id);
        out.member("name", tool).member("input", part.raw_input);
      });
    }
    item("function_call", [&](json::Writer& out) {
      out.member("name", tool).member("arguments", part.input.empty() ? "{}" : part.input);
      out.member("call_id", part.tool_use_id);
    });
  }

  void write_result(const Part& part) {
    const bool is_text = texts_.contains(part.tool_use_id);
    item(is_text ? "custom_tool_call_output" : "function_call_output", [&](json::Writer& out) {
      out.member("call_id", part.tool_use_id).key("output");
      const bool is_plain = part.content.empty() || (part.content.size() == 1 &&
                                                     part.content.front().type == PartType::kText);
      if (is_plain) {
        out.value(part.content.empty() ? std::string() : part.content.front().text);
      } else {
        write_blocks(out, part.content);
      }
    });
    if (part.is_error) lose("is_error", "Codex does not write down whether a tool failed");
    if (!part.details.empty()) lose("details", "Codex has no place for what only a screen shows");
  }

  // ---- usage

  struct Counts {
    std::uint64_t in = 0, cached = 0, written = 0, out = 0, reasoning = 0;

    void add(const Counts& more) {
      in += more.in;
      cached += more.cached;
      written += more.written;
      out += more.out;
      reasoning += more.reasoning;
    }
    std::string json() const {
      std::string text;
      json::Writer into(text);
      into.begin_object().member("input_tokens", in).member("cached_input_tokens", cached);
      into.member("cache_write_input_tokens", written).member("output_tokens", out);
      into.member("reasoning_output_tokens", reasoning).member("total_tokens", in + out);
      into.end_object();
      return text;
    }
  };

  void write_usage(const Usage& usage) {
    if (transcript_.after) return lose("usage", "Codex counts on from what it wrote itself");
    Counts last{.in = 0,
                .cached = usage.cache_read.value_or(0),
                .written = usage.cache_write.value_or(0),
                .out = usage.tokens_out.value_or(0),
                .reasoning = usage.reasoning.value_or(0)};
    last.in = usage.tokens_in.value_or(0) + last.cached + last.written;
    total_.add(last);
    event("token_count", [&](json::Writer& out) {
      out.key("info").begin_object().raw_member("total_token_usage", total_.json());
      out.raw_member("last_token_usage", last.json());
      out.raw_member("model_context_window", "null").end_object();
      out.raw_member("rate_limits", "null");
    });
  }

  const Transcript& transcript_;
  Written written_;
  std::string text_;
  std::int64_t created_ms_ = 0;
  std::string now_;
  std::string provider_;
  std::string entry_;  // that is being written
  std::string turn_;   // empty: between turns
  std::size_t turns_ = 0;
  std::string answer_;                     // the last one of the turn
  std::string first_said_;                 // by the user
  std::unordered_set<std::string> texts_;  // calls whose input is text
  Counts total_;
};

}  // namespace

Result<Written> write_rollout(const Transcript& transcript) {
  return RolloutWriter(transcript).run();
}

}  // namespace quipu::dialect::codex
