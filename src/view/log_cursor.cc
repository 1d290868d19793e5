#include "view/log_cursor.h"

#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::view {

bool is_fresh(const LogCursor& cursor, const SurveyedLog& log) {
  return cursor.device == log.device && cursor.inode == log.inode &&
         cursor.settled_bytes == log.bytes && cursor.modified_ms == log.modified_ms;
}

Result<bool> goes_on(const LogCursor& cursor, const LogView& own, const SurveyedLog& log) {
  const FoldState& fold = own.fold();
  if (cursor.device != log.device || cursor.inode != log.inode) return false;
  if (cursor.entries == 0 || cursor.entries > fold.count) return false;
  // The same size at another time: whatever it was, it was no append.
  if (cursor.entries == fold.count && cursor.modified_ms != log.modified_ms) return false;
  TRY_ASSIGN(const StoredEntry last, own.entry(cursor.entries - 1));
  return crc32c(last.text) == cursor.tail_crc;
}

}  // namespace quipu::view
