// Attachments: bytes that are too large for an entry, named by their SHA-256.
//
// Shared by all sessions and forks of a store: the same bytes are kept once,
// however often they are put, and a part of a message refers to them by
// `sha256`. What they are (media type, file name) is said by the part, not by
// the store: the same bytes may be called differently elsewhere.
//
// Durable before success. Verified on read: bytes that do not hash to their
// name are `corrupt`.
//
// Thread-safety: every call from every thread; a reader: one thread at a time.
// The store must outlive both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

class AttachmentSource;
class AttachmentStore;

struct AttachmentStat {
  std::string sha256;
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;  // a label for people
};

/// What a part says of an attachment.
struct AttachmentOptions {
  std::string media_type = "application/octet-stream";
  std::string name{};
};

struct StoredAttachment {
  std::string sha256;
  std::uint64_t bytes = 0;
  /// The part that refers to it, for a message.
  Part part;
};

/// Gives the next bytes: how many were filled in, 0 at the end.
using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

/// The bytes of one attachment, in pieces.
class AttachmentReader {
 public:
  AttachmentReader(std::unique_ptr<AttachmentSource> source, std::string sha256);
  AttachmentReader(AttachmentReader&&) noexcept;
  AttachmentReader& operator=(AttachmentReader&&) noexcept;
  ~AttachmentReader();

  /// The next bytes, 0 at the end. The hash is known at the end only: what was
  /// read before is to be believed when this has answered 0, and not when it
  /// answers `corrupt`.
  Result<std::size_t> read(std::span<char> into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Attachments {
 public:
  explicit Attachments(Store& store);

  /// Stores bytes; the same ones again add nothing. A stored copy that has
  /// rotted is replaced (the old one goes to quarantine). `no_space`, `io_error`,
  /// `durability_unknown` …; an error of `read` is passed on.
  Result<StoredAttachment> put(std::string_view bytes, const AttachmentOptions& options = {});
  Result<StoredAttachment> put(const ReadBytes& read, const AttachmentOptions& options = {});

  /// The whole, verified. `not_found`, `corrupt`; `invalid_argument` for what is no SHA-256.
  Result<std::string> get(std::string_view sha256);
  /// For what does not fit into memory.
  Result<AttachmentReader> open(std::string_view sha256);
  /// Whether it is there and how long it is; the bytes are not read.
  Result<AttachmentStat> stat(std::string_view sha256);
  /// All, sorted by hash.
  Result<std::vector<AttachmentStat>> list();

  /// A message payload whose inline attachments (`data`, base64) are of more
  /// than `inline_bytes_max` bytes, with these put here and their `data`
  /// replaced by `sha256`; also inside tool results. Everything else stays byte
  /// for byte. `invalid_argument` when it is no JSON object, or `data` no base64.
  Result<std::string> move_inline(std::string_view payload, std::size_t inline_bytes_max = 4096);

 private:
  Result<AttachmentStore*> kept() const;

  SessionStore* sessions_;
  std::shared_ptr<Backend> backend_;
};

}  // namespace quipu
