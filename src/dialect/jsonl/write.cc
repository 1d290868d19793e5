// A transcript as entries: the form of our own messages has a place for all of it.
#include "base/json_write.h"
#include "dialect/answers.h"
#include "dialect/json_members.h"
#include "dialect/jsonl/jsonl.h"
#include "dialect/made_ids.h"
#include "model/envelope.h"
#include "model/session_header.h"

namespace quipu::dialect::jsonl {
namespace {

// What lies in the attachments of the store stays there.
void report_attachments(const TranscriptMessage& from, const std::vector<Part>& parts,
                        Written& written) {
  for (const Part& part : parts) {
    report_attachments(from, part.content, written);
    if (part.type == PartType::kAttachment && part.data.empty()) {
      lose(written, from, "attachment", "its bytes are not in the session");
    }
  }
}

}  // namespace

// Flat lines have no payload.
bool Jsonl::goes_on_from(std::string_view record) const {
  return !text_in(record, "id").empty() && !object_in(record, "payload").empty();
}

Result<Written> Jsonl::write(const Transcript& transcript) const {
  const MadeIds ids(transcript.seed);
  Written written;
  written.session = transcript.after ? transcript.after->session : ids.uuid("session");
  std::string text;
  const auto line = [&](const EntryParts& parts) {
    append_entry_json(text, parts);
    text += '\n';
  };
  SessionHeader header;
  header.version = kSchemaVersion;
  header.session_id = written.session;
  header.cwd = transcript.cwd;
  header.title = transcript.title;
  const std::string payload = session_header_payload(header);
  const auto& after = transcript.after;
  if (!after) {
    line({.id = "header",
          .parent = std::nullopt,
          .type = "session_header",
          .timestamp = transcript.created,
          .run_id = {},
          .payload = payload,
          .meta = {}});
  }
  const std::string first = after ? text_in(after->record, "id") : std::string();
  std::uint64_t count = 0;
  std::string last;
  each_with_asides(transcript, first,
                   [&](const TranscriptMessage& from, const std::string& before) {
                     last = ids.hex("message " + std::to_string(++count), 16);
                     const std::string message = encode_message(from.message);
                     line({.id = last,
                           .parent = before,
                           .type = "message",
                           .timestamp = from.timestamp,
                           .run_id = {},
                           .payload = message,
                           .meta = {}});
                     report_attachments(from, from.message.parts, written);
                     return last;
                   });
  // Where there are branches a new message does not move the head by itself.
  if (!transcript.asides.empty()) {
    const std::string target = "{\"entryId\":" + json::quoted(last) + "}";
    line({.id = "head",
          .parent = std::nullopt,
          .type = "head",
          .timestamp = transcript.messages.back().timestamp,
          .run_id = {},
          .payload = target,
          .meta = {}});
  }
  written.files.push_back({.path = written.session + ".jsonl", .bytes = std::move(text)});
  return written;
}

}  // namespace quipu::dialect::jsonl
