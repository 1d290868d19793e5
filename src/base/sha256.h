// SHA-256, of bytes that come in pieces: what attachments are called by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace quipu {

/// Thread-safety: one thread at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string sha256_hex(std::string_view bytes);

/// Whether `text` has the form of `Sha256::finish`: nothing else may become a
/// part of a path.
bool is_sha256_hex(std::string_view text);

}  // namespace quipu
