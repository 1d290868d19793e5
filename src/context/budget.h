// Budget: makes a conversation fit a number of tokens.
//
// In this order, each step only as far as needed:
//   1. old tool outputs are shortened, oldest first; the last few stay whole;
//   2. whole turns are dropped, oldest first, never the newest; the request then
//      begins with what the user asked first and says how much is missing;
//   3. outputs, then texts, of the newest turn are shortened.
//
// How far steps 1 and 2 go is rounded up to a quarter of the budget: while a
// conversation grows by less than that, the same old parts are missing, and its
// beginning stays the same bytes for prompt caches.
#pragma once

#include <cstdint>

#include "context/conversation.h"
#include "quipu/result.h"

namespace quipu::context {

/// Estimates the tokens of every piece and of the whole, scaled by what the provider
/// reported last (Conversation::anchor_tokens).
std::uint64_t count_tokens(Conversation& conversation);

/// `too_large` when it cannot be done.
Result<void> fit(Conversation& conversation, std::uint64_t budget);

}  // namespace quipu::context
