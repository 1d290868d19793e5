// Attachments, as a backend keeps them: bytes under a name that is their
// SHA-256. Hashing and verifying is the caller's; a backend only promises that
// what has a name is whole and durable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

struct AttachmentFacts {
  std::string sha256;
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;
};

/// An attachment in the making. Dropped without `commit` it leaves nothing.
class AttachmentSink {
 public:
  virtual ~AttachmentSink() = default;
  virtual Result<void> write(std::string_view bytes) = 0;
  /// Gives it its name, durably. `id_conflict` when the name is taken: then the
  /// name is durable, and what has it is unknown to us.
  virtual Result<void> commit(const std::string& sha256) = 0;
};

class AttachmentSource {
 public:
  virtual ~AttachmentSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Fewer than asked for only at the end; 0 there.
  virtual Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) = 0;
};

class AttachmentStore {
 public:
  virtual ~AttachmentStore() = default;
  virtual Result<std::unique_ptr<AttachmentSink>> create() = 0;
  /// `not_found`.
  virtual Result<std::unique_ptr<AttachmentSource>> open(const std::string& sha256) = 0;
  virtual Result<AttachmentFacts> facts(const std::string& sha256) = 0;
  /// In no order; names that are no hash are none.
  virtual Result<std::vector<AttachmentFacts>> list() = 0;
  /// Takes a copy that is not what its name says out of the way, keeping it.
  virtual Result<void> set_aside(const std::string& sha256) = 0;
};

}  // namespace quipu
