// A transcript as a session of gemini-cli, as versions since 0.40 write it.
//
// A directory tmp/<slug> belongs to the project whose path stands in its `.project_root`:
// so the program finds it although its own list of projects does not know it.
#include <algorithm>

#include "base/sha256.h"
#include "dialect/draft.h"
#include "dialect/gemini/gemini.h"
#include "dialect/gemini/messages.h"
#include "dialect/gemini/project.h"

namespace quipu::dialect::gemini {
namespace {

class SessionText {
 public:
  explicit SessionText(const Transcript& transcript) : draft_(transcript) {
    draft_.written.session = draft_.ids.uuid("session");
  }

  Written run() {
    draft_.line([&](json::Writer& out) {
      out.member("sessionId", draft_.written.session);
      out.member("projectHash", sha256_hex(draft_.transcript.cwd));
      out.member("startTime", draft_.transcript.created)
          .member("lastUpdated", draft_.transcript.created);
      out.member("kind", "main");
    });
    draft_.each(
        "gemini-cli", [&](const TranscriptMessage& prompt) { add_prompt(prompt); },
        [&](const TranscriptMessage& answer) { add_answers(answer); });
    draft_.line([&](json::Writer& out) {
      out.key("$set").begin_object().member("lastUpdated", last_time_);
      out.text_member("summary", draft_.transcript.title).end_object();
    });
    draft_.answers.report_rest(draft_.written);
    add_files();
    return std::move(draft_.written);
  }

 private:
  template <class Members>
  void message(std::string_view type, const TranscriptMessage& from, Members members) {
    draft_.line([&](json::Writer& out) {
      out.member("id", draft_.ids.uuid("message " + std::to_string(++count_)));
      out.member("timestamp", from.timestamp).member("type", type);
      members(out);
    });
    last_time_ = from.timestamp;
  }

  void add_files() {
    const std::string directory = "tmp/" + slug_of(draft_.transcript.cwd) + "/";
    std::string stamp = draft_.transcript.created.substr(0, 16);
    std::replace(stamp.begin(), stamp.end(), ':', '-');
    draft_.written.files.push_back({.path = directory + "chats/session-" + stamp + "-" +
                                            draft_.written.session.substr(0, 8) + ".jsonl",
                                    .bytes = std::move(draft_.text)});
    if (draft_.transcript.cwd.empty()) {
      draft_.lose("directory", "gemini-cli lists sessions by directory");
    } else {
      draft_.written.files.push_back(
          {.path = directory + ".project_root", .bytes = draft_.transcript.cwd});
    }
  }

  void add_prompt(const TranscriptMessage& from) {
    std::string parts;
    std::string text;  // as the program looks at it to know a command
    json::Writer out(parts);
    out.begin_array();
    for (const Part& part : from.message.parts) {
      if (part.type == PartType::kText) {
        out.begin_object().member("text", part.text).end_object();
        text += part.text;
      } else if (part.type == PartType::kAttachment && !part.data.empty()) {
        out.begin_object().key("inlineData").begin_object();
        out.member("mimeType", part.media_type).member("data", part.data).end_object();
        out.end_object();
        text += '[';
      } else if (part.type != PartType::kToolResult) {
        draft_.lose(from, std::string(quipu::name(part.type)), "no place in a user's message");
      }
    }
    out.end_array();
    if (parts == "[]") return;
    if (!is_sent_text(text)) {
      draft_.lose(from, "prompt", "gemini-cli shows it and takes it for a command on resume");
    }
    message("user", from, [&](json::Writer& line) { line.raw_member("content", parts); });
  }

  // Thoughts, words and calls stand in this order in a message. Where they do not, the rest
  // is another one.
  void add_answers(const TranscriptMessage& from) {
    std::vector<const Part*> piece;
    for (const Part& part : from.message.parts) {
      const bool is_behind = !piece.empty() && piece.back()->type == PartType::kToolUse &&
                             part.type != PartType::kToolUse;
      if (is_behind) add_answer(from, std::exchange(piece, {}), false);
      piece.push_back(&part);
    }
    if (!piece.empty()) add_answer(from, piece, true);
  }

  void add_answer(const TranscriptMessage& from, const std::vector<const Part*>& parts,
                  bool is_last) {
    std::string content;
    std::string thoughts;
    std::string calls;
    json::Writer thought(thoughts);
    json::Writer call(calls);
    thought.begin_array();
    call.begin_array();
    for (const Part* part : parts) {
      if (part->type == PartType::kText) {
        content += (content.empty() ? "" : "\n\n") + part->text;
      } else if (part->type == PartType::kToolUse) {
        add_call(from, *part, call);
      } else if (part->type == PartType::kThinking && !part->redacted) {
        if (!part->signature.empty()) draft_.lose(from, "signature", "of what was thought");
        thought.begin_object().member("subject", "").member("description", part->text);
        thought.member("timestamp", from.timestamp).end_object();
      } else {
        draft_.lose(from, std::string(quipu::name(part->type)), "no place in an answer");
      }
    }
    thought.end_array();
    call.end_array();
    if (content.empty() && thoughts == "[]" && calls == "[]") return;
    if (is_last && from.message.usage && from.message.usage->cache_write.value_or(0) > 0) {
      draft_.lose(from, "usage", "what went into the cache is counted as input");
    }
    message("gemini", from, [&](json::Writer& out) {
      out.member("content", content).raw_member("thoughts", thoughts);
      if (is_last && from.message.usage) add_tokens(*from.message.usage, out);
      out.text_member("model", from.message.model);
      if (calls != "[]") out.raw_member("toolCalls", calls);
    });
  }

  void add_call(const TranscriptMessage& from, const Part& call, json::Writer& out) {
    out.begin_object().member("id", call.tool_use_id).member("name", call.name).key("args");
    write_input(out, call);
    const Answer answer = draft_.answers.take(call.tool_use_id);
    if (answer.result == nullptr) {
      out.member("status", "cancelled").member("timestamp", from.timestamp).end_object();
      return;
    }
    const std::string words = words_of(answer, draft_.written);
    const bool is_error = answer.result->is_error;
    out.key("result").begin_array().begin_object().key("functionResponse").begin_object();
    out.member("id", call.tool_use_id).member("name", call.name);
    out.key("response").begin_object().member(is_error ? "error" : "output", words).end_object();
    out.end_object().end_object().end_array();
    out.member("status", is_error ? "error" : "success");
    out.member("timestamp", answer.message->timestamp).member("displayName", call.name);
    out.member("resultDisplay", words).member("renderOutputAsMarkdown", false).end_object();
  }

  // `input` has what came from the cache in it, `output` not what was thought.
  static void add_tokens(const Usage& usage, json::Writer& out) {
    const std::uint64_t cached = usage.cache_read.value_or(0);
    const std::uint64_t input =
        usage.tokens_in.value_or(0) + cached + usage.cache_write.value_or(0);
    const std::uint64_t answered = usage.tokens_out.value_or(0);
    const std::uint64_t thoughts = std::min(usage.reasoning.value_or(0), answered);
    out.key("tokens").begin_object().member("input", input).member("output", answered - thoughts);
    out.member("cached", cached).member("thoughts", thoughts).member("tool", 0);
    out.member("total", input + answered).end_object();
  }

  Draft draft_;
  std::string last_time_ = draft_.transcript.created;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<Written> Gemini::write(const Transcript& transcript) const {
  return SessionText(transcript).run();
}

}  // namespace quipu::dialect::gemini
