// Claude: sessions that we write, read back.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "base/json_scan.h"
#include "claude_session.h"
#include "dialect/claude/describe.h"
#include "dialect/claude/slug.h"
#include "support/corpora.h"

namespace quipu::dialect::claude {
namespace {

using ::testing::ElementsAre;

Message said(Role role, std::vector<Part> parts) {
  Message message;
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

Part thinking(std::string text, std::string signature) {
  Part part;
  part.type = PartType::kThinking;
  part.text = std::move(text);
  part.signature = std::move(signature);
  return part;
}

Part attachment(std::string media_type, std::string data) {
  Part part;
  part.type = PartType::kAttachment;
  part.media_type = std::move(media_type);
  part.data = std::move(data);
  return part;
}

Transcript with(std::vector<Message> messages) {
  Transcript transcript;
  transcript.session_id = "s";
  transcript.cwd = "/home/a/my.project";
  transcript.title = "A \"title\"";
  transcript.created = "2026-01-01T00:00:00.000Z";
  transcript.model = "claude-x";
  transcript.seed = "seed";
  for (Message& message : messages) {
    const std::string number = std::to_string(transcript.messages.size());
    transcript.messages.push_back({.entry_id = "e" + number,
                                   .timestamp = "2026-01-01T00:00:0" + number + "Z",
                                   .message = std::move(message)});
  }
  return transcript;
}

Transcript worked() {
  Message answer = said(Role::kAssistant, {thinking("hm", "sig"), Part::of_text("I look."),
                                           Part::of_tool_use("toolu_1", "Bash", R"({"c":1})"),
                                           Part::of_tool_use("call|2", "my.tool", R"({"d":[2]})")});
  answer.provider = "anthropic";
  answer.model = "claude-y";
  answer.request_id = "req_1";
  answer.usage = Usage{.tokens_in = 3, .tokens_out = 5, .cache_read = 7, .cache_write = 11};
  return with({said(Role::kUser, {Part::of_text("Hello \xF0\x9F\x99\x82\n")}), std::move(answer),
               said(Role::kTool, {Part::of_tool_result("toolu_1", "out"),
                                  Part::of_tool_result("call|2", "bad", true)}),
               said(Role::kAssistant, {Part::of_text("Done.")}),
               said(Role::kUser, {Part::of_text("See"), attachment("image/png", "AAAA")})});
}

struct ReadBack {
  std::string path;
  ClaudeSession session;
  std::vector<std::string> said;  // role and what, a part each
};

ReadBack read_back(const Written& written) {
  ReadBack back;
  back.path = "/c/" + written.files.front().path;
  back.session = ClaudeSession::of(written.files.front().bytes, back.path);
  for (const Pick& pick : Claude().conversation(back.session.records, back.session.head)) {
    Lifted lifted;
    Claude().lift(back.session.records[pick.record].kind, back.session.records[pick.record].payload,
                  lifted);
    for (const LiftedMessage& message : lifted.messages()) {
      for (const PartView& part : lifted.parts(message)) {
        std::string what(name(message.view.role));
        for (const std::string_view piece : {part.text, part.tool_use_id, part.name, part.input,
                                             part.content, part.media_type, part.data}) {
          if (!piece.empty()) what += " " + std::string(piece);
        }
        back.said.push_back(what + (part.is_error ? " !" : ""));
      }
    }
  }
  return back;
}

TEST(ClaudeWrite, WhatIsWrittenIsReadBack) {
  const auto written = Claude().write(worked());
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(written->lost.empty());
  const ReadBack back = read_back(*written);
  EXPECT_EQ(back.path, "/c/projects/-home-a-my-project/" + written->session + ".jsonl");
  EXPECT_EQ(back.session.outline.session, written->session);
  EXPECT_EQ(back.session.outline.cwd, "/home/a/my.project");
  EXPECT_THAT(back.said,
              ElementsAre("user \"Hello \xF0\x9F\x99\x82\\n\"", "assistant \"hm\"",
                          "assistant \"I look.\"", R"(assistant "toolu_1" "Bash" {"c":1})",
                          ::testing::HasSubstr(R"("my_tool" {"d":[2]})"), R"(tool "toolu_1" "out")",
                          ::testing::EndsWith("\"bad\" !"), "assistant \"Done.\"", "user \"See\"",
                          "user \"image/png\" \"AAAA\""));
}

TEST(ClaudeWrite, UsageAndTitleComeBack) {
  const auto written = Claude().write(worked());
  ASSERT_TRUE(written.ok());
  const ReadBack back = read_back(*written);
  Note note;
  for (const StoredRecord& record : back.session.records) {
    Claude().note(record.kind, record.payload, note);
  }
  EXPECT_EQ(note.title, "A \"title\"");
  EXPECT_TRUE(note.title_is_given);
  EXPECT_EQ(note.cwd, "/home/a/my.project");
  std::set<std::string> keys;
  for (const UsageNote& usage : note.usage) keys.insert(usage.key);
  EXPECT_EQ(keys.size(), 2u);  // two answers, however many lines
  EXPECT_EQ(note.usage.front().usage.cache_write, 11u);
  EXPECT_EQ(note.usage.front().model, "claude-y");
}

TEST(ClaudeWrite, BytesAreAsTheVendorLooksForThem) {
  const auto written = Claude().write(worked());
  ASSERT_TRUE(written.ok());
  std::string_view rest = written->files.front().bytes;
  EXPECT_TRUE(is_uuid(written->session));
  std::size_t lines = 0;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    ASSERT_LT(line.size(), rest.size());  // ends with a line end
    rest.remove_prefix(line.size() + 1);
    if (rest.empty()) {
      EXPECT_TRUE(line.starts_with(R"({"type":"custom-title","customTitle":)"));
      break;
    }
    ++lines;
    EXPECT_TRUE(line.starts_with(R"({"parentUuid":)")) << line;
    const std::size_t uuid = line.find(R"(,"uuid":")");
    ASSERT_NE(uuid, std::string_view::npos);
    EXPECT_TRUE(is_uuid(line.substr(uuid + 9, 36)));
    EXPECT_TRUE(line.substr(uuid + 45).starts_with(R"(","timestamp":"2026-01-01T00:00:0)"));
    EXPECT_EQ(line.find("\": "), std::string_view::npos);
  }
  EXPECT_EQ(lines, 9u);
}

TEST(ClaudeWrite, TheSameSeedGivesTheSameBytes) {
  const auto first = Claude().write(worked());
  const auto second = Claude().write(worked());
  EXPECT_EQ(first->files.front().bytes, second->files.front().bytes);
  Transcript other = worked();
  other.seed = "another";
  EXPECT_NE(Claude().write(other)->session, first->session);
}

TEST(ClaudeWrite, WhatHasNoPlaceIsReported) {
  Part status;
  status.type = PartType::kStatus;
  status.text = "busy";
  Part raw = Part::of_tool_use("c", "t", "");
  raw.raw_input = "not json";
  Part alien;
  alien.type = PartType::kOther;
  alien.extra = R"({"type":"alien"})";
  Part kept;
  kept.type = PartType::kOther;
  kept.extra = R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}})";
  Message foreign = said(Role::kAssistant, {thinking("hm", "sig"), raw, alien, kept});
  foreign.provider = "openai";
  const auto written = Claude().write(
      with({said(Role::kUser, {Part::of_text("hi"), status, attachment("audio/wav", "AAAA"),
                               attachment("image/png", "")}),
            std::move(foreign), said(Role::kSystem, {Part::of_text("be brief")})}));
  ASSERT_TRUE(written.ok());
  std::vector<std::string> lost;
  for (const Loss& loss : written->lost) lost.push_back(loss.entry_id + " " + loss.what);
  EXPECT_THAT(lost, ElementsAre("e0 status", "e0 attachment", "e0 attachment", "e1 thinking",
                                "e1 arguments", "e1 part"));
  const std::string& bytes = written->files.front().bytes;
  EXPECT_NE(bytes.find("<system-reminder>\\nbe brief"), std::string::npos);
  EXPECT_NE(bytes.find("server_tool_use"), std::string::npos);
  EXPECT_NE(bytes.find(R"("input":{"input":"not json"})"), std::string::npos);
}

