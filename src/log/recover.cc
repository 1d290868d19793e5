#include "log/recover.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/json_scan.h"
#include "model/envelope.h"

namespace quipu::log {
namespace {

enum class Kind : unsigned char { kSealed, kUnsealed, kBlank, kGarbage };

struct Candidate {
  Line line;
  std::uint64_t bytes = 0;  // with the line feed
  Kind kind = Kind::kGarbage;
  Seal seal;
  bool good = false;        // sealed: the checksum extends the line before
  bool unanchored = false;  // sealed: nothing before it to extend
};

/// Lines up to a commit, or as far as a batch got.
struct Segment {
  std::vector<Candidate> lines;
  bool at_boundary = true;  // nothing unfinished stands right before it
  bool good = true;         // every line good, counts falling by one
  bool complete = false;    // ends with its commit line
};

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

// The chain before each of the newest lines without a seal that stand together. Other
// programs take no lock: their lines may come between a writer's look at the log and its
// write, and its batch then extends the chain as it was before them.
class PassedOver {
 public:
  void add(std::uint32_t chain_before) { chains_[count_++ % chains_.size()] = chain_before; }
  void clear() { count_ = 0; }
  bool is_extended_by(std::string_view line, Seal seal) const {
    if (count_ == 0) return false;
    const SealAfter after(line);
    const auto known = std::span(chains_).first(std::min(count_, chains_.size()));
    return std::any_of(known.begin(), known.end(),
                       [&](std::uint32_t chain) { return after.crc(chain) == seal.crc; });
  }

 private:
  // More than a program writes in the moment between: who writes behind even more finds out,
  // and says that the log is busy.
  std::array<std::uint32_t, 1024> chains_{};
  std::size_t count_ = 0;
};

class Recovery {
 public:
  Recovery(std::uint64_t offset, std::uint32_t chain, LineSink& sink) : sink_(sink) {
    result_.committed = offset;
    result_.chain = chain;
    chain_ = chain;
  }

  Recovered run(std::string_view bytes, std::uint64_t offset) {
    const std::uint64_t end = offset + bytes.size();
    while (!bytes.empty()) {
      const auto* feed = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
      const std::size_t size = feed ? static_cast<std::size_t>(feed - bytes.data()) : bytes.size();
      take({.offset = offset, .text = bytes.substr(0, size)}, feed != nullptr);
      const std::size_t step = size + (feed ? 1 : 0);
      bytes.remove_prefix(step);
      offset += step;
    }
    result_.torn_bytes = end - result_.committed;
    return result_;
  }

 private:
  void take(Line line, bool has_feed) {
    if (const auto seal = has_feed ? find_seal(line.text) : std::nullopt) {
      take_sealed(line, *seal);
    } else if (is_blank(line.text) && has_feed) {
      take_unsealed(line, Kind::kBlank, true);
    } else if (const auto damaged = find_damaged_seal(line.text)) {
      take_damaged_seal(line, *damaged, has_feed);
    } else if (json::is_object(line.text)) {
      take_unsealed(line, Kind::kUnsealed, has_feed);
    } else {
      take_garbage(line, has_feed, false);
    }
  }

  void take_damaged_seal(Line line, const DamagedSeal& damaged, bool has_feed) {
    const auto computed = chain_ ? std::optional(seal_crc(*chain_, line.text)) : std::nullopt;
    if (!damaged.crc || !has_feed) {
      take_garbage(line, has_feed, has_feed && damaged.remaining == 0U);
      if (computed) other_chain_ = computed;
      return;
    }
    // Digits that cannot be read count as whatever the line before expects.
    const std::uint32_t remaining = damaged.remaining.value_or(expected_remaining_.value_or(1));
    take_bad_seal(line, {.remaining = remaining, .crc = *damaged.crc}, computed);
  }

