// What `opencode export` writes and `opencode import` reads: {"info": session, "messages":
// [element…]}.
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/document_reader.h"
#include "dialect/json_members.h"
#include "dialect/opencode/places.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

std::string_view from_to(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

struct Piece {
  std::string_view bytes;
  bool is_message = false;
};

// The session and its messages are records, wherever they stand; what stands before the
// first is a fact of kind "head", what stands behind each its end.
class ExportReader final : public Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(std::string text) {
    std::unique_ptr<ExportReader> reader(new ExportReader(std::move(text)));
    TRY(reader->find());
    return std::unique_ptr<Reader>(std::move(reader));
  }

  const Outline& outline() const override { return outline_; }
  ReadPosition position() const override { return {}; }
  bool is_whole() const override { return true; }

  Result<bool> next(Record& record) override {
    if (at_ > pieces_.size()) return false;
    record = Record();
    const char* end = text_.data() + text_.size();
    const char* behind = at_ < pieces_.size() ? pieces_[at_].bytes.data() : end;
    record.is_fact = true;
    if (at_ == 0) {
      record.bytes = from_to(text_.data(), behind);
      record.end = {};
      record.kind = "head";
    } else {
      describe(pieces_[at_ - 1], record);
      record.end = from_to(record.bytes.data() + record.bytes.size(), behind);
      if (record.bytes.size() > kRecordBytesMax / 2) {  // as text it may be twice as long
        record.large_offset = static_cast<std::uint64_t>(record.bytes.data() - text_.data());
        record.large_size = record.bytes.size();
        record.bytes = {};
      }
    }
    ++at_;
    return true;
  }

 private:
  explicit ExportReader(std::string text) : text_(std::move(text)) {}

  Result<void> find() {
    const bool is_strict = json::validate(text_).ok();
    if (!is_strict && !json::validate(json::scrubbed(text_)).ok()) {
      return Error(Code::kInvalidArgument, "no JSON document");
    }
    json::Cursor cursor(text_);
    std::string_view key;
    bool has_info = false;
    bool has_messages = false;
    for (cursor.enter(); cursor.next_member(key);) {
      const std::string_view value = cursor.take();
      if (!has_info && json::key_equals(key, "info")) {
        has_info = true;
        see_session(value);
        pieces_.push_back({.bytes = value, .is_message = false});
      }
      if (!has_messages && json::key_equals(key, "messages")) {
        has_messages = true;
        json::ElementWalk walk(value);
        while (const auto element = walk.next()) {
          pieces_.push_back({.bytes = element->value, .is_message = true});
        }
      }
    }
    if (outline_.session.empty()) {
      return Error(Code::kInvalidArgument, "no exported session of opencode");
    }
    find_last();
    return {};
  }

  void see_session(std::string_view info) {
    const std::string session = json::is_object(info) ? json::scrubbed(info) : std::string("{}");
    outline_.session = text_in(session, "id");
    outline_.cwd = text_in(session, "directory");
    outline_.spawned_by = text_in(session, "parentID");
    revert_ = revert_of(session);
    if (const auto created = created_of(session)) {
      outline_.created = format_timestamp(static_cast<std::int64_t>(*created));
    }
  }

  void find_last() {
    for (const Piece& piece : pieces_) {
      if (!piece.is_message) continue;
      const std::string id = text_in(object_in(piece.bytes, "info"), "id");
      if (!revert_.hides(id)) last_ = id;
    }
  }

  void describe(const Piece& piece, Record& record) {
    record.bytes = piece.bytes;
    record.kind = "session";
    std::string scrubbed;
    std::string_view object = piece.bytes;
    record.is_line = json::scan_line(object, members_).ok();
    if (!record.is_line && !json::validate(object).ok()) {
      scrubbed = json::scrubbed(object);
      object = scrubbed;
      record.problem = "not_strict";
    }
    if (!json::is_object(object)) {
      record.is_line = false;
      record.kind = "raw";
      record.problem = "not_an_object";
    } else if (piece.is_message) {
      record.kind = "message";
      record.id = text_in(object_in(object, "info"), "id");
      describe_message(object, last_, record);
    } else {
      record.id = outline_.session;
    }
  }

  std::string text_;
  std::vector<Piece> pieces_;
  Outline outline_;
  Revert revert_;
  std::string last_;
  std::size_t at_ = 0;  // 0: the head
  std::vector<json::Member> members_;
};

}  // namespace

bool is_document(std::string_view head) {
  // Only the beginning of the document is there, perhaps of `info` itself.
  const std::string_view info = json::value_onward(head, "info");
  return info.starts_with('{') && text_in(info, "id").starts_with("ses");
}

Result<std::unique_ptr<Reader>> open_document(const Source& source, fs::HostFiles& files) {
  TRY_ASSIGN(const auto file, files.open(source.path));
  TRY_ASSIGN(std::string text, read_document(*file));
  auto reader = ExportReader::open(std::move(text));
  if (!reader.ok()) return std::move(reader).error().in(source.path);
  return reader;
}

}  // namespace quipu::dialect::opencode
