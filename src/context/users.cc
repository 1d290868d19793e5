#include "context/users.h"

namespace quipu::context {

void split_users(Conversation& conversation) {
  std::vector<Block> split;
  for (Block& block : conversation.blocks) {
    if (block.is_assistant) {
      split.push_back(std::move(block));
      continue;
    }
    for (const Piece& piece : block.pieces) {
      const bool goes_on = !split.empty() && !split.back().is_assistant &&
                           split.back().pieces.back().note == piece.note;
      if (!goes_on) split.push_back(conversation.new_block(false));
      split.back().pieces.push_back(piece);
    }
  }
  conversation.blocks = std::move(split);
}

void join_users(Conversation& conversation) {
  std::vector<Block> joined;
  for (Block& block : conversation.blocks) {
    const bool goes_on = !joined.empty() && !joined.back().is_assistant && !block.is_assistant;
    if (!goes_on) {
      joined.push_back(std::move(block));
      continue;
    }
    Pieces& pieces = joined.back().pieces;
    pieces.insert(pieces.end(), block.pieces.begin(), block.pieces.end());
  }
  conversation.blocks = std::move(joined);
}

}  // namespace quipu::context
