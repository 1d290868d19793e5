// What a user said in several entries is one block of a conversation. Whoever looks
// for a place to cut takes it apart first.
#pragma once

#include "context/conversation.h"

namespace quipu::context {

/// A block for each entry. Such a conversation can be cut and counted; writers do
/// not take it.
void split_users(Conversation& conversation);

/// The other way round.
void join_users(Conversation& conversation);

}  // namespace quipu::context
