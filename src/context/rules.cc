#include "context/rules.h"

#include <array>

namespace quipu::context {
namespace {

constexpr std::array<Rules, 5> kRules{{
    {.provider = Provider::kQuipu, .keeps_all_reasoning = true},
    {.provider = Provider::kAnthropic,
     .user_first = true,
     .user_last = true,
     .id_bytes_max = 64,
     .name_bytes_max = 64,
     .signer = "anthropic"},
    {.provider = Provider::kOpenAiChat,
     .id_bytes_max = 40,
     .name_bytes_max = 64,
     .signer = "openai"},
    {.provider = Provider::kOpenAiResponses,
     .id_bytes_max = 64,
     .name_bytes_max = 64,
     .signer = "openai"},
    {.provider = Provider::kGemini,
     .user_first = true,
     .user_last = true,
     .id_bytes_max = 64,
     .name_bytes_max = 64,
     .signer = "google"},
}};

}  // namespace

const Rules& rules_of(Provider provider) { return kRules[static_cast<std::size_t>(provider)]; }

}  // namespace quipu::context

namespace quipu {
namespace {

constexpr std::array<std::string_view, 5> kProviderNames = {"quipu", "anthropic", "openai-chat",
                                                            "openai-responses", "gemini"};

}  // namespace

std::string_view name(Provider provider) {
  return kProviderNames[static_cast<std::size_t>(provider)];
}

std::optional<Provider> provider_named(std::string_view name) {
  for (std::size_t i = 0; i < kProviderNames.size(); ++i) {
    if (kProviderNames[i] == name) return static_cast<Provider>(i);
  }
  return std::nullopt;
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kKept:
      return "kept";
    case Verdict::kShortened:
      return "shortened";
    case Verdict::kReplaced:
      return "replaced";
    case Verdict::kDropped:
      return "dropped";
    case Verdict::kAdded:
      return "added";
  }
  return "kept";
}

}  // namespace quipu
