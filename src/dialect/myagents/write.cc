// A transcript as a session of MyAgents: its messages, its object in the index, and the
// files that the user attached.
//
// A turn's answer is one message there, with calls, results and what the model said
// between them.
#include "dialect/draft.h"
#include "dialect/myagents/myagents.h"

namespace quipu::dialect::myagents {
namespace {

class SessionText {
 public:
  explicit SessionText(const Transcript& transcript) : draft_(transcript) {
    draft_.written.session = draft_.ids.uuid("session");
  }

  Written run() {
    draft_.each(
        "MyAgents",
        [&](const TranscriptMessage& prompt) {
          end_turn();
          add_prompt(prompt);
        },
        [&](const TranscriptMessage& answer) { add_answer(answer); });
    end_turn();
    draft_.answers.report_rest(draft_.written);
    report_session();
    draft_.written.files.insert(
        draft_.written.files.begin(),
        {{.path = "sessions/" + draft_.written.session + ".jsonl", .bytes = std::move(draft_.text)},
         {.path = std::string(kIndexName), .bytes = index()}});
    return std::move(draft_.written);
  }

 private:
  template <class Members>
  void line(const std::string& time, std::string_view role, std::string_view content,
            Members members) {
    draft_.line([&](json::Writer& out) {
      out.member("id", std::to_string(++count_)).member("role", role);
      out.member("content", content).member("timestamp", time);
      members(out);
    });
    last_time_ = time;
  }

  // ---- the user

  void add_prompt(const TranscriptMessage& from) {
    std::string attached;
    json::Writer files(attached);
    files.begin_array();
    std::vector<std::string> texts;
    for (const Part& part : from.message.parts) {
      if (part.type == PartType::kText) {
        texts.push_back(part.text);
      } else if (part.type == PartType::kAttachment) {
        attach(from, part, files);
      } else if (part.type != PartType::kToolResult) {
        draft_.lose(from, std::string(quipu::name(part.type)), "no place in a user's message");
      }
    }
    files.end_array();
    if (texts.empty() && attached == "[]") return;
    ++prompts_;
    if (first_prompt_.empty() && !texts.empty()) first_prompt_ = texts.front();
    line(from.timestamp, "user", content_of(texts), [&](json::Writer& out) {
      if (attached != "[]") out.raw_member("attachments", attached);
    });
  }

  // A text that begins as a list does would be read as one.
  static std::string content_of(const std::vector<std::string>& texts) {
    if (texts.empty()) return {};
    if (texts.size() == 1 && !texts.front().starts_with('[')) return texts.front();
    std::string blocks;
    json::Writer out(blocks);
    out.begin_array();
    for (const std::string& text : texts) {
      out.begin_object().member("type", "text").member("text", text).end_object();
    }
    out.end_array();
    return blocks;
  }

  void attach(const TranscriptMessage& from, const Part& part, json::Writer& out) {
    const std::string directory = draft_.written.session + "/";
    const auto attached = draft_.attach(from, part, "attachments/" + directory);
    if (!attached) return;
    out.begin_object().member("id", attached->id).member("name", attached->name);
    out.member("mimeType", part.media_type).member("path", directory + attached->file);
    out.end_object();
  }

  // ---- the answer

  void add_answer(const TranscriptMessage& from) {
    for (const Part& part : from.message.parts) add_block(from, part);
    turn_time_ = from.timestamp;
    if (!from.message.model.empty()) model_ = from.message.model;
    if (from.message.usage) usage_ = sum_of(usage_.value_or(Usage()), *from.message.usage);
  }

