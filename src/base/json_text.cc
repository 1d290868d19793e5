#include "base/json_text.h"

#include <array>
#include <atomic>

namespace quipu::json {
namespace {

constexpr std::array<signed char, 256> make_hex_digits() {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (unsigned i = 0; i < 10; ++i) values['0' + i] = static_cast<signed char>(i);
  for (unsigned i = 0; i < 6; ++i) {
    values['a' + i] = values['A' + i] = static_cast<signed char>(10 + i);
  }
  return values;
}
constexpr std::array<signed char, 256> kHexDigits = make_hex_digits();

unsigned byte_at(const char* p) { return static_cast<unsigned char>(*p); }

bool in_range(unsigned value, unsigned low, unsigned high) { return value - low <= high - low; }

}  // namespace

StringEnd check_escape(const char* p, const char* end) {
  if (end - p < 2) return {p, "unterminated string"};
  switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return {p + 2, nullptr};
    case 'u':
      break;
    default:
      return {p, "unknown escape"};
  }
  const int unit = hex4(p + 2, end);
  if (unit < 0) return {p, "\\u without four hex digits"};
  if (is_low_surrogate(unit)) return {p, "lone low surrogate"};
  if (!is_high_surrogate(unit)) return {p + 6, nullptr};
  const char* const second = p + 6;
  if (end - second < 6 || second[0] != '\\' || second[1] != 'u' ||
      !is_low_surrogate(hex4(second + 2, end))) {
    return {p, "lone high surrogate"};
  }
  return {second + 6, nullptr};
}

namespace {

// Past the run of escapes and non-ASCII characters at `p`, one by one.
StringEnd check_run(const char* p, const char* end) {
  while (p < end) {
    const unsigned byte = byte_at(p);
    if (byte >= 0x80) {
      p = skip_non_ascii(p, end);
      if (p < end && byte_at(p) >= 0x80) return {p, "not UTF-8"};
    } else if (byte == '\\') {
      const StringEnd escape = check_escape(p, end);
      if (escape.error != nullptr) return escape;
      p = escape.at;
    } else if (byte < 0x20) {
      return {p, "control character in a string"};
    } else {
      break;
    }
  }
  return {p, nullptr};
}

}  // namespace

StringEnd check_string_portable(const char* p, const char* end) {
  BlockReader reader(end);
  Escapes escapes;
  const char* checked = p;  // a run may reach beyond its block
  while (p < end) {
    const Block block = reader.at(p);
    const std::uint64_t quotes = block.equal('"');
    const std::uint64_t escaped = escapes.next(block.equal('\\'));
    const std::uint64_t closing = quotes & ~escaped;
    std::uint64_t look = block.unusual();
    if ((escaped & ~quotes) != 0) look |= escaped & ~(quotes | block.equal_any('n', 't'));
    look &= bits_below_lowest(closing);
    for (; look != 0; look &= look - 1) {
      const std::size_t bit = lowest_bit(look);
      const bool is_escaped = ((escaped >> bit) & 1) != 0;
      const char* const at = p + bit - (is_escaped ? 1 : 0);
      if (at < checked) continue;
      if (at >= end) break;  // the padding, which is unusual as well
      const StringEnd run = check_run(at, end);
      if (run.error != nullptr) return run;
      checked = run.at;
    }
    if (closing != 0) return {p + lowest_bit(closing), nullptr};
    if (end - p <= 64) break;
    p += 64;
  }
  return {end, "unterminated string"};
}

std::size_t utf8_length(const char* p, const char* end) {
  const auto left = static_cast<std::size_t>(end - p);
  if (left == 0) return 0;
  const unsigned lead = byte_at(p);
  const auto continues = [p](std::size_t i) { return (byte_at(p + i) & 0xc0) == 0x80; };
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return lead >= 0xc2 && left >= 2 && continues(1) ? 2 : 0;
  if (lead < 0xf0) {
    if (left < 3 || !continues(1) || !continues(2)) return 0;
    const unsigned second = byte_at(p + 1);
    if (lead == 0xe0 && second < 0xa0) return 0;   // overlong
    if (lead == 0xed && second >= 0xa0) return 0;  // surrogate
    return 3;
  }
  if (left < 4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  const unsigned second = byte_at(p + 1);
  if (lead == 0xf0) return second >= 0x90 ? 4 : 0;
  if (lead == 0xf4) return second < 0x90 ? 4 : 0;
  return in_range(lead, 0xf1, 0xf3) ? 4 : 0;
}

bool is_utf8(std::string_view text) {
  if (is_plain_ascii(text)) return true;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const std::size_t length = utf8_length(p, end);
    if (length == 0) return false;
    p += length;
  }
  return true;
}

int hex4(const char* p, const char* end) {
  if (end - p < 4) return -1;
  const auto digit = [p](std::size_t i) -> int { return kHexDigits[byte_at(p + i)]; };
  if ((digit(0) | digit(1) | digit(2) | digit(3)) < 0) return -1;
  return digit(0) << 12 | digit(1) << 8 | digit(2) << 4 | digit(3);
}

const char* skip_string(const char* p, const char* end) {
  p = skip_plain_start(p, end);
  if (p < end && *p == '"') return p;
  BlockReader reader(end);
  Escapes escapes;
  while (p < end) {
    const Block block = reader.at(p);
    const std::uint64_t escaped = escapes.next(block.equal('\\'));
    const std::uint64_t closing = block.equal('"') & ~escaped;
    if (closing != 0) return p + lowest_bit(closing);
    if (end - p <= 64) break;
    p += 64;
  }
  return end;
}

namespace {

using CheckString = StringEnd (*)(const char*, const char*);

StringEnd choose_and_check(const char* p, const char* end);

// Set on first use and not during static initialisation, as in crc32c.cc.
constinit std::atomic<CheckString> chosen{&choose_and_check};

StringEnd choose_and_check(const char* p, const char* end) {
  CheckString best = &check_string_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) best = &check_string_avx2;
  // The first processors with AVX-512 run slower for a while after using it; those with
  // VBMI, which is not used, do not.
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi")) {
    best = &check_string_avx512;
  }
#endif
  chosen.store(best, std::memory_order_relaxed);
  return best(p, end);
}

}  // namespace

StringEnd check_string_from(const char* p, const char* end) {
  return chosen.load(std::memory_order_relaxed)(p, end);
}

StringEnd check_string(const char* p, const char* end) {
  p = skip_plain_start(p, end);
  if (p < end && *p == '"') return {p, nullptr};
  return check_string_from(p, end);
}

}  // namespace quipu::json
