// The lines of a session as `chain_of` needs them: read once, hung on each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dialect/claude/describe.h"
#include "dialect/dialect.h"

namespace quipu::dialect::claude {

inline constexpr std::uint32_t kNoLine = UINT32_MAX;

struct ChainLine {
  std::uint32_t record = 0;
  std::uint32_t parent = kNoLine;  // a place among the lines
  LineType type = LineType::kOther;
  bool is_aside = false;  // of a sub-agent
  bool is_team = false;
  bool is_meta = false;
  bool is_briefing = false;
  bool speaks = false;
  std::string_view parent_uuid;  // token
  std::string_view message_id;   // token: of the answer it is a part of
  std::string_view timestamp;    // token
  std::string_view content;      // of its message
  std::string_view compaction;   // metadata of a boundary

  /// Whether the session can end with it.
  bool is_main() const {
    return !is_aside && !is_team && !is_briefing && type != LineType::kProgress;
  }
};

class ChainLines {
 public:
  explicit ChainLines(std::span<const StoredRecord> records);

  std::vector<ChainLine> lines;

  /// By a uuid in quotes, or by a record's place.
  std::uint32_t find(std::string_view uuid_token) const;
  std::uint32_t of_record(std::uint32_t record) const;
  /// Hangs every line on the parent that it names.
  void link();

 private:
  void add(std::span<const StoredRecord> records, std::uint32_t record);

  std::unordered_map<std::string, std::uint32_t> by_uuid_;
  std::vector<std::uint32_t> by_record_;
};

/// The ids of tool calls (`tool_use`) or of the calls that are answered
/// (`tool_result`) in a message's content.
std::vector<std::string> calls_in(std::string_view content, std::string_view type,
                                  std::string_view id_key);

}  // namespace quipu::dialect::claude
