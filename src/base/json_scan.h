// A strict JSON scanner: the door (RFC 8259, and no more than that).
//
// Accepts exactly: UTF-8, no BOM, no lone surrogates written as \u escapes,
// containers nested to at most kJsonDepthMax, one value. Numbers of any size
// and precision pass, because their text is stored as it came. It finds
// structure only: nothing is converted, copied or allocated but the list of
// members. Why not simdjson: it takes duplicate keys and refuses big integers,
// 1e400 and lone surrogates, the wrong way round for a door.
//
// Bytes come from users and disks: every function here is total.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::json {

enum class Kind : unsigned char { kNull, kBool, kNumber, kString, kArray, kObject };

/// One member of an object; views into the scanned text.
struct Member {
  std::string_view key;    // as written, without the quotes; may hold escapes
  std::string_view value;  // as written, without surrounding white space
  Kind kind = Kind::kNull;
};

/// Scans `text` as one JSON object, white space around it allowed, and lists
/// its top-level members in order (into `members`, which is cleared first and
/// keeps its capacity). `invalid_argument` with the byte offset and the reason
/// otherwise. Duplicate keys are not looked for: see `find_duplicate_key`.
Result<void> scan_object(std::string_view text, std::vector<Member>& members);

/// The same for an object that is to be stored as one line: CR and LF between
/// its tokens are refused. (Inside strings they are no JSON anyway.)
Result<void> scan_line(std::string_view text, std::vector<Member>& members);
/// The same for an object that is to be a member of such a line: none around it
/// either, and one level less to nest.
Result<void> validate_inner_object(std::string_view text);

/// Whether `text` is one valid JSON value; on failure says where and why.
Result<void> validate(std::string_view text);

/// Whether `text` is one JSON object in the eyes of programs less strict than
/// the door: strings may hold bytes that are no UTF-8, and lone surrogates, and containers nest
/// to a thousand.
/// Enough to tell a whole line from a cut one: a proper prefix of an object is
/// never an object.
bool is_object(std::string_view text);

/// Walks the top-level members of an object that is known to be valid (its seal
/// or `scan_object` said so), skipping values without checking them. Total all
/// the same: on text that is no object it stops early.
class MemberWalk {
 public:
  explicit MemberWalk(std::string_view object);
  std::optional<Member> next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Walks the elements of an array in the same way.
class ElementWalk {
 public:
  explicit ElementWalk(std::string_view array);
  /// `key` is empty.
  std::optional<Member> next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Reads a value that is known to be valid from its first byte on, each byte once:
/// goes into containers instead of skipping them first. The text may go on behind
/// the value. Total all the same: on anything else it stops early.
///
///   Cursor at(object);
///   std::string_view key;
///   for (at.enter(); at.next_member(key);) use(key, at.take());
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// What stands here; kNull at the end of the text.
  Kind kind() const;
  /// The value here, and moves past it.
  std::string_view take();
  /// Into the container here; false when there is none.
  bool enter();
  /// To the next member's value, which must be taken or entered before the next
  /// call; false, and past the object, when there is no more.
  bool next_member(std::string_view& key);
  /// The same in an array.
  bool next_element();

  const char* position() const { return at_; }

 private:
  bool next(char close);

  const char* at_;
  const char* end_;
};

/// From the first byte of the value of `key` to the end of `object`, without looking
/// for the end of the value; empty when there is no such member.
std::string_view value_onward(std::string_view object, std::string_view key);

/// The first member of a valid object whose key is `key` (keys are compared
/// decoded), or nothing.
std::optional<Member> find_member(std::string_view object, std::string_view key);

/// A key that occurs twice, decoded, or nothing. Linear in the members.
std::optional<std::string> find_duplicate_key(const std::vector<Member>& members);

/// The text of a valid string token, with or without its quotes, escapes
/// resolved. A lone surrogate becomes U+FFFD.
std::string decode_string(std::string_view token);

/// The same JSON with everything in its strings that no strict reader takes
/// (bytes that are no UTF-8, lone surrogates) as U+FFFD. For text that `is_object`
/// accepts.
std::string scrubbed(std::string_view text);

/// True when the key, decoded, equals `plain`. Allocates only for keys with escapes.
bool key_equals(std::string_view key, std::string_view plain);

/// Appends `text` as a JSON string with quotes. Control characters, quote and
/// backslash are escaped; bytes that are no UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

}  // namespace quipu::json
