#include "workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <utility>

namespace quipu::bench {
namespace {

constexpr double kMedianBytes = 1'600;
constexpr double kSigma = 1.52;  // ln(55,000 / 1,600) / 2.326
constexpr double kHugeShare = 2e-5;
constexpr std::size_t kHugeBytes = 1'000'000;
constexpr std::size_t kMinBytes = 80;
constexpr std::size_t kMaxBytes = 1'100'000;
// Of the entries on the path, which are about three quarters of all: makes one
// branch point in twenty entries.
constexpr double kBranchShare = 0.066;
constexpr std::uint64_t kBranchReach = 9;
constexpr std::size_t kCorpusBytes = std::size_t{4} << 20;

// Prose and code as they stand in JSON: escapes are frequent, and glued to words.
std::string make_corpus() {
  constexpr std::array<std::string_view, 28> kWords{
      "the",          "a",       "file",           "function",
      "returns",      "const",   "auto",           "session",
      "error",        "because", "branch",         "std::vector",
      "if",           "we",      "should",         "test.\\n",
      "\\n\\nThe",    "{\\n\\t", "\\\"quoted\\\"", "caf\xc3\xa9",
      "na\xc3\xafve", "=>",      "value;\\n",      "0x1f,",
      "append",       "durable", "path/to",        "\\u2026"};
  std::mt19937_64 random(kSeed);
  std::string corpus;
  corpus.reserve(kCorpusBytes + 32);
  while (corpus.size() < kCorpusBytes) {
    corpus += kWords[random() % kWords.size()];
    corpus += ' ';
  }
  return corpus;
}

const std::string& corpus() {
  static const std::string text = make_corpus();
  return text;
}

}  // namespace

void Digest::add(std::string_view bytes) {
  const auto mix = [this](std::uint64_t word) {
    value_ = (value_ ^ word) * 0xff51'afd7'ed55'8ccd;
    value_ ^= value_ >> 32;
  };
  mix(bytes.size());
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    mix(word);
  }
  std::uint64_t last = 0;
  std::memcpy(&last, bytes.data(), bytes.size());
  mix(last);
}

Workload::Workload(std::uint32_t number) : number_(number), random_(kSeed + number) {}

double Workload::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

// Not std::normal_distribution: its numbers differ between libraries.
std::size_t Workload::next_size() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double normal = radius * std::cos(2 * std::numbers::pi * uniform());
  if (uniform() < kHugeShare) return kHugeBytes;
  const double bytes = kMedianBytes * std::exp(kSigma * normal);
  return static_cast<std::size_t>(std::clamp<double>(bytes, kMinBytes, kMaxBytes));
}

std::string Workload::next_payload() {
  const std::string_view open =
      count() % 2 == 0 ? R"({"role":"user","content":")" : R"({"role":"assistant","content":")";
  const std::size_t size = next_size();
  const std::string_view text = corpus();
  // Cut at spaces: never inside an escape or a character.
  const std::size_t from = text.find(' ', random_() % (kCorpusBytes - kMaxBytes - 64)) + 1;
  const std::size_t to = text.find(' ', from + size - std::min(size, open.size() + 2));
  std::string payload;
  payload.reserve(open.size() + (to - from) + 2);
  payload += open;
  payload += text.substr(from, to - from);
  payload += "\"}";
  return payload;
}

// A side branch starts a little above the head and has a few entries; then the
// conversation goes on from the head, which it has not moved.
std::uint32_t Workload::next_parent() {
  const std::uint32_t own = count();
  if (side_left_ > 0) {
    --side_left_;
    return own - 1;
  }
  if (head_ == kNoParent || parents_[head_] == kNoParent || uniform() >= kBranchShare) {
    return std::exchange(head_, own);
  }
  std::uint32_t parent = parents_[head_];
  for (std::uint64_t up = random_() % kBranchReach; up > 0 && parents_[parent] != kNoParent; --up) {
    parent = parents_[parent];
  }
  side_left_ = random_() % kBranchReach;
  return parent;
}

std::string Workload::id(std::uint32_t entry) const {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "01890000-%04x-7000-8000-%012x", number_ & 0xffff, entry);
  return text.data();
}

NewEntry Workload::next() {
  NewEntry entry;
  entry.id = id(count());
  entry.type = "message";
  const std::uint32_t parent = next_parent();
  if (head_ != count()) entry.parent = Parent::of(id(parent));
  entry.payload = next_payload();
  parents_.push_back(parent);
  payload_bytes_ += entry.payload.size();
  digest_.add(entry.id);
  digest_.add(entry.payload);
  return entry;
}

std::vector<NewEntry> Workload::next(std::size_t wanted) {
  std::vector<NewEntry> entries;
  entries.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) entries.push_back(next());
  return entries;
}

}  // namespace quipu::bench
