#include <array>

#include "dialect/claude/claude.h"
#include "dialect/codepilot/codepilot.h"
#include "dialect/codex/codex.h"
#include "dialect/craft/craft.h"
#include "dialect/dialect.h"
#include "dialect/gemini/gemini.h"
#include "dialect/jsonl/jsonl.h"
#include "dialect/myagents/myagents.h"
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
  static const myagents::MyAgents myagents;
  static const craft::Craft craft;
  static const jsonl::Jsonl jsonl;
  // The last takes what is like any other's.
  static const std::array<const Dialect*, 9> all{&codepilot, &opencode, &codex, &gemini, &pi,
                                                 &claude,    &myagents, &craft, &jsonl};
  return all;
}

}  // namespace quipu::dialect