TEST(ClaudeWrite, CallsWithoutAnIdAndTheirResultsAreCounted) {
  const auto call = [] { return Part::of_tool_use("", "t", "{}"); };
  const auto written = Claude().write(
      with({said(Role::kAssistant, {call(), call()}),
            said(Role::kTool, {Part::of_tool_result("", "a"), Part::of_tool_result("", "b")})}));
  ASSERT_TRUE(written.ok());
  EXPECT_THAT(
      read_back(*written).said,
      ElementsAre(R"(assistant "toolu_nameless1" "t" {})", R"(assistant "toolu_nameless2" "t" {})",
                  R"(tool "toolu_nameless1" "a")", R"(tool "toolu_nameless2" "b")"));
}

TEST(ClaudeWrite, NothingIsAFileToo) {
  const auto written = Claude().write(Transcript());
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(written->files.front().path.starts_with("projects/-/"));
  EXPECT_TRUE(written->files.front().bytes.empty());
}

TEST(ClaudeSlug, EverythingButLettersAndDigitsIsADash) {
  EXPECT_EQ(slug_of("/home/a/my.project_1"), "-home-a-my-project-1");
  EXPECT_EQ(slug_of("/\xC3\xA9/\xF0\x9F\x99\x82"), "-----");  // é is one unit, the face two
}

