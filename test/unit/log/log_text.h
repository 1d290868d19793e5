// Logs made by hand, and what recovery gives back of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log/recover.h"
#include "log/seal.h"
#include "model/envelope.h"

namespace quipu::log {

inline constexpr std::string_view kSession = "sess-1";

/// Writes a log the way the format says, independent of LogWriter.
class LogText {
 public:
  struct Written {
    std::string text;  // without the line feed
    std::size_t offset = 0;
    std::size_t batch = 0;
    bool sealed = true;
    std::size_t end() const { return offset + text.size() + 1; }
  };

  explicit LogText(std::string_view session = kSession) : chain_(chain_seed(session)) {}

  /// One batch of bodies: JSON objects without their final brace.
  LogText& batch(const std::vector<std::string>& bodies) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      std::string line;
      append_unsealed(line, bodies[i]);
      const auto remaining = static_cast<std::uint32_t>(bodies.size() - 1 - i);
      chain_ = write_seal(line.data(), line.size(), remaining, chain_);
      note(line.substr(0, line.size() - 1), true);
      bytes_ += line;
    }
    ++batches_;
    return *this;
  }

  /// A batch of `count` messages with ids of their own.
  LogText& messages(std::size_t count) {
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < count; ++i) bodies.push_back(message("m" + std::to_string(++ids_)));
    return batch(bodies);
  }

  /// A line of another program, adopted whole.
  LogText& foreign(std::string_view text) {
    note(std::string(text), false);
    chain_ = fold_unsealed(chain_, text);
    bytes_ += text;
    bytes_ += '\n';
    ++batches_;
    return *this;
  }

  // The J becomes a line feed by the flip of one bit.
  static std::string message(const std::string& id) {
    return R"({"id":")" + id + R"(","type":"message","payload":{"t":"J\u00e4)" + id + "\"}";
  }

  const std::string& bytes() const { return bytes_; }
  std::uint32_t chain() const { return chain_; }
  const std::vector<Written>& lines() const { return lines_; }
  std::size_t batches() const { return batches_; }
  /// Offset where a batch ends.
  std::size_t end_of(std::size_t batch) const {
    std::size_t end = 0;
    for (const Written& line : lines_) {
      if (line.batch <= batch) end = line.end();
    }
    return end;
  }

 private:
  void note(std::string text, bool sealed) {
    lines_.push_back({std::move(text), bytes_.size(), batches_, sealed});
  }

  std::string bytes_;
  std::uint32_t chain_;
  std::vector<Written> lines_;
  std::size_t batches_ = 0;
  std::size_t ids_ = 0;
};

/// Batches of 1, 2, 3 and 5 lines, then one more.
inline LogText usual_log() {
  LogText log;
  log.messages(1).messages(2).messages(3).messages(5).messages(2);
  return log;
}

struct Seen {
  std::uint64_t offset = 0;
  std::string text;
  bool sealed = false;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class Collector : public LineSink {
 public:
  void accept(const Line& line) override {
    seen.push_back({line.offset, std::string(line.text), line.sealed});
    ids_.insert(std::string(read_envelope_prefix(line.text).id.view()));
  }
  void damaged(const Damage& damage) override { damages.push_back(damage); }
  bool knows(std::string_view line) override {
    return ids_.contains(std::string(read_envelope_prefix(line).id.view()));
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Seen& line : seen) texts.push_back(line.text);
    return texts;
  }

  std::vector<Seen> seen;
  std::vector<Damage> damages;

 private:
  std::set<std::string> ids_;
};

struct Outcome {
  Collector sink;
  Recovered end;
};

inline Outcome recover_all(std::string_view bytes, std::string_view session = kSession) {
  Outcome outcome;
  outcome.end = recover(bytes, 0, chain_seed(session), outcome.sink);
  return outcome;
}

/// First what stands before `cut`, then, from where that ended, all the rest.
inline Outcome recover_in_two_steps(std::string_view bytes, std::size_t cut,
                                    std::string_view session = kSession) {
  Outcome outcome;
  const Recovered first = recover(bytes.substr(0, cut), 0, chain_seed(session), outcome.sink);
  outcome.end = recover(bytes.substr(first.committed), first.committed, first.chain, outcome.sink);
  return outcome;
}

inline bool same_outcome(const Outcome& a, const Outcome& b) {
  const auto same_damage = [](const Damage& x, const Damage& y) {
    return x.kind == y.kind && x.offset == y.offset && x.bytes == y.bytes;
  };
  return a.sink.seen == b.sink.seen && a.end.committed == b.end.committed &&
         a.end.torn_bytes == b.end.torn_bytes && a.end.chain == b.end.chain &&
         std::equal(a.sink.damages.begin(), a.sink.damages.end(), b.sink.damages.begin(),
                    b.sink.damages.end(), same_damage);
}

}  // namespace quipu::log