  void add_block(const TranscriptMessage& from, const Part& part) {
    json::Writer out(blocks_.emplace_back());
    switch (part.type) {
      case PartType::kText:
        out.begin_object().member("type", "text").member("text", part.text).end_object();
        return;
      case PartType::kThinking:
        if (part.redacted) break;
        if (!part.signature.empty()) draft_.lose(from, "signature", "of what was thought");
        out.begin_object().member("type", "thinking").member("thinking", part.text);
        out.member("isComplete", true).end_object();
        return;
      case PartType::kToolUse:
        return add_call(part, out);
      default:
        break;
    }
    blocks_.pop_back();
    draft_.lose(from, std::string(quipu::name(part.type)), "no place in an answer");
  }

  void add_call(const Part& call, json::Writer& out) {
    out.begin_object().member("type", "tool_use").key("tool").begin_object();
    out.member("id", call.tool_use_id).member("name", call.name);
    out.raw_member("input", call.input.empty() ? "{}" : call.input);
    out.member("streamIndex", blocks_.size() - 1).text_member("inputJson", call.raw_input);
    ++calls_;
    if (const Answer answer = draft_.answers.take(call.tool_use_id); answer.result != nullptr) {
      out.member("result", words_of(answer, draft_.written));
      if (answer.result->is_error) out.member("isError", true);
      if (answer.result->details.starts_with('[')) {
        out.raw_member("subagentCalls", answer.result->details);
      }
    }
    out.end_object().end_object();
  }

  void end_turn() {
    if (blocks_.empty()) return;
    std::string content = "[";
    for (const std::string& block : blocks_) content += (content.size() > 1 ? "," : "") + block;
    content += "]";
    line(turn_time_, "assistant", content, [&](json::Writer& out) {
      if (usage_) {
        out.key("usage").begin_object();
        out.member("inputTokens", usage_->tokens_in.value_or(0));
        out.member("outputTokens", usage_->tokens_out.value_or(0));
        if (usage_->cache_read) out.member("cacheReadTokens", *usage_->cache_read);
        if (usage_->cache_write) out.member("cacheCreationTokens", *usage_->cache_write);
        out.text_member("model", model_).end_object();
      }
      if (calls_ > 0) out.member("toolCount", calls_);
    });
    if (usage_) total_ = sum_of(total_, *usage_);
    blocks_.clear();
    usage_.reset();
    calls_ = 0;
  }

  // ---- the session

  void report_session() {
    draft_.lose("context",
                "MyAgents shows the conversation; its model goes on from a transcript of Claude's");
    if (draft_.transcript.cwd.empty()) {
      draft_.lose("directory", "MyAgents lists sessions by directory");
    }
  }

  std::string index() const {
    std::string text = "[\n  ";
    json::Writer out(text);
    const std::string& title =
        draft_.transcript.title.empty() ? first_prompt_ : draft_.transcript.title;
    out.begin_object()
        .member("id", draft_.written.session)
        .member("agentDir", draft_.transcript.cwd);
    out.member("title", title.empty() ? "New Chat" : title);
    out.member("createdAt", draft_.transcript.created).member("lastActiveAt", last_time_);
    out.key("stats").begin_object().member("messageCount", prompts_);
    out.member("totalInputTokens", total_.tokens_in.value_or(0));
    out.member("totalOutputTokens", total_.tokens_out.value_or(0));
    if (total_.cache_read) out.member("totalCacheReadTokens", *total_.cache_read);
    if (total_.cache_write) out.member("totalCacheCreationTokens", *total_.cache_write);
    out.end_object().end_object();
    return text + "\n]";
  }

  Draft draft_;
  std::uint64_t count_ = 0;
  std::uint64_t prompts_ = 0;
  std::string first_prompt_;
  std::string last_time_ = draft_.transcript.created;
  Usage total_;
  // The turn that is being written.
  std::vector<std::string> blocks_;
  std::string turn_time_;
  std::string model_;
  std::optional<Usage> usage_;
  std::uint64_t calls_ = 0;
};

}  // namespace

Result<Written> MyAgents::write(const Transcript& transcript) const {
  return SessionText(transcript).run();
}

}  // namespace quipu::dialect::myagents