TEST(ClaudeSlug, LongOnesEndWithAHash) {
  const std::string path = "/" + std::string(250, 'a');
  // "h * 31 + c" over its 251 units, as JavaScript has it.
  EXPECT_EQ(slug_of(path), "-" + std::string(199, 'a') + "-feo44x");
}

// ---- real sessions

Part owned(const PartView& view) {
  const auto text = [](std::string_view token) {
    return token.empty() ? std::string() : json::decode_string(token);
  };
  Part part;
  part.type = view.type;
  part.text = text(view.text);
  part.signature = text(view.signature);
  part.redacted = view.redacted;
  part.tool_use_id = text(view.tool_use_id);
  part.name = text(view.name);
  part.input = view.input;
  part.is_error = view.is_error;
  part.details = view.details;
  part.media_type = text(view.media_type);
  part.data = text(view.data);
  part.extra = view.type == PartType::kOther ? view.whole : std::string_view();
  std::vector<PartView> content;
  read_content(view.content, content);
  for (const PartView& inner : content) part.content.push_back(owned(inner));
  return part;
}

Transcript transcript_of(const ClaudeSession& session) {
  Transcript transcript = with({});
  transcript.seed = session.outline.session;
  for (const Pick& pick : Claude().conversation(session.records, session.head)) {
    const StoredRecord& record = session.records[pick.record];
    Lifted lifted;
    Claude().lift(record.kind, record.payload, lifted);
    for (const LiftedMessage& message : lifted.messages()) {
      TranscriptMessage next;
      next.entry_id = record.id;
      next.timestamp = session.described[pick.record].timestamp;
      next.message.role = message.view.role;
      next.message.provider = "anthropic";
      for (const PartView& part : lifted.parts(message)) next.message.parts.push_back(owned(part));
      transcript.messages.push_back(std::move(next));
    }
  }
  return transcript;
}

std::string flat(const Part& part) {
  std::string text = std::string(name(part.type)) + "|" + part.text + "|" + part.signature + "|" +
                     part.tool_use_id + "|" + part.name + "|" + part.input + "|" + part.media_type +
                     "|" + part.data + (part.is_error ? "!" : "");
  for (const Part& inner : part.content) text += "[" + flat(inner) + "]";
  return text;
}

// What a transcript says, without what only a screen shows and what says nothing.
std::vector<std::string> told(const Transcript& transcript) {
  std::vector<std::string> parts;
  for (const TranscriptMessage& message : transcript.messages) {
    for (const Part& part : message.message.parts) {
      const bool is_blank =
          part.type == PartType::kText && !says_something(json::quoted(part.text));
      if (part.type == PartType::kStatus || is_blank) continue;
      parts.push_back(std::string(name(message.message.role)) + " " + flat(part));
    }
  }
  return parts;
}

std::vector<std::string> corpus_files() {
  std::vector<std::string> paths;
  const std::string place = corpora();
  if (place.empty()) return paths;
  for (const char* below : {"/claude", "/recorded/claude"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place + below)) {
      if (entry.path().extension() == ".jsonl") paths.push_back(entry.path());
    }
  }
  return paths;
}

// They are given ids.
bool has_nameless_calls(const Transcript& transcript) {
  for (const TranscriptMessage& message : transcript.messages) {
    for (const Part& part : message.message.parts) {
      if (part.type == PartType::kToolUse && part.tool_use_id.empty()) return true;
    }
  }
  return false;
}

TEST(ClaudeWrite, RealSessionsSayTheSame) {
  for (const std::string& path : corpus_files()) {
    SCOPED_TRACE(path);
    const Transcript before = transcript_of(ClaudeSession::read(fs::HostFiles::system(), path));
    const auto written = Claude().write(before);
    ASSERT_TRUE(written.ok());
    const Transcript after = transcript_of(
        ClaudeSession::of(written->files.front().bytes, "/c/" + written->files.front().path));
    EXPECT_EQ(told(after).size(), told(before).size());
    if (has_nameless_calls(before)) continue;
    EXPECT_EQ(told(after), told(before));
  }
}

}  // namespace
}  // namespace quipu::dialect::claude
