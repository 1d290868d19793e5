#include "dialect/claude/write.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/time_text.h"
#include "dialect/claude/blocks.h"
#include "dialect/claude/slug.h"
#include "dialect/json_members.h"

namespace quipu::dialect::claude {
namespace {

// Whose lines these look like.
constexpr std::string_view kVersion = "2.1.325";
constexpr std::string_view kStopReasons[] = {"end_turn", "max_tokens", "stop_sequence",
                                             "tool_use", "pause_turn", "refusal"};

class LineWriter {
 public:
  explicit LineWriter(const Transcript& transcript) : transcript_(transcript), blocks_(lost_) {
    session_ = transcript.after ? transcript.after->session : made_uuid("session", 0);
    if (transcript.after) parent_ = text_in(transcript.after->record, "uuid");
    cwd_ = transcript.cwd.empty() ? "/" : transcript.cwd;
    timestamp_ = format_timestamp(parse_timestamp(transcript.created).value_or(0));
  }

  Written run() {
    const std::size_t end = last_said(transcript_);
    if (end < transcript_.messages.size()) end_ = &transcript_.messages[end];
    for (const Aside& aside : transcript_.asides) {
      latest_ = std::max(latest_, parse_timestamp(aside.message.timestamp).value_or(0));
    }
    each_with_asides(transcript_, parent_,
                     [&](const TranscriptMessage& message, const std::string& before) {
                       parent_ = before;
                       take(message);
                       return parent_;
                     });
    if (!transcript_.title.empty() && !transcript_.after) {
      json::Writer out(text_);
      out.begin_object().member("type", "custom-title").member("customTitle", transcript_.title);
      out.member("sessionId", session_).end_object();
      text_ += '\n';
    }
    Written written;
    written.session = session_;
    written.files.push_back({.path = "projects/" + slug_of(cwd_) + "/" + session_ + ".jsonl",
                             .bytes = std::move(text_)});
    written.lost = std::move(lost_);
    return written;
  }

 private:
  // SHA-256 of the seed, dressed as a random UUID.
  std::string made_uuid(std::string_view what, std::uint64_t number) const {
    std::string hex =
        sha256_hex(transcript_.seed + '\0' + std::string(what) + '\0' + std::to_string(number));
    hex[12] = '4';
    hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) % 4];
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
           hex.substr(16, 4) + "-" + hex.substr(20, 12);
  }

  void take(const TranscriptMessage& message) {
    if (const auto time = parse_timestamp(message.timestamp)) timestamp_ = format_timestamp(*time);
    blocks_.begin(message);
    // Some versions go on where the latest was said.
    is_end_ |= &message == end_;
    if (is_end_ && latest_ != 0 && parse_timestamp(timestamp_).value_or(0) <= latest_) {
      timestamp_ = format_timestamp(latest_ + 1);
      lost_.push_back({.entry_id = message.entry_id,
                       .what = "timestamp",
                       .why = "other branches were said later: Claude goes on with the latest"});
    }
    if (message.message.role == Role::kSystem) return take_system(message.message);
    if (message.message.role == Role::kAssistant) return take_answer(message.message);
    take_user(message.message);
  }

  // Results have lines of their own; what else was said at once is one line.
  void take_user(const Message& message) {
    std::vector<const Part*> said;
    const auto say = [&] {
      write_said(said);
      said.clear();
    };
    for (const Part& part : message.parts) {
      if (part.type == PartType::kToolResult) {
        say();
        write_result(part);
      } else {
        said.push_back(&part);
      }
    }
    say();
  }

  void write_said(const std::vector<const Part*>& parts) {
    std::vector<std::string> blocks;
    for (const Part* part : parts) {
      if (std::string block = blocks_.of(*part); !block.empty()) blocks.push_back(std::move(block));
    }
    if (blocks.empty()) return;
    const bool is_text = parts.size() == 1 && parts[0]->type == PartType::kText;
    std::string content;
    json::Writer out(content);
    if (is_text) {
      out.value(parts[0]->text);
    } else {
      out.begin_array();
      for (const std::string& block : blocks) out.raw(block);
      out.end_array();
    }
    write_user(content, {}, false);
  }

