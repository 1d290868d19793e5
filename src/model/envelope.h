// The envelope of a stored entry: its members, found without understanding the
// payload.
//
// Two kinds of lines are read. Sealed lines came through the door and are
// trusted to be well-formed. Adopted lines were written by other programs: any
// JSON object at all, of which we make an entry:
//   * `id` missing or no string: `adopted-<offset>`; taken: `<id>~2`, `~3` …
//   * `type` missing: "custom"; `timestamp` may be a number (s or ms);
//   * `payload` no object: the whole object is the payload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/entry_type.h"

namespace quipu {

/// A JSON string's text: a view where the token has no escapes, else a copy.
class Text {
 public:
  Text() = default;
  /// `token` is a valid JSON string token, quotes included.
  static Text of_token(std::string_view token);
  static Text of(std::string text);
  static Text viewing(std::string_view text);
  std::string_view view() const { return owned_ ? std::string_view(*owned_) : view_; }
  bool empty() const { return view().empty(); }
  /// Not the bytes of the line: escapes were resolved, or a number converted.
  bool is_copy() const { return owned_.has_value(); }

 private:
  std::string_view view_;
  std::optional<std::string> owned_;
};

enum class ParentLink : unsigned char { kAbsent, kNull, kEntry };

/// Views into the line it was read from.
struct Envelope {
  Text id;
  ParentLink parent_link = ParentLink::kAbsent;
  Text parent;  // kEntry only
  Text type;
  EntryType type_code = EntryType::kOther;
  Text timestamp;
  Text run_id;
  std::string_view payload;
  std::string_view meta;
};

/// Reads all members of a line that is known to be a JSON object.
Envelope read_envelope(std::string_view object);

/// As far as the index needs it: id, parent, type, and for facts that point at
/// an entry the payload. Stops as soon as it has them, which for lines in our
/// own order is long before the payload.
Envelope read_envelope_prefix(std::string_view object);

/// Makes the envelope of an adopted line whole, `id` excepted.
void adopt(Envelope& envelope, std::string_view object);

/// The entry that a `head`, `label` or `redaction` fact points at.
std::optional<Text> fact_target(EntryType type, std::string_view payload);

/// Writes an entry in our own member order. `parent` nothing: no `parentId`
/// (facts); empty: null. Absent members are left out.
struct EntryParts {
  std::string_view id;
  std::optional<std::string_view> parent;
  std::string_view type;
  std::string_view timestamp;
  std::string_view run_id;
  std::string_view payload;
  std::string_view meta;
};
void append_entry_json(std::string& out, const EntryParts& parts);
/// The same up to and including `"payload":`. Returns where a `"parentId":…,`
/// would go in.
std::size_t append_entry_start(std::string& out, const EntryParts& parts);

}  // namespace quipu