  void take_bad_seal(Line line, Seal seal, std::optional<std::uint32_t> computed) {
    if (chain_) {
      seal.remaining = mend_remaining(*chain_, line.text, seal).value_or(seal.remaining);
    }
    Candidate candidate;
    candidate.line = line;
    candidate.bytes = line.text.size() + 1;
    candidate.kind = Kind::kSealed;
    candidate.seal = seal;
    chain_ = seal.crc;
    // When only the digits of a seal rotted, the next line extends what they
    // should have been.
    other_chain_ = computed;
    forget_passed_over();
    add_sealed(candidate);
  }

  void take_sealed(Line line, Seal seal) {
    line.sealed = true;
    const auto computed = chain_ ? std::optional(seal_crc(*chain_, line.text)) : std::nullopt;
    bool good = computed == seal.crc ||
                (other_chain_ && seal_crc(*other_chain_, line.text) == seal.crc) ||
                passed_over_.is_extended_by(line.text, seal) ||
                other_passed_over_.is_extended_by(line.text, seal);
    // Invariant 3: behind damage, a line that was here before is a stale copy.
    const bool behind_damage = !pending_.empty() || !current_.good;
    if (good && behind_damage && sink_.knows(line.text)) good = false;
    if (!good && chain_) {
      take_bad_seal(line, seal, computed);
      return;
    }
    Candidate candidate;
    candidate.line = line;
    candidate.bytes = line.text.size() + 1;
    candidate.kind = Kind::kSealed;
    candidate.seal = seal;
    candidate.good = good;
    candidate.unanchored = !good;
    chain_ = seal.crc;
    other_chain_.reset();
    forget_passed_over();
    if (good && seal.remaining == 0 && current_.lines.empty() && pending_.empty()) {
      release(candidate);  // nearly every line: a batch of one, nothing wrong
      return;
    }
    add_sealed(candidate);
  }

  void add_sealed(const Candidate& candidate) {
    // A new batch began before the last one ended.
    if (candidate.good && expected_remaining_ && candidate.seal.remaining != *expected_remaining_) {
      close_segment();
    }
    add(candidate, candidate.seal.remaining == 0);
  }

  void add(const Candidate& candidate, bool is_last) {
    current_.good = current_.good && candidate.good;
    current_.lines.push_back(candidate);
    current_.complete = is_last;
    if (current_.complete) {
      close_segment();
    } else if (candidate.good) {
      expected_remaining_ = candidate.seal.remaining - 1;
    } else {
      expected_remaining_.reset();
    }
  }

  void take_unsealed(Line line, Kind kind, bool has_feed) {
    // Behind a piece of a batch the rest of it must not count as one of its own.
    const bool is_inside = !current_.lines.empty();
    if (is_inside) close_segment();
    for (auto [chain, passed_over] :
         {std::pair(&chain_, &passed_over_), std::pair(&other_chain_, &other_passed_over_)}) {
      if (!*chain) continue;
      if (!is_inside) passed_over->add(**chain);
      **chain = fold_unsealed(**chain, line.text);
    }
    Candidate candidate;
    candidate.line = line;
    candidate.bytes = line.text.size() + (has_feed ? 1 : 0);
    candidate.kind = kind;
    candidate.good = true;
    current_.lines.push_back(candidate);
    current_.complete = true;
    current_.at_boundary = true;
    close_segment();
  }

  // Written before the damage, the next line extends a value that is lost;
  // written after it, by a writer that saw the damage, it extends these bytes.
  void take_garbage(Line line, bool has_feed, bool is_last) {
    other_chain_ = fold_unsealed(chain_ ? *chain_ : *other_chain_, line.text);
    chain_.reset();
    forget_passed_over();
    Candidate candidate;
    candidate.line = line;
    candidate.bytes = line.text.size() + (has_feed ? 1 : 0);
    add(candidate, is_last);
  }

  void forget_passed_over() {
    passed_over_.clear();
    other_passed_over_.clear();
  }

