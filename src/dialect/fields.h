// Fields: the members of a record, as far as they are asked for.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/json_scan.h"

namespace quipu::dialect {

/// Those of a record that no strict reader takes (half a surrogate pair, bytes that are
/// no UTF-8) read as U+FFFD there.
class Fields {
 public:
  /// `has_plain_keys`: none of the keys has escapes.
  explicit Fields(std::span<const json::Member> members, bool has_plain_keys = false)
      : members_(members), has_plain_keys_(has_plain_keys) {}
  /// Null when there is none. Of several the last: as JavaScript has it. Defined here, as
  /// all that ask it: with a key that is known when this is compiled, most members are told
  /// from it by their length, without a call.
  const json::Member* find(std::string_view key) const {
    for (std::size_t i = members_.size(); i-- > 0;) {
      const std::string_view own = members_[i].key;
      const bool is_same =
          own.size() == key.size() && std::memcmp(own.data(), key.data(), key.size()) == 0;
      if (is_same || (!has_plain_keys_ && json::key_equals(own, key))) return &members_[i];
    }
    return nullptr;
  }
  /// A string's text; empty when it is none.
  std::string text(std::string_view key) const {
    std::string text;
    read(key, text);
    return text;
  }
  /// The same into a string whose memory is used again.
  void read(std::string_view key, std::string& into) const { read_text(find(key), into); }
  bool is_true(std::string_view key) const {
    const json::Member* member = find(key);
    return member != nullptr && member->value == "true";
  }
  /// An object's members as they stand; empty when it is none.
  std::string_view object(std::string_view key) const {
    const json::Member* member = find(key);
    const bool is_object = member != nullptr && member->kind == json::Kind::kObject;
    return is_object ? member->value : std::string_view();
  }

 private:
  static void read_text(const json::Member* member, std::string& into);

  std::span<const json::Member> members_;
  bool has_plain_keys_;
};

}  // namespace quipu::dialect
