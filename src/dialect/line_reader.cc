#include "dialect/line_reader.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"
#include "quipu/limits.h"

namespace quipu::dialect {
namespace {

bool ends_with_return(std::string_view text) { return text.ends_with('\r'); }

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// A line in short, made while it goes by: JSON without its long strings, and without the
// end of lists that are long even so, but for the outer ones. Checks nothing: of a line that
// is no JSON, or has no end, it makes none.
//
// A record that is read again must give the same bytes: they are stored.
class Abridger {
 public:
  void add(std::string_view some) {
    for (const char c : some) {
      if (is_in_string_) {
        add_in_string(c);
      } else {
        add_between(c);
      }
    }
  }
  std::string take() { return std::move(text_); }

 private:
  static constexpr std::size_t kStringBytes = std::size_t{64} << 10;
  static constexpr std::size_t kListBytes = std::size_t{1} << 20;
  static constexpr std::size_t kBytesMax = kRecordBytesMax / 2;
  static constexpr std::size_t kWholeLevels = 2;
  static constexpr std::size_t kLevelsMax = kJsonDepthMax / 2;  // an entry has levels of its own

  void keep(char c) {
    if (cut_at_ == 0 && level_ <= kLevelsMax && text_.size() < kBytesMax) text_ += c;
  }

  void add_between(char c) {
    if (c == ' ' || c == '\t' || c == '\r') return;
    const bool may_cut = cut_at_ == 0 && (lists_ & 1) != 0 && level_ > kWholeLevels;
    if (c == ',' && may_cut && text_.size() > kListBytes) cut_at_ = level_;
    if (c == '{' || c == '[') {
      ++level_;
      lists_ = lists_ << 1 | (c == '[' ? 1 : 0);
    }
    if ((c == '}' || c == ']') && level_ > 0) {
      lists_ >>= 1;
      if (--level_ < cut_at_) cut_at_ = 0;
    }
    is_in_string_ = c == '"';
    string_bytes_ = 0;
    keep(c);
    string_at_ = text_.size();
  }

  void add_in_string(char c) {
    const bool is_end = c == '"' && !is_escaped_;
    is_escaped_ = c == '\\' && !is_escaped_;
    if (is_end) {
      if (string_bytes_ > kStringBytes) stand_in();
      is_in_string_ = false;
      return keep(c);
    }
    if (++string_bytes_ <= kStringBytes) keep(c);
  }

  // Bytes in base64 are none with words in them.
  void stand_in() {
    if (cut_at_ != 0) return;
    const std::string_view before = std::string_view(text_).substr(0, string_at_);
    const std::string_view string = std::string_view(text_).substr(string_at_);
    const bool is_bytes = before.ends_with("\"data\":\"") || string.starts_with("data:");
    text_.resize(string_at_);
    if (is_bytes) return;
    const std::size_t tenths = (string_bytes_ + 50'000) / 100'000;
    text_ += "[" + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
             " MB, in an attachment]";
  }

  std::string text_;
  std::size_t level_ = 0;
  std::uint64_t lists_ = 0;  // a bit for each level, the innermost lowest: a list
  std::size_t cut_at_ = 0;   // the level whose end is waited for; 0: none
  bool is_in_string_ = false;
  bool is_escaped_ = false;
  std::size_t string_at_ = 0;  // in `text_`
  std::size_t string_bytes_ = 0;
};

}  // namespace

LineReader::LineReader(LineWindow file, Outline outline, Describe describe)
    : window_(std::move(file)),
      outline_(std::move(outline)),
      describe_(std::move(describe)),
      settled_(window_.begin()) {
  members_.reserve(kUsualMembers);
}

Result<bool> LineReader::next_line(Line& line) {
  std::size_t looked = 0;
  for (;;) {
    const std::string_view rest = window_.rest();
    const std::size_t at = rest.find('\n', looked);
    if (at != std::string_view::npos && at <= kRecordBytesMax) {
      line.text = rest.substr(0, at);
      line.end = rest.substr(at, 1);
      if (ends_with_return(line.text)) {
        line.text.remove_suffix(1);
        line.end = rest.substr(at - 1, 2);
      }
      window_.take(at + 1);
      return true;
    }
    looked = rest.size();
    if (looked > kRecordBytesMax) return skip_large(line);
    TRY_ASSIGN(const std::size_t got, window_.fill());
    if (got == 0) break;
  }
  line.text = window_.rest();
  line.end = {};
  line.torn = true;
  window_.take(line.text.size());
  return !line.text.empty();
}

// A line that is too long for an entry: its end is looked for, its bytes are not kept.
Result<bool> LineReader::skip_large(Line& line) {
  Abridger abridger;
  while (!line.torn && line.end.empty()) {
    const std::size_t at = window_.rest().find('\n');
    const std::string_view some = window_.rest().substr(0, at);
    abridger.add(some);
    line.large_size += some.size();
    window_.take(some.size());
    if (at != std::string_view::npos) {
      line.end = "\n";
      window_.take(line.end.size());
    } else {
      TRY_ASSIGN(const std::size_t got, window_.fill());
      line.torn = got == 0;
    }
  }
  abridged_ = abridger.take();
  return true;
}

// Nearly every line is an object in the buffer, its line end right behind it: found by
// the look that checks it.
bool LineReader::take_whole(Record& record) {
  const std::string_view rest = window_.rest();
  const auto [size, has_plain_keys] = json::scan_leading_line(rest, members_);
  if (size == 0 || size > kRecordBytesMax) return false;
  const std::string_view after = rest.substr(size, 2);
  const std::size_t end = after.starts_with('\n') ? 1 : after == "\r\n" ? 2 : 0;
  if (end == 0) return false;
  record.bytes = rest.substr(0, size);
  record.end = rest.substr(size, end);
  record.is_line = true;
  describe_(Fields(members_, has_plain_keys), record);
  window_.take(size + end);
  settled_ += size + end;
  return true;
}

Result<bool> LineReader::next(Record& record) {
  record.clear();
  if (fused_.empty() && take_whole(record)) return true;
  std::string_view text = fused_;
  if (fused_.empty()) {
    Line line;
    TRY_ASSIGN(const bool found, next_line(line));
    if (!found) return false;
    fused_torn_ = line.torn;
    fused_end_ = line.end;
    text = line.text;
    if (line.large_size != 0) {
      take_large(line, record);
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
  if (const std::string_view inner = without_blanks(text);
      inner.size() < text.size() && json::scan_line(inner, members_).ok()) {
    return describe_(Fields(members_), record);
  }
  if (text.starts_with('[') && json::validate(text).ok()) {  // several records in one
    members_.clear();
    return describe_(Fields(members_), record);
  }
  record.kind = "raw";
  record.is_fact = true;
  if (!text.empty()) record.problem = fused_torn_ ? "torn" : "not_json";
}

void LineReader::take_large(const Line& line, Record& record) {
  record.large_offset = settled_;
  record.large_size = line.large_size;
  record.end = line.end;
  if (json::is_object(abridged_)) abridged_ = json::scrubbed(abridged_);
  const bool is_list = abridged_.starts_with('[') && json::validate(abridged_).ok();
  members_.clear();
  if (is_list || json::scan_line(abridged_, members_).ok()) {
    record.bytes = abridged_;
    describe_(Fields(members_), record);
    record.problem = "too_large";
  } else {
    record.kind = "raw";
    record.is_fact = true;
    record.problem = line.torn ? "torn" : "too_large";
  }
  if (record.problem != "torn") settled_ += line.large_size + line.end.size();
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

}  // namespace quipu::dialect
