#include "context/budget.h"

#include <algorithm>
#include <limits>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "context/shorten.h"
#include "context/users.h"

namespace quipu::context {
namespace {

// Tokenizers give about one token for 3.6 bytes of text and code; images are
// counted by their area, which we do not know.
constexpr std::uint64_t kImageTokens = 1600;
constexpr std::uint64_t kMessageTokens = 4;
constexpr std::size_t kResultsKeptWhole = 3;
constexpr Shortening kShortOutput{.head = 600, .tail = 300};
constexpr Shortening kShortText{.head = 2000, .tail = 1000};

std::uint64_t tokens_of_bytes(std::size_t bytes) { return (bytes * 10 + 35) / 36; }

std::uint64_t tokens_of_attachment(const PartView& part) {
  if (part.media_type.starts_with("\"image/")) return kImageTokens;
  return std::max(kImageTokens, tokens_of_bytes(part.data.size() * 3 / 4));
}

std::uint64_t tokens_of_content(std::string_view content) {
  if (!content.starts_with('[')) return tokens_of_bytes(content.size());
  std::vector<PartView> parts;
  read_content(content, parts);
  std::uint64_t tokens = 0;
  for (const PartView& part : parts) {
    tokens += part.type == PartType::kAttachment ? tokens_of_attachment(part)
                                                 : tokens_of_bytes(part.text.size());
  }
  return tokens;
}

std::uint64_t tokens_of(const PartView& part) {
  switch (part.type) {
    case PartType::kToolResult:
      return kMessageTokens + tokens_of_content(part.content);
    case PartType::kAttachment:
      return tokens_of_attachment(part);
    case PartType::kToolUse:
      return kMessageTokens +
             tokens_of_bytes(part.name.size() + part.input.size() + part.raw_input.size());
    default:
      return tokens_of_bytes(part.text.size() + part.signature.size());
  }
}

template <class Visit>
void each_piece(Pieces& pieces, Visit&& visit) {
  for (Piece& piece : pieces) visit(piece);
}

template <class Visit>
void each_piece(Block& block, Visit&& visit) {
  each_piece(block.pieces, visit);
  each_piece(block.results, visit);
}

std::uint64_t tokens_of(const Pieces& pieces) {
  std::uint64_t tokens = 0;
  for (const Piece& piece : pieces) tokens += piece.tokens;
  return tokens;
}

std::uint64_t tokens_of(const Block& block) {
  return kMessageTokens + tokens_of(block.pieces) + tokens_of(block.results);
}

// In quarters. Below and above, the report is about something else: another
// system prompt, tools, a conversation that was cut.
std::uint64_t anchored_quarters(std::uint64_t reported, std::uint64_t estimated) {
  if (reported == 0 || estimated == 0) return 4;
  return std::clamp<std::uint64_t>((reported * 4 + estimated / 2) / estimated, 3, 8);
}

// A piece has room for 32 bits: sixteen gigabytes of text.
std::uint32_t in_quarters(std::uint64_t tokens, std::uint64_t quarters) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      (tokens * quarters + 3) / 4, std::numeric_limits<std::uint32_t>::max()));
}

class Fitting {
 public:
  Fitting(Conversation& conversation, std::uint64_t budget)
      : conversation_(conversation), budget_(budget), total_(total()) {}

  Result<void> run() {
    if (total_ <= budget_) return {};
    // Somebody may say very much before they get an answer.
    split_users(conversation_);
    total_ = total();
    split_turns();
    shorten_old_outputs();
    if (total_ > budget_) drop_turns();
    if (total_ > budget_) shorten_newest();
    join_users(conversation_);
    total_ = total();
    if (total_ <= budget_) return {};
    return Error(Code::kTooLarge, "the newest turn takes about " + std::to_string(total_) +
                                      " tokens, the budget is " + std::to_string(budget_))
        .with_hint("Raise the budget, or compact the session.");
  }

 private:
  std::uint64_t total() const {
    std::uint64_t tokens = tokens_of(conversation_.system) + tokens_of(conversation_.preamble);
    for (const Block& block : conversation_.blocks) tokens += tokens_of(block);
    return tokens;
  }

  // How much to take away, rounded up so that it changes rarely.
  std::uint64_t excess() const {
    const std::uint64_t step = std::max<std::uint64_t>(budget_ / 4, 1);
    return (total_ - budget_ + step - 1) / step * step;
  }

  // A turn is one message of a user and everything up to their next.
  void split_turns() {
    turns_.push_back(0);
    for (std::size_t i = 1; i < conversation_.blocks.size(); ++i) {
      if (!conversation_.blocks[i].is_assistant) turns_.push_back(i);
    }
  }

  std::uint64_t shorten(Piece& piece, const Shortening& by) {
    const std::uint32_t before = piece.tokens;
    WirePart part = piece.part();
    if (part.type == PartType::kToolResult) {
      part.content = conversation_.keep(shortened_content(part.content, by));
    } else {
      part.text = conversation_.keep(shortened(part.text, by));
    }
    piece.set_part(part);
    piece.tokens = std::min(before, scaled(tokens_of(part)));
    if (piece.tokens < before) mark(piece.note, Verdict::kShortened, "over_budget");
    total_ -= before - piece.tokens;
    return before - piece.tokens;
  }

