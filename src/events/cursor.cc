#include "events/cursor.h"

#include <array>
#include <charconv>
#include <cstdio>

#include "base/crc32c.h"

namespace quipu::events {
namespace {

template <class Number>
bool take(std::string_view& text, Number& number, int base, bool is_last) {
  const std::size_t dot = text.find('.');
  if ((dot == std::string_view::npos) != is_last) return false;
  const std::string_view digits = text.substr(0, dot);
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number, base);
  text.remove_prefix(is_last ? text.size() : dot + 1);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

std::string cursor_text(std::string_view store_id, const Cursor& cursor) {
  std::array<char, 80> text;
  const int size = std::snprintf(text.data(), text.size(), "%08x.%llu.%u.%u.%08x", crc32c(store_id),
                                 static_cast<unsigned long long>(cursor.place.segment),
                                 cursor.place.ordinal, cursor.place.told, cursor.check);
  return {text.data(), static_cast<std::size_t>(size)};
}

Result<Cursor> read_cursor(std::string_view store_id, std::string_view text) {
  Cursor cursor;
  std::uint32_t store = 0;
  std::string_view rest = text;
  const bool is_one = take(rest, store, 16, false) && take(rest, cursor.place.segment, 10, false) &&
                      take(rest, cursor.place.ordinal, 10, false) &&
                      take(rest, cursor.place.told, 10, false) &&
                      take(rest, cursor.check, 16, true) && cursor.place.segment > 0;
  if (is_one && store != crc32c(store_id)) {
    return Error(Code::kInvalidArgument, "this cursor is of another store")
        .with_hint("a copy of a store has places of its own: begin there without a cursor");
  }
  // Anything that reads the same but was not written by us is none.
  if (!is_one || cursor_text(store_id, cursor) != text) {
    return Error(Code::kInvalidArgument, "not a cursor of events")
        .with_hint("give one back as `events tail` printed it");
  }
  return cursor;
}

}  // namespace quipu::events
