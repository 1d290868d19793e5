// The work: a branching conversation as agents write them.
//
// Payload sizes are log-normal (median 1.6 KB, 99th percentile 55 KB) with a
// few of 1 MB; one entry in twenty is a branch point.
// Everything follows from the number and the seed: two Workloads of the same
// number give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"

namespace quipu::bench {

inline constexpr std::uint64_t kSeed = 20'240'229;
inline constexpr std::uint32_t kNoParent = 0xffff'ffff;

/// Order matters: the digest of what went in must be that of what comes out.
class Digest {
 public:
  void add(std::string_view bytes);
  std::uint64_t value() const { return value_; }
  bool operator==(const Digest&) const = default;

 private:
  std::uint64_t value_ = 0x9e37'79b9'7f4a'7c15;
};

class Workload {
 public:
  explicit Workload(std::uint32_t number);

  /// Has id, type and payload; the parent is the head or an earlier entry.
  NewEntry next();
  std::vector<NewEntry> next(std::size_t count);

  std::uint32_t count() const { return static_cast<std::uint32_t>(parents_.size()); }
  /// The tree as it must come out, by order of `next`.
  const std::vector<std::uint32_t>& parents() const { return parents_; }
  std::string id(std::uint32_t entry) const;

  std::uint64_t payload_bytes() const { return payload_bytes_; }
  /// Of ids and payloads.
  const Digest& digest() const { return digest_; }

 private:
  double uniform();
  std::size_t next_size();
  std::string next_payload();
  std::uint32_t next_parent();

  std::uint32_t number_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> parents_;
  std::uint32_t head_ = kNoParent;
  std::uint64_t side_left_ = 0;  // entries to come on a side branch
  std::uint64_t payload_bytes_ = 0;
  Digest digest_;
};

}  // namespace quipu::bench
