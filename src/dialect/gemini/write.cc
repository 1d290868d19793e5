// A transcript as a session of gemini-cli, as versions since 0.40 write it.
//
// A directory tmp/<slug> belongs to the project whose path stands in its `.project_root`:
// so the program finds it although its own list of projects does not know it.
#include <algorithm>

#include "base/json_write.h"
#include "base/sha256.h"
#include "dialect/answers.h"
#include "dialect/gemini/gemini.h"
#include "dialect/gemini/messages.h"
#include "dialect/gemini/project.h"
#include "dialect/made_ids.h"

namespace quipu::dialect::gemini {
namespace {

class SessionText {
 public:
  explicit SessionText(const Transcript& transcript)
      : transcript_(transcript), ids_(transcript.seed), answers_(transcript) {
    written_.session = ids_.uuid("session");
  }

  Written run() {
    line([&](json::Writer& out) {
      out.member("sessionId", written_.session);
      out.member("projectHash", sha256_hex(transcript_.cwd));
      out.member("startTime", transcript_.created).member("lastUpdated", transcript_.created);
      out.member("kind", "main");
    });
    for (const TranscriptMessage& message : transcript_.messages) add(message);
    line([&](json::Writer& out) {
      out.key("$set").begin_object().member("lastUpdated", last_time_);
      out.text_member("summary", transcript_.title).end_object();
    });
    answers_.report_rest(written_);
    add_files();
    return std::move(written_);
  }

 private:
  template <class Members>
  void line(Members members) {
    json::Writer out(text_);
    out.begin_object();
    members(out);
    out.end_object();
    text_ += '\n';
  }

  template <class Members>
  void message(std::string_view type, const TranscriptMessage& from, Members members) {
    line([&](json::Writer& out) {
      out.member("id", ids_.uuid("message " + std::to_string(++count_)));
      out.member("timestamp", from.timestamp).member("type", type);
      members(out);
    });
    last_time_ = from.timestamp;
  }

  void add_files() {
    const std::string directory = "tmp/" + slug_of(transcript_.cwd) + "/";
    std::string stamp = transcript_.created.substr(0, 16);
    std::replace(stamp.begin(), stamp.end(), ':', '-');
    written_.files.push_back({.path = directory + "chats/session-" + stamp + "-" +
                                      written_.session.substr(0, 8) + ".jsonl",
                              .bytes = std::move(text_)});
    if (transcript_.cwd.empty()) {
      written_.lost.push_back(
          {.entry_id = {}, .what = "directory", .why = "gemini-cli lists sessions by directory"});
    } else {
      written_.files.push_back({.path = directory + ".project_root", .bytes = transcript_.cwd});
    }
  }

  void add(const TranscriptMessage& from) {
    switch (from.message.role) {
      case Role::kUser:
        add_prompt(from);
        break;
      case Role::kAssistant:
        add_answers(from);
        break;
      case Role::kSystem:
        lose(written_, from, "system", "gemini-cli makes its system prompt anew");
        break;
      case Role::kTool:  // stands with its call
        break;
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
        lose(written_, from, std::string(quipu::name(part.type)), "no place in a user's message");
      }
    }
    out.end_array();
    if (parts == "[]") return;
    if (!is_sent_text(text)) {
      lose(written_, from, "prompt", "gemini-cli shows it and takes it for a command on resume");
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
        if (!part->signature.empty()) lose(written_, from, "signature", "of what was thought");
        thought.begin_object().member("subject", "").member("description", part->text);
        thought.member("timestamp", from.timestamp).end_object();
      } else {
        lose(written_, from, std::string(quipu::name(part->type)), "no place in an answer");
      }
    }
    thought.end_array();
    call.end_array();
    if (content.empty() && thoughts == "[]" && calls == "[]") return;
    message("gemini", from, [&](json::Writer& out) {
      out.member("content", content).raw_member("thoughts", thoughts);
      if (is_last && from.message.usage) add_tokens(*from.message.usage, out);
      out.text_member("model", from.message.model);
      if (calls != "[]") out.raw_member("toolCalls", calls);
    });
  }

  void add_call(const TranscriptMessage& from, const Part& call, json::Writer& out) {
    out.begin_object().member("id", call.tool_use_id).member("name", call.name).key("args");
    if (call.input.empty()) {
      // Arguments that are no object have no place.
      out.begin_object().member("input", call.raw_input).end_object();
    } else {
      out.raw(call.input);
    }
    const Answer answer = answers_.take(call.tool_use_id);
    if (answer.result == nullptr) {
      out.member("status", "cancelled").member("timestamp", from.timestamp).end_object();
      return;
    }
    const std::string words = words_of(answer, written_);
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

  const Transcript& transcript_;
  MadeIds ids_;
  Answers answers_;
  Written written_;
  std::string text_;
  std::string last_time_ = transcript_.created;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<Written> Gemini::write(const Transcript& transcript) const {
  return SessionText(transcript).run();
}

}  // namespace quipu::dialect::gemini