  void close_segment() {
    const bool whole =
        current_.good && current_.complete && current_.at_boundary && is_believable(current_);
    const bool complete = current_.complete;
    if (whole) {
      for (const auto& segment : pending_) settle_damaged(segment);
      pending_.clear();
      for (const auto& candidate : current_.lines) release(candidate);
      current_.lines.clear();
    } else {
      pending_.push_back(std::move(current_));
    }
    current_ = Segment{.lines = {}, .at_boundary = complete};
    expected_remaining_.reset();
  }

  // Invariant 3. Blank lines are no evidence of anything.
  bool is_believable(const Segment& segment) {
    if (pending_.empty()) return true;
    return std::all_of(segment.lines.begin(), segment.lines.end(), [this](const auto& candidate) {
      return candidate.kind == Kind::kUnsealed ||
             (candidate.kind == Kind::kSealed && !sink_.knows(candidate.line.text));
    });
  }

  // A whole batch stands behind this one, so it was durable once.
  void settle_damaged(const Segment& segment) {
    for (const auto& candidate : segment.lines) {
      const bool intact =
          candidate.good || (candidate.unanchored && json::is_object(candidate.line.text) &&
                             !sink_.knows(candidate.line.text));
      if (segment.complete && intact) {
        release(candidate);
      } else {
        sink_.damaged({.kind = intact ? DamageKind::kIncompleteBatch : DamageKind::kDamagedLine,
                       .offset = candidate.line.offset,
                       .bytes = candidate.bytes});
      }
    }
  }

  void release(const Candidate& candidate) {
    if (candidate.kind != Kind::kBlank) sink_.accept(candidate.line);
    result_.committed = candidate.line.offset + candidate.bytes;
    // The chain as it stands now: the newest line's own value, or, after lines
    // without seals, theirs folded in.
    result_.chain = chain_ ? *chain_ : *other_chain_;
  }

  LineSink& sink_;
  Recovered result_;
  // What the next seal extends. One of the two is always there: after garbage
  // only `other_chain_`, with the garbage folded in; after a bad seal also what
  // its digits should have been.
  std::optional<std::uint32_t> chain_;
  std::optional<std::uint32_t> other_chain_;
  // Of each, so that it does not matter where a recovery began.
  PassedOver passed_over_;
  PassedOver other_passed_over_;
  std::optional<std::uint32_t> expected_remaining_;
  Segment current_;
  std::vector<Segment> pending_;
};

}  // namespace

Recovered recover(std::string_view bytes, std::uint64_t offset, std::uint32_t chain,
                  LineSink& sink) {
  return Recovery(offset, chain, sink).run(bytes, offset);
}

SessionHeader header_of(std::string_view first_line) {
  if (!json::is_object(first_line)) return {};
  const Envelope envelope = read_envelope(first_line);
  if (envelope.type_code != EntryType::kSessionHeader) return {};
  return read_session_header(envelope.payload);
}

std::string chain_session_id(std::string_view first_line, std::string_view stem) {
  SessionHeader header = header_of(first_line);
  if (header.session_id.empty()) return std::string(stem);
  // A header that does not fit its own seal may be cut off as torn; an id taken
  // from it would be gone with it.
  const auto seal = find_seal(first_line);
  const bool fits = seal ? seal_crc(chain_seed(header.session_id), first_line) == seal->crc
                         : !find_damaged_seal(first_line);
  if (!fits) return std::string(stem);
  return std::move(header.session_id);
}

std::size_t settled_end(std::string_view bytes) {
  std::size_t end = bytes.size();
  while (end > 0) {
    const bool has_feed = bytes[end - 1] == '\n';
    const std::size_t text_end = has_feed ? end - 1 : end;
    const auto previous = bytes.substr(0, text_end).rfind('\n');
    const std::size_t start = previous == std::string_view::npos ? 0 : previous + 1;
    const std::string_view text = bytes.substr(start, text_end - start);
    const auto seal = find_seal(text);
    if (seal ? has_feed && seal->remaining == 0
             : !find_damaged_seal(text) && json::is_object(text)) {
      return end;
    }
    end = start;
  }
  return 0;
}

}  // namespace quipu::log
