#include "base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

namespace quipu {
namespace {

constexpr std::size_t kDigestBytes = 32;

EVP_MD_CTX* as_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

// OpenSSL fails here only without memory or when its configuration takes the
// digest away; going on with a wrong name would be worse than either.
void require(int succeeded) {
  if (succeeded != 1) throw std::runtime_error("the SHA-256 of this system does not work");
}

}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(as_context(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  require(EVP_DigestInit_ex(as_context(context_.get()), EVP_sha256(), nullptr));
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(as_context(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
  std::array<unsigned char, kDigestBytes> digest{};
  require(EVP_DigestFinal_ex(as_context(context_.get()), digest.data(), nullptr));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * kDigestBytes);
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 2 * kDigestBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace quipu
