// Said: what an entry says, in words that somebody would search for.
//
//   message, records of other agents   texts, thinking, calls (the tool's name and the strings of
//   its
//                                      arguments), results of tools, names of attachments
//   compaction_summary, branch_summary the summary
//   session_header, session_info,      title and label
//   label, records that give a title
//
// What is no text is left out: pictures and other bytes in base64, signatures, what only a
// screen shows of a result. Redactions are not looked at: that is for who asks.
//
// It follows from the entry and the few before it alone, so that what was put into an index
// can be told again to take it out. A change of what is said is a new kSaidVersion.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/lineage.h"
#include "model/message_view.h"

namespace quipu::view {

inline constexpr int kSaidVersion = 1;

struct Said {
  /// Empty: nothing.
  std::string text{};
  /// "user", "assistant", "system", "tool", "summary", "title", "label"; each once.
  std::vector<std::string_view> roles{};
  /// Tools that are called or that answer, in lower case; each once.
  std::vector<std::string> tools{};
  std::string type{};  // the entry's
  std::string timestamp{};
  std::optional<std::int64_t> time_ms{};
};

/// When an entry was made; nothing when it does not say.
Result<std::optional<std::int64_t>> time_of(const LogView& log, Ordinal own);

/// Reads the own entries of a log; cheapest in their order.
class SaidReader {
 public:
  explicit SaidReader(std::shared_ptr<const Lineage> lineage) : lineage_(std::move(lineage)) {}

  Result<void> read(Ordinal own, Said& into);

 private:
  /// A call is answered soon or not at all: its name is remembered for so many entries.
  static constexpr Ordinal kCallsKept = 32;

  struct Call {
    Ordinal own = 0;
    std::string id;
    std::string tool;
  };

  Result<void> look_back(Ordinal own);
  void note_calls(Ordinal own, std::span<const PartView> parts);
  void add_message(Said& into, const MessageView& message, std::span<const PartView> parts) const;

  std::shared_ptr<const Lineage> lineage_;
  Ordinal first_ = 0;  // calls of [first_, next_) are known, as far as they are of use
  Ordinal next_ = 0;
  std::deque<Call> calls_;
};

}  // namespace quipu::view