  void write_result(const Part& part) {
    write_user("[" + blocks_.of_result(part) + "]", part.details, false);
  }

  // There is no place for it but in the user's name, where reminders stand too.
  void take_system(const Message& message) {
    for (const Part& part : message.parts) {
      const std::string block =
          part.type == PartType::kText
              ? text_block("<system-reminder>\n" + part.text + "\n</system-reminder>")
              : blocks_.of(part);
      if (!block.empty()) write_user("[" + block + "]", {}, true);
    }
  }

  void write_user(std::string_view content, std::string_view details, bool is_meta) {
    json::Writer out = begin_line();
    out.member("type", "user").key("message");
    out.begin_object().member("role", "user").raw_member("content", content).end_object();
    if (is_meta) out.member("isMeta", true);
    if (json::validate(details).ok()) out.raw_member("toolUseResult", details);
    end_line(out);
  }

  void take_answer(const Message& message) {
    const std::string id = "msg_" + sha256_hex(made_uuid("answer", lines_)).substr(0, 24);
    bool calls = false;
    for (const Part& part : message.parts) calls = calls || part.type == PartType::kToolUse;
    for (const Part& part : message.parts) {
      if (part.type == PartType::kToolResult) {
        write_result(part);
        continue;
      }
      const std::string block = blocks_.of(part);
      if (!block.empty()) write_block(message, id, block, calls);
    }
  }

  void write_block(const Message& message, const std::string& id, std::string_view block,
                   bool calls) {
    json::Writer out = begin_line();
    const std::string& model = message.model.empty() ? transcript_.model : message.model;
    out.key("message").begin_object();
    out.member("id", id).member("type", "message").member("role", "assistant");
    out.member("model", model.empty() ? "unknown" : model);
    out.key("content").begin_array().raw(block).end_array();
    std::string_view stop = calls ? "tool_use" : "end_turn";
    for (const std::string_view known : kStopReasons) {
      if (message.stop_reason == known) stop = known;
    }
    out.member("stop_reason", stop).raw_member("stop_sequence", "null");
    const Usage usage = message.usage.value_or(Usage());
    out.key("usage").begin_object().member("input_tokens", usage.tokens_in.value_or(0));
    out.member("cache_creation_input_tokens", usage.cache_write.value_or(0));
    out.member("cache_read_input_tokens", usage.cache_read.value_or(0));
    out.member("output_tokens", usage.tokens_out.value_or(0)).end_object().end_object();
    out.text_member("requestId", message.request_id).member("type", "assistant");
    end_line(out);
  }

  json::Writer begin_line() {
    json::Writer out(text_);
    out.begin_object().key("parentUuid");
    if (parent_.empty()) {
      out.raw("null");
    } else {
      out.value(parent_);
    }
    out.member("isSidechain", false);
    return out;
  }

  void end_line(json::Writer& out) {
    parent_ = made_uuid("line", lines_++);
    out.member("uuid", parent_).member("timestamp", timestamp_).member("userType", "external");
    out.member("cwd", cwd_).member("sessionId", session_).member("version", kVersion);
    out.end_object();
    text_ += '\n';
  }

  const Transcript& transcript_;
  std::vector<Loss> lost_;
  Blocks blocks_;
  std::string session_;
  std::string cwd_;
  std::string timestamp_;
  std::string parent_;
  std::uint64_t lines_ = 0;
  std::int64_t latest_ = 0;                 // of other branches
  const TranscriptMessage* end_ = nullptr;  // of the conversation
  bool is_end_ = false;                     // it was reached
  std::string text_;
};

}  // namespace

Result<Written> write_files(const Transcript& transcript) { return LineWriter(transcript).run(); }

}  // namespace quipu::dialect::claude
