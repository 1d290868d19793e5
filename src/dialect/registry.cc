#include <array>

#include "dialect/claude/claude.h"
#include "dialect/codepilot/codepilot.h"
#include "dialect/codex/codex.h"
#include "dialect/dialect.h"
#include "dialect/gemini/gemini.h"
#include "dialect/opencode/opencode.h"
#include "dialect/pi/pi.h"

namespace quipu::dialect {

std::span<const Dialect* const> all_dialects() {
  static const claude::Claude claude;
  static const gemini::Gemini gemini;
  static const pi::Pi pi;
  static const codex::Codex codex;
  static const opencode::Opencode opencode;
  static const codepilot::Codepilot codepilot;
  static const std::array<const Dialect*, 6> all{&codepilot, &opencode, &codex,
                                                 &gemini,    &pi,       &claude};
  return all;
}

}  // namespace quipu::dialect
