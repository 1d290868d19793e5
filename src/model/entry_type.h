// Entry types as numbers: what the offset index stores of `type`.
//
// Numbers are part of the index format, never of the log: a new one may be
// added at the end, none may be reused.
#pragma once

#include <cstdint>
#include <string_view>

namespace quipu {

enum class EntryType : std::uint8_t {
  kOther = 0,  // any type without a number: a node
  // Facts: 1 to kFactTypeMax.
  kSessionHeader = 1,
  kHead = 2,
  kLabel = 3,
  kSessionInfo = 4,
  kRedaction = 5,
  kUsage = 6,
  kRunStart = 7,
  kRunEnd = 8,
  kQueueAdd = 9,
  kQueueRemove = 10,
  kPermissionRequest = 11,
  kPermissionResolve = 12,
  kOtherFact = 13,  // `fact.…`: facts of whoever the name says
  // Nodes.
  kMessage = 32,
  kMessageDeltaBatch = 33,
  kModelChange = 34,
  kThinkingLevelChange = 35,
  kRuntimeInit = 36,
  kSystemPromptOverride = 37,
  kCompactionSummary = 38,
  kBranchSummary = 39,
  kContextEdit = 40,
  kContextReset = 41,
  kCustom = 42,
};

inline constexpr std::uint8_t kFactTypeMax = 15;

constexpr bool is_fact(EntryType type) {
  return type != EntryType::kOther && static_cast<std::uint8_t>(type) <= kFactTypeMax;
}

EntryType entry_type(std::string_view name);

}  // namespace quipu
