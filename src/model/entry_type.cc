#include "model/entry_type.h"

#include <array>
#include <utility>

#include "quipu/entry.h"

namespace quipu {
namespace {

constexpr std::array<std::pair<std::string_view, EntryType>, 23> kTypes{{
    {"message", EntryType::kMessage},  // first: nearly every entry is one
    {"session_header", EntryType::kSessionHeader},
    {"head", EntryType::kHead},
    {"label", EntryType::kLabel},
    {"session_info", EntryType::kSessionInfo},
    {"redaction", EntryType::kRedaction},
    {"usage", EntryType::kUsage},
    {"run_start", EntryType::kRunStart},
    {"run_end", EntryType::kRunEnd},
    {"queue_add", EntryType::kQueueAdd},
    {"queue_remove", EntryType::kQueueRemove},
    {"permission_request", EntryType::kPermissionRequest},
    {"permission_resolve", EntryType::kPermissionResolve},
    {"message_delta_batch", EntryType::kMessageDeltaBatch},
    {"model_change", EntryType::kModelChange},
    {"thinking_level_change", EntryType::kThinkingLevelChange},
    {"runtime_init", EntryType::kRuntimeInit},
    {"system_prompt_override", EntryType::kSystemPromptOverride},
    {"compaction_summary", EntryType::kCompactionSummary},
    {"branch_summary", EntryType::kBranchSummary},
    {"context_edit", EntryType::kContextEdit},
    {"context_reset", EntryType::kContextReset},
    {"custom", EntryType::kCustom},
}};

}  // namespace

EntryType entry_type(std::string_view name) {
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  return name.starts_with("fact.") ? EntryType::kOtherFact : EntryType::kOther;
}

bool is_fact_type(std::string_view type) { return is_fact(entry_type(type)); }

}  // namespace quipu