  void shorten_old_outputs() {
    std::vector<Piece*> results;
    for (Block& block : conversation_.blocks) {
      for (Piece& result : block.results) results.push_back(&result);
    }
    const std::size_t old = results.size() - std::min(results.size(), kResultsKeptWhole);
    const std::uint64_t wanted = excess();
    std::uint64_t saved = 0;
    for (std::size_t i = 0; i < old && saved < wanted; ++i) {
      saved += shorten(*results[i], kShortOutput);
    }
  }

  void drop_turns() {
    const FirstRequest request = first_request();
    const std::uint64_t wanted = excess() + request.tokens;
    std::uint64_t saved = 0;
    std::size_t dropped = 0;
    while (dropped + 1 < turns_.size() && saved < wanted) {
      for (std::size_t i = turns_[dropped]; i < turns_[dropped + 1]; ++i) {
        saved += tokens_of(conversation_.blocks[i]);
      }
      ++dropped;
    }
    if (dropped == 0) return;
    std::vector<Block>& blocks = conversation_.blocks;
    const std::size_t end = turns_[dropped];
    for (std::size_t i = 0; i < end; ++i) {
      each_piece(blocks[i],
                 [&](const Piece& piece) { mark(piece.note, Verdict::kDropped, "over_budget"); });
    }
    const std::uint32_t first = blocks.front().pieces.front().note;
    blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(end));
    total_ = total();
    const bool fits = total_ + request.tokens <= budget_;
    if (fits) keep(request);
    say_what_is_missing(end - (fits ? request.blocks : 0), first);
    total_ = total();
  }

  /// What was said before the first answer, or as much of its beginning as a
  /// quarter of the budget takes.
  struct FirstRequest {
    std::vector<Piece> pieces;
    std::uint64_t tokens = 0;
    std::size_t blocks = 0;
  };

  // The task is in the first thing that was asked; a summary has it already.
  FirstRequest first_request() const {
    FirstRequest request;
    if (!conversation_.preamble.empty()) return request;
    // The newest turn stays anyway.
    for (; request.blocks < turns_.back(); ++request.blocks) {
      const Block& block = conversation_.blocks[request.blocks];
      if (block.is_assistant || request.tokens + tokens_of(block) > budget_ / 4) break;
      request.tokens += tokens_of(block);
      request.pieces.insert(request.pieces.end(), block.pieces.begin(), block.pieces.end());
    }
    return request;
  }

  void keep(const FirstRequest& request) {
    for (const Piece& piece : request.pieces) {
      conversation_.preamble.push_back(piece);
      Note& note = conversation_.notes[piece.note];
      note.verdict = Verdict::kKept;
      note.reason = "first_request";
    }
  }

  void say_what_is_missing(std::size_t messages, std::uint32_t first) {
    if (messages == 0) return;
    const PartView words =
        text_of(conversation_, "[" + std::to_string(messages) +
                                   " earlier messages of this conversation are left out.]");
    Piece gap(words, static_cast<std::uint32_t>(conversation_.notes.size()));
    gap.tokens = scaled(tokens_of(words));
    conversation_.notes.push_back({.entry = conversation_.notes[first].entry,
                                   .reason = "says_what_is_missing",
                                   .verdict = Verdict::kAdded});
    conversation_.preamble.push_back(gap);
  }

  void shorten_newest() {
    for (Block& block : conversation_.blocks) {
      for (Piece& result : block.results) {
        if (total_ > budget_) shorten(result, kShortOutput);
      }
    }
    for (Block& block : conversation_.blocks) {
      for (Piece& piece : block.pieces) {
        if (total_ > budget_ && piece.type() == PartType::kText) shorten(piece, kShortText);
      }
    }
  }

  // The strongest word about an entry stays.
  void mark(std::uint32_t number, Verdict verdict, std::string_view reason) {
    Note& note = conversation_.notes[number];
    if (note.verdict == Verdict::kAdded) {
      if (verdict == Verdict::kDropped) note.reason = reason;
      return;
    }
    note.verdict = verdict;
    note.reason = reason;
  }

  std::uint32_t scaled(std::uint64_t tokens) const {
    return in_quarters(tokens, conversation_.token_quarters);
  }

  Conversation& conversation_;
  std::uint64_t budget_;
  std::uint64_t total_;
  std::vector<std::size_t> turns_;  // first block of each
};

}  // namespace

std::uint64_t count_tokens(Conversation& conversation) {
  std::uint64_t total = 0;
  std::uint64_t up_to_anchor = 0;
  const auto estimate = [&](Piece& piece) {
    piece.tokens = in_quarters(tokens_of(piece.part()), 4);
    total += piece.tokens;
  };
  each_piece(conversation.system, estimate);
  each_piece(conversation.preamble, estimate);
  for (std::size_t i = 0; i < conversation.blocks.size(); ++i) {
    Block& block = conversation.blocks[i];
    total += kMessageTokens;
    each_piece(block.pieces, estimate);
    if (i == conversation.anchor_block) up_to_anchor = total;
    each_piece(block.results, estimate);
  }
  const std::uint64_t quarters = anchored_quarters(conversation.anchor_tokens, up_to_anchor);
  conversation.token_quarters = quarters;
  if (quarters == 4) return total;
  const auto scale = [&](Piece& piece) { piece.tokens = in_quarters(piece.tokens, quarters); };
  each_piece(conversation.system, scale);
  each_piece(conversation.preamble, scale);
  for (Block& block : conversation.blocks) each_piece(block, scale);
  return (total * quarters + 3) / 4;
}

Result<void> fit(Conversation& conversation, std::uint64_t budget) {
  return Fitting(conversation, budget).run();
}

}  // namespace quipu::context
