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
#include "dialect/reader.h"

namespace quipu::dialect {

/// The members of a record, as far as they are asked for. Those of a record that no
/// strict reader takes (half a surrogate pair, bytes that are no UTF-8) read as U+FFFD
/// there.
class Fields {
 public:
  /// `has_plain_keys`: none of the keys has escapes.
  explicit Fields(std::span<const json::Member> members, bool has_plain_keys = false)
      : members_(members), has_plain_keys_(has_plain_keys) {}
  /// Null when there is none. Of several the last: as JavaScript has it.
  const json::Member* find(std::string_view key) const;
  /// A string's text; empty when it is none.
  std::string text(std::string_view key) const;
  /// The same into a string whose memory is used again.
  void read(std::string_view key, std::string& into) const;
  bool is_true(std::string_view key) const;
  /// An object's members as they stand; empty when it is none.
  std::string_view object(std::string_view key) const;

 private:
  std::span<const json::Member> members_;
  bool has_plain_keys_;
};

class LineReader : public Reader {
 public:
  /// `describe` says what a record is: `kind`, `id`, `link`, `timestamp` … Of a line
  /// that is an array there are no fields, only its bytes.
  using Describe = std::function<void(const Fields& fields, Record& record)>;

  /// `outline` is what the caller found in the file's first lines.
  LineReader(std::unique_ptr<fs::HostFile> file, Outline outline, ReadPosition from,
             Describe describe);

  const Outline& outline() const override { return outline_; }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return {.offset = settled_}; }
  std::string_view before_position(std::size_t bytes) const override;

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
  Result<std::size_t> first_chunk() const;
  Result<std::size_t> fill();
  /// What is read and not yet given out.
  std::string_view rest() const { return {buffer_.get() + from_, to_ - from_}; }
  void judge(std::string_view text, Record& record);
  void take_large(const Line& line, Record& record);
  bool describe_lenient(std::string_view text, Record& record);

  std::unique_ptr<fs::HostFile> file_;
  Outline outline_;
  Describe describe_;

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t from_ = 0;   // of what is not yet given out
  std::size_t to_ = 0;     // of what is read
  std::size_t chunk_ = 0;  // to be read next; 0: nothing was read yet
  bool at_end_ = false;
  std::uint64_t offset_;    // of the end of the buffer in the file
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

/// The lines at the beginning of a file that are JSON objects, at most `bytes_max`
/// bytes: calls `see` with each until it answers false.
Result<void> peek_lines(fs::HostFile& file, std::size_t bytes_max,
                        const std::function<bool(const Fields&)>& see);

}  // namespace quipu::dialect
