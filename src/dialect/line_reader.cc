#include "dialect/line_reader.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace quipu::dialect {
namespace {

// Most files are small; a large one is read in larger and larger pieces.
constexpr std::size_t kFirstChunk = std::size_t{64} << 10;
constexpr std::size_t kChunkMax = std::size_t{1} << 20;
constexpr std::size_t kFirstPeek = std::size_t{16} << 10;

bool ends_with_return(std::string_view text) { return text.ends_with('\r'); }

// The first object of a text that begins with one; empty when it does not.
std::string_view first_object(std::string_view text) {
  if (!text.starts_with('{')) return {};
  json::Cursor cursor(text);
  const std::string_view object = cursor.take();
  return object.size() < text.size() && json::is_object(object) ? object : std::string_view();
}

}  // namespace

const json::Member* Fields::find(std::string_view key) const {
  for (std::size_t i = members_.size(); i-- > 0;) {
    if (json::key_equals(members_[i].key, key)) return &members_[i];
  }
  return nullptr;
}

std::string Fields::text(std::string_view key) const {
  const json::Member* member = find(key);
  return member != nullptr && member->kind == json::Kind::kString
             ? json::decode_string(member->value)
             : std::string();
}

bool Fields::is_true(std::string_view key) const {
  const json::Member* member = find(key);
  return member != nullptr && member->value == "true";
}

std::string_view Fields::object(std::string_view key) const {
  const json::Member* member = find(key);
  return member != nullptr && member->kind == json::Kind::kObject ? member->value
                                                                  : std::string_view();
}

LineReader::LineReader(std::unique_ptr<fs::HostFile> file, Outline outline, ReadPosition from,
                       Describe describe)
    : file_(std::move(file)),
      outline_(std::move(outline)),
      describe_(std::move(describe)),
      chunk_(kFirstChunk),
      offset_(from.offset),
      settled_(from.offset) {}

// Reads on; what was given out is forgotten first. 0 at the end of the file.
Result<std::size_t> LineReader::fill() {
  buffer_.erase(0, from_);
  from_ = 0;
  if (at_end_) return std::size_t{0};
  const std::size_t before = buffer_.size();
  buffer_.resize(before + chunk_);
  auto got = file_->read_at(std::span(buffer_).subspan(before), offset_);
  buffer_.resize(before + (got.ok() ? *got : 0));
  if (!got.ok()) return got;
  offset_ += *got;
  at_end_ = *got < chunk_;
  chunk_ = std::min(2 * chunk_, kChunkMax);
  return got;
}

Result<bool> LineReader::next_line(Line& line) {
  std::size_t looked = 0;
  for (;;) {
    const std::string_view rest = std::string_view(buffer_).substr(from_);
    const std::size_t at = rest.find('\n', looked);
    if (at != std::string_view::npos) {
      line.text = rest.substr(0, at);
      line.end = rest.substr(at, 1);
      if (ends_with_return(line.text)) {
        line.text.remove_suffix(1);
        line.end = rest.substr(at - 1, 2);
      }
      from_ += at + 1;
      return true;
    }
    looked = rest.size();
    if (looked > kRecordBytesMax) return skip_large(line);
    TRY_ASSIGN(const std::size_t got, fill());
    if (got == 0) break;
  }
  line.text = std::string_view(buffer_).substr(from_);
  line.end = {};
  line.torn = true;
  from_ = buffer_.size();
  return !line.text.empty();
}

// A line that is too long for an entry: its end is looked for, its bytes are not kept.
Result<bool> LineReader::skip_large(Line& line) {
  line.large_size = buffer_.size() - from_;
  for (;;) {
    from_ = buffer_.size();
    TRY_ASSIGN(const std::size_t got, fill());
    if (got == 0) {
      line.torn = true;
      return true;
    }
    const std::size_t at = std::string_view(buffer_).find('\n');
    line.large_size += at == std::string_view::npos ? got : at;
    if (at == std::string_view::npos) continue;
    line.end = "\n";
    from_ = at + 1;
    return true;
  }
}

Result<bool> LineReader::next(Record& record) {
  record = Record();
  std::string_view text = fused_;
  if (fused_.empty()) {
    Line line;
    TRY_ASSIGN(const bool found, next_line(line));
    if (!found) return false;
    fused_torn_ = line.torn;
    fused_end_ = line.end;
    text = line.text;
    if (line.large_size != 0) {
      record.large_offset = settled_;
      record.large_size = line.large_size;
      record.end = line.end;
      record.kind = "raw";
      record.is_fact = true;
      record.problem = "too_large";
      settled_ += line.large_size + line.end.size();
      return true;
    }
  }
  fused_ = {};
  judge(text, record);
  const std::size_t size = record.bytes.size();
  if (size < text.size()) fused_ = text.substr(size);
  record.end = fused_.empty() ? fused_end_ : std::string_view();
  if (record.problem != "torn") settled_ += size + record.end.size();
  return true;
}

// What the record at the beginning of `text` is: all of it, or its first object.
void LineReader::judge(std::string_view text, Record& record) {
  record.bytes = text;
  const bool is_braced = text.starts_with('{') && text.ends_with('}');
  if (is_braced && json::scan_line(text, members_).ok()) {
    record.is_line = true;
    describe_(Fields(members_), record);
    return;
  }
  if (const std::string_view object = first_object(text); !object.empty()) {
    return judge(object, record);
  }
  if (is_braced && describe_lenient(text, record)) return;
  if (text.starts_with('[') && json::validate(text).ok()) {  // several records in one
    members_.clear();
    return describe_(Fields(members_), record);
  }
  record.kind = "raw";
  record.is_fact = true;
  if (!text.empty()) record.problem = fused_torn_ ? "torn" : "not_json";
}

// Readers less strict than ours take it, so what it says counts.
bool LineReader::describe_lenient(std::string_view text, Record& record) {
  if (!json::is_object(text)) return false;
  scrubbed_ = json::scrubbed(text);
  if (!json::scan_object(scrubbed_, members_).ok()) return false;
  describe_(Fields(members_), record);
  record.problem = "not_strict";
  return true;
}

Result<void> peek_lines(fs::HostFile& file, std::size_t bytes_max,
                        const std::function<bool(const Fields&)>& see) {
  std::string text;
  std::size_t seen = 0;
  std::vector<json::Member> members;
  for (std::size_t size = std::min(kFirstPeek, bytes_max);; size = std::min(4 * size, bytes_max)) {
    const std::size_t before = text.size();
    text.resize(size);
    TRY_ASSIGN(const std::size_t got, file.read_at(std::span(text).subspan(before), before));
    text.resize(before + got);
    const bool is_all = text.size() < size || size == bytes_max;
    while (seen < text.size()) {
      const std::size_t end = text.find('\n', seen);
      if (end == std::string::npos && !is_all) break;
      std::string_view line = std::string_view(text).substr(seen, end - seen);
      seen += line.size() + 1;
      if (const std::string_view object = first_object(line); !object.empty()) line = object;
      if (json::scan_object(line, members).ok() && !see(Fields(members))) return {};
    }
    if (is_all) return {};
  }
}

}  // namespace quipu::dialect
