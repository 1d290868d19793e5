// LineReader: a source that is one file of JSON lines.
//
// Gives back every byte: what stands between two line ends is a record, whatever it
// is. Two objects on one line (`}{`: somebody restored a file without its last line end,
// and the agent went on) are two records without a line end between them. Lines that
// are no object are facts of kind "raw"; the last line, when it is cut off, is one with
// the problem "torn", and the position stays before it. A line that is too long for an
// entry is described by what it says in short.
//
// Memory: one line, at most kRecordBytesMax of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_line.h"
#include "dialect/fields.h"
#include "dialect/line_window.h"
#include "dialect/reader.h"

namespace quipu::dialect {

class LineReader : public Reader {
 public:
  /// `describe` says what a record is: `kind`, `id`, `link`, `timestamp` … Of a line
  /// that is an array there are no fields, only its bytes.
  using Describe = std::function<void(const Fields& fields, Record& record)>;

  /// `outline` is what the caller found in the file's first lines.
  LineReader(LineWindow file, Outline outline, Describe describe);

  const Outline& outline() const override { return outline_; }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return {.offset = settled_}; }
  std::string_view before_position(std::size_t bytes) const override {
    return window_.before(settled_, bytes);
  }

 private:
  /// Where the next line ends: at a line end in the buffer, at the end of the
  /// file, or beyond what a record may be.
  struct Line {
    std::string_view text;  // without its end
    std::string_view end;
    std::uint64_t large_size = 0;  // then `text` is empty
    bool torn = false;             // no line end
  };
  bool take_whole(Record& record);
  Result<bool> next_line(Line& line);
  Result<bool> skip_large(Line& line);
  void judge(std::string_view text, Record& record);
  void take_large(const Line& line, Record& record);
  bool describe_lenient(std::string_view text, Record& record);

  LineWindow window_;
  Outline outline_;
  Describe describe_;

  std::uint64_t settled_;   // after the last whole record
  std::string_view fused_;  // what is left of a line with several objects
  std::string_view fused_end_;
  bool fused_torn_ = false;
  std::vector<json::Member> members_;
  std::string scrubbed_;
  std::string abridged_;  // of a large line
};

/// A file of JSON lines that its agent writes anew instead of adding to it.
class WholeLineReader final : public LineReader {
 public:
  using LineReader::LineReader;
  ReadPosition position() const override { return {}; }
  bool is_whole() const override { return true; }
};

}  // namespace quipu::dialect
