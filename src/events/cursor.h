// Cursors: places in the log of events, as text.
//
// <store>.<segment>.<ordinal>.<told>.<check>: the store by the CRC of its id, the segment,
// the entry that comes next there, how many events of that entry were given out already
// (an entry of the journal stands for several), and the CRC of the id of the entry before
// the place, so that a store that lost the end of its log (it was restored) is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/fold.h"
#include "quipu/result.h"

namespace quipu::events {

struct Place {
  std::uint64_t segment = 1;
  Ordinal ordinal = 0;
  Ordinal told = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Cursor {
  Place place;
  std::uint32_t check = 0;  // 0 at the beginning of a segment
};

std::string cursor_text(std::string_view store_id, const Cursor& cursor);

/// `invalid_argument` for anything that `cursor_text` has not made for this store.
Result<Cursor> read_cursor(std::string_view store_id, std::string_view text);

}  // namespace quipu::events
