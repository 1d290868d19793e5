#include "view/log_cursor.h"

#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::view {

LogCursor cursor_at_end(const SurveyedLog& log, const LogView& own, std::uint32_t tail_crc) {
  return {.device = log.device,
          .inode = log.inode,
          .settled_bytes = own.settled_bytes(),
          .modified_ms = log.modified_ms,
          .entries = own.fold().count,
          .tail_crc = tail_crc};
}

bool is_fresh(const LogCursor& cursor, const SurveyedLog& log) {
  return cursor.device == log.device && cursor.inode == log.inode &&
         cursor.settled_bytes == log.bytes && cursor.modified_ms == log.modified_ms;
}

Result<bool> is_beginning(const LogCursor& cursor, const LogView& own, const SurveyedLog& log) {
  if (cursor.device != log.device || cursor.inode != log.inode) return false;
  const Ordinal count = own.fold().count;
  if (cursor.entries == 0 || cursor.entries > count) return false;
  TRY_ASSIGN(const StoredEntry last, own.entry(cursor.entries - 1));
  if (crc32c(last.text) != cursor.tail_crc) return false;
  // Another time alone says nothing: the log may have grown between the look at it and the
  // reading. But what another program wrote has no seal: of the same size at another time,
  // whatever it was, it was no append.
  return !last.adopted || cursor.entries < count || cursor.modified_ms == log.modified_ms;
}

}  // namespace quipu::view
