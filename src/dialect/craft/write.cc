// A transcript as a session of craft-agents, in the workspace that every installation
// begins with.
#include <algorithm>

#include "base/time_text.h"
#include "dialect/craft/craft.h"
#include "dialect/draft.h"

namespace quipu::dialect::craft {
namespace {

constexpr std::string_view kWorkspace = "workspaces/my-workspace";
// A header is read from the first 8 KiB of the file.
constexpr std::size_t kTitleBytesMax = 1000;
constexpr std::size_t kPreviewBytesMax = 150;

// Not longer than that, and no character cut.
std::string shortened(std::string text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::int64_t unix_ms(const std::string& timestamp) {
  return parse_timestamp(timestamp).value_or(0);
}

class SessionText {
 public:
  explicit SessionText(const Transcript& transcript) : draft_(transcript) {
    // YYMMDD-adjective-noun-number.
    std::string day = format_timestamp(unix_ms(transcript.created)).substr(2, 8);
    std::erase(day, '-');
    draft_.written.session = day + "-knotted-cord-" +
                             std::to_string(std::stoul(draft_.ids.hex("session", 7), nullptr, 16));
    directory_ = std::string(kWorkspace) + "/sessions/" + draft_.written.session + "/";
  }

  Written run() {
    draft_.each(
        "craft-agents", [&](const TranscriptMessage& prompt) { add_prompt(prompt); },
        [&](const TranscriptMessage& answer) { add_answer(answer); });
    draft_.answers.report_rest(draft_.written);
    draft_.lose("context",
                "craft-agents shows the conversation; its model goes on from a transcript of its "
                "SDK's");
    draft_.written.files.insert(draft_.written.files.begin(), {.path = directory_ + "session.jsonl",
                                                               .bytes = header() + draft_.text});
    return std::move(draft_.written);
  }

 private:
  void add_answer(const TranscriptMessage& from) {
    const Message& message = from.message;
    if (message.usage) usage_ = sum_of(usage_, *message.usage);
    const auto is_call = [](const Part& part) { return part.type == PartType::kToolUse; };
    const bool calls = std::any_of(message.parts.begin(), message.parts.end(), is_call);
    for (const Part& part : message.parts) {
      if (part.type == PartType::kText) {
        line("assistant", from, part.text, [&](json::Writer& out) {
          if (calls) out.member("isIntermediate", true);
        });
        if (!calls) last_final_ = last_;
      } else if (is_call(part)) {
        add_call(from, part);
      } else {
        draft_.lose(from, std::string(quipu::name(part.type)), "no place in an answer");
      }
    }
  }

  template <class Members>
  void line(std::string_view type, const TranscriptMessage& from, std::string_view content,
            Members members) {
    last_ = "msg-" + draft_.ids.hex("message " + std::to_string(++count_), 16);
    last_type_ = type;
    last_ms_ = unix_ms(from.timestamp);
    draft_.line([&](json::Writer& out) {
      out.member("id", last_).member("type", type).member("content", content);
      out.member("timestamp", last_ms_);
      members(out);
    });
  }

  void add_prompt(const TranscriptMessage& from) {
    std::string content;
    std::string attached;
    json::Writer files(attached);
    files.begin_array();
    for (const Part& part : from.message.parts) {
      if (part.type == PartType::kText) {
        content += (content.empty() ? "" : "\n\n") + part.text;
      } else if (part.type == PartType::kAttachment) {
        attach(from, part, files);
      } else if (part.type != PartType::kToolResult) {
        draft_.lose(from, std::string(quipu::name(part.type)), "no place in a user's message");
      }
    }
    files.end_array();
    if (content.empty() && attached == "[]") return;
    if (preview_.empty()) preview_ = shortened(content, kPreviewBytesMax);
    line("user", from, content, [&](json::Writer& out) {
      if (attached != "[]") out.raw_member("attachments", attached);
    });
  }

  void attach(const TranscriptMessage& from, const Part& part, json::Writer& out) {
    const auto attached = draft_.attach(from, part, directory_ + "attachments/");
    if (!attached) return;
    const bool is_image = part.media_type.starts_with("image/");
    out.begin_object().member("id", attached->id).member("type", is_image ? "image" : "unknown");
    out.member("name", attached->name);
    out.member("mimeType", part.media_type).member("size", attached->bytes);
    out.member("storedPath", "{{SESSION_PATH}}/attachments/" + attached->file).end_object();
  }

  void add_call(const TranscriptMessage& from, const Part& call) {
    const Answer answer = draft_.answers.take(call.tool_use_id);
    line("tool", from, "", [&](json::Writer& out) {
      out.member("toolName", call.name).member("toolUseId", call.tool_use_id).key("toolInput");
      write_input(out, call);
      if (answer.result == nullptr) {
        out.member("toolStatus", "pending");
        return;
      }
      out.member("toolResult", words_of(answer, draft_.written));
      out.member("toolStatus", answer.result->is_error ? "error" : "completed");
      if (answer.result->is_error) out.member("isError", true);
    });
  }

  std::string header() const {
    const std::uint64_t in = usage_.tokens_in.value_or(0);
    const std::uint64_t answered = usage_.tokens_out.value_or(0);
    std::string text;
    json::Writer out(text);
    out.begin_object().member("id", draft_.written.session);
    out.member("workspaceRootPath", "~/.craft-agent/" + std::string(kWorkspace));
    out.member("createdAt", unix_ms(draft_.transcript.created)).member("lastUsedAt", last_ms_);
    out.member("lastMessageAt", last_ms_);
    out.text_member("name", shortened(draft_.transcript.title, kTitleBytesMax));
    out.text_member("workingDirectory", draft_.transcript.cwd)
        .text_member("model", draft_.transcript.model);
    out.member("messageCount", count_).text_member("lastMessageRole", last_type_);
    out.text_member("preview", preview_).key("tokenUsage").begin_object();
    out.member("inputTokens", in).member("outputTokens", answered);
    out.member("totalTokens", in + answered).member("contextTokens", 0);
    out.member("costUsd", usage_.cost_usd.value_or(0));
    if (usage_.cache_read) out.member("cacheReadTokens", *usage_.cache_read);
    if (usage_.cache_write) out.member("cacheCreationTokens", *usage_.cache_write);
    out.end_object().text_member("lastFinalMessageId", last_final_).end_object();
    return text + "\n";
  }

  Draft draft_;
  std::string directory_;
  std::uint64_t count_ = 0;
  std::string last_;
  std::string last_type_;
  std::string last_final_;
  std::string preview_;
  std::int64_t last_ms_ = unix_ms(draft_.transcript.created);
  Usage usage_;
};

}  // namespace

Result<Written> Craft::write(const Transcript& transcript) const {
  return SessionText(transcript).run();
}

}  // namespace quipu::dialect::craft
