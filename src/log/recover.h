// Recovery: from the bytes of a log to the lines that count. Reads only.
//
// The reader rule: a line counts when it ends in LF, its seal has the fixed
// shape and its checksum extends the line before, or the one before lines without
// a seal that its writer did not see; lines are held while their seal says that
// more are to come and released by the line that says 0000.
// What does not fit is decided by this table (docs/format.md has the prose):
//
//   after the last whole batch                        | verdict
//   --------------------------------------------------+--------------------------
//   nothing                                           | clean
//   a whole JSON object without a seal                | adopted, a batch of one
//   anything else, and no whole batch after it        | torn: all of it
//   damage, then a whole batch: in a batch that has   | rot: the bad lines are
//     its commit line                                 |   hidden, the good count
//   … in a batch without its commit line              | incomplete: all hidden
//
// Invariants this rests on (writer.h keeps them):
//   1. At most one batch in a log is not yet durable; so a whole batch after
//      the damage proves that the damaged bytes were once whole and durable.
//   2. A torn tail is cut off before anything is written behind it.
//   3. A batch after damage is believed only if its ids are new: a stale block
//      of this very log cannot pass for later entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/seal.h"
#include "model/session_header.h"

namespace quipu::log {

/// A line that counts, without its line feed.
struct Line {
  std::uint64_t offset = 0;
  std::string_view text;
  bool sealed = false;  // else adopted
};

enum class DamageKind : unsigned char {
  kDamagedLine,      // hidden; lines around it count
  kIncompleteBatch,  // whole lines of a batch whose end was never written
};

struct Damage {
  DamageKind kind = DamageKind::kDamagedLine;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // line feed included
};

/// Who receives the lines, in log order.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void accept(const Line& line) = 0;
  virtual void damaged(const Damage& damage) = 0;
  /// Whether a line with this line's id was accepted before.
  virtual bool knows(std::string_view line) = 0;
};

struct Recovered {
  /// End of the last line that counts: everything below is settled for ever.
  std::uint64_t committed = 0;
  std::uint32_t chain = 0;
  /// Bytes from `committed` on that are torn; 0 when the log ends cleanly.
  std::uint64_t torn_bytes = 0;
};

/// Decides about `bytes`, which begin at `offset` of a log where everything
/// before is settled with the chain value `chain`.
Recovered recover(std::string_view bytes, std::uint64_t offset, std::uint32_t chain,
                  LineSink& sink);

/// What the header says, if that is what a log's first line is; else a default.
SessionHeader header_of(std::string_view first_line);

/// The session id that seeds the chain: the one in the header if that fits its own
/// seal or has none, else `stem`, the file's name.
std::string chain_session_id(std::string_view first_line, std::string_view stem);

/// The end of the last line in `bytes` that a writer will never cut off: one
/// that commits a batch or stands without a seal as a whole JSON object.
/// 0 when there is none. For readers, which hold no lock and must not map what
/// may be truncated under them.
std::size_t settled_end(std::string_view bytes);

}  // namespace quipu::log
