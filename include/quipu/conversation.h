// The conversation of a session: what was said on the way to a head, message by
// message, whoever's form it is stored in.
//
// For a session that was imported, that agent's own rules say what belongs to it:
// branches, compactions, records that were replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct Utterance {
  std::string entry_id;
  std::string type;       // the entry's
  std::string timestamp;  // RFC 3339; may be empty
  Message message;
};

/// Oldest first; what a compaction covers is in its summary, a message of the user.
/// Redacted entries are left out. `head` empty: the session's.
Result<std::vector<Utterance>> read_conversation(Store& store, std::string_view session_id,
                                                 std::string_view head = {});

}  // namespace quipu
