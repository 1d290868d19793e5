#include "log/seal.h"

#include <algorithm>
#include <array>

namespace quipu::log {
namespace {

constexpr std::string_view kPlaceholder = ",\"_tx\":\"0000.00000000\"}\n";
static_assert(kPlaceholder.size() == kSealBytes + 1);

std::optional<std::uint32_t> read_hex(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits) {
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value << 4 | digit;
  }
  return value;
}

void write_hex(char* out, std::size_t digits, std::uint32_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 0xf];
}

// Up to and including the dot.
std::string_view sealed_part(std::string_view line) {
  return line.substr(0, line.size() - kCrcDigits - 2);
}

}  // namespace

std::optional<Seal> find_seal(std::string_view line) {
  if (line.size() <= kSealBytes) return std::nullopt;
  const std::string_view seal = line.substr(line.size() - kSealBytes);
  if (!seal.starts_with(kSealStart) || !seal.ends_with("\"}")) return std::nullopt;
  const auto digits = seal.substr(kSealStart.size());
  if (digits[kRemainingDigits] != '.') return std::nullopt;
  const auto remaining = read_hex(digits.substr(0, kRemainingDigits));
  const auto crc = read_hex(digits.substr(kRemainingDigits + 1, kCrcDigits));
  if (!remaining || !crc) return std::nullopt;
  return Seal{.remaining = *remaining, .crc = *crc};
}

std::optional<DamagedSeal> find_damaged_seal(std::string_view line) {
  // A foreign line differs from the shape nearly everywhere. The digits alone
  // are enough: two pieces of sealed lines may have come together before them.
  constexpr std::size_t kDifferencesMax = 3;
  if (line.size() <= kSealBytes) return std::nullopt;
  const std::string_view end = line.substr(line.size() - kSealBytes);
  const std::string_view shape = kPlaceholder.substr(0, kSealBytes);
  std::size_t before_digits = 0;
  std::size_t among_digits = 0;
  for (std::size_t i = 0; i < kSealBytes; ++i) {
    const bool fits = shape[i] == '0' ? read_hex(end.substr(i, 1)).has_value() : end[i] == shape[i];
    if (!fits) ++(i < kSealStart.size() ? before_digits : among_digits);
  }
  if (among_digits > 0 && before_digits + among_digits > kDifferencesMax) return std::nullopt;
  const auto digits = end.substr(kSealStart.size());
  return DamagedSeal{.remaining = read_hex(digits.substr(0, kRemainingDigits)),
                     .crc = read_hex(digits.substr(kRemainingDigits + 1, kCrcDigits))};
}

std::uint32_t seal_crc(std::uint32_t previous, std::string_view line) {
  return crc32c_extend(previous, sealed_part(line));
}

std::optional<bool> extends_seal(std::string_view before, std::string_view line) {
  const auto seal = find_seal(line);
  if (!seal) return false;
  before.remove_suffix(before.empty() ? 0 : 1);  // the line feed
  const auto previous =
      find_seal(before.substr(before.size() - std::min(before.size(), kSealBytes + 1)));
  if (!previous) return std::nullopt;
  return seal_crc(previous->crc, line) == seal->crc;
}

SealAfter::SealAfter(std::string_view line)
    : shift_(sealed_part(line).size()), own_(crc32c(sealed_part(line))) {}

std::optional<std::uint32_t> mend_remaining(std::uint32_t previous, std::string_view line,
                                            Seal seal) {
  const auto before = line.substr(0, line.size() - kSealBytes + kSealStart.size());
  const std::uint32_t chain = crc32c_extend(previous, before);
  for (std::uint32_t place = 0; place < 4 * kRemainingDigits; place += 4) {
    for (std::uint32_t digit = 0; digit < 16; ++digit) {
      const std::uint32_t remaining = (seal.remaining & ~(0xfU << place)) | digit << place;
      std::array<char, kRemainingDigits + 1> digits{};
      write_hex(digits.data(), kRemainingDigits, remaining);
      digits.back() = '.';
      if (crc32c_extend(chain, {digits.data(), digits.size()}) == seal.crc) return remaining;
    }
  }
  return std::nullopt;
}

std::uint32_t fold_unsealed(std::uint32_t previous, std::string_view line) {
  return crc32c_extend(crc32c_extend(previous, line), "\n");
}

std::uint32_t chain_seed(std::string_view session_id) { return crc32c(session_id); }

void append_unsealed(std::string& out, std::string_view body) {
  out += body;
  out += kPlaceholder;
}

std::uint32_t write_seal(char* line, std::size_t size, std::uint32_t remaining,
                         std::uint32_t previous) {
  char* const seal = line + size - 1 - kSealBytes;
  write_hex(seal + kSealStart.size(), kRemainingDigits, remaining);
  const std::uint32_t crc = seal_crc(previous, {line, size - 1});
  write_hex(seal + kSealStart.size() + kRemainingDigits + 1, kCrcDigits, crc);
  return crc;
}

}  // namespace quipu::log
