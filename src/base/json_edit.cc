// Keys and strings between their written and their plain form.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <forward_list>
#include <span>

#include "base/clock.h"
#include "base/json_scan.h"
#include "base/json_text.h"
#include "base/siphash.h"

namespace quipu::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool has_escapes(std::string_view text) { return text.find('\\') != std::string_view::npos; }

void append_utf8(std::string& out, unsigned code_point) {
  const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  const auto put_tail = [&put, code_point](unsigned shift) {
    put(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put_tail(6);
  } else {
    put(0xf0 | (code_point >> 18));
    put_tail(12);
    put_tail(6);
  }
  put_tail(0);
}

// The \u escape at `p` (its backslash), or the pair of them; returns what follows.
const char* append_unicode_escape(std::string& out, const char* p, const char* end) {
  const int unit = hex4(p + 2, end);
  if (unit < 0) {
    out += kReplacement;
    return p + 2;
  }
  const char* const next = p + 6;
  if (is_high_surrogate(unit) && end - next >= 6 && next[0] == '\\' && next[1] == 'u') {
    const int low = hex4(next + 2, end);
    if (is_low_surrogate(low)) {
      append_utf8(out, static_cast<unsigned>(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
      return next + 6;
    }
  }
  if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
    out += kReplacement;
  } else {
    append_utf8(out, static_cast<unsigned>(unit));
  }
  return next;
}

// The escape whose backslash is at `p`; returns what follows.
const char* append_escape(std::string& out, const char* p, const char* end) {
  if (end - p < 2) {
    out += kReplacement;
    return end;
  }
  switch (p[1]) {
    case 'b':
      out.push_back('\b');
      break;
    case 'f':
      out.push_back('\f');
      break;
    case 'n':
      out.push_back('\n');
      break;
    case 'r':
      out.push_back('\r');
      break;
    case 't':
      out.push_back('\t');
      break;
    case 'u':
      return append_unicode_escape(out, p, end);
    default:
      out.push_back(p[1]);
      break;  // quote, backslash, slash
  }
  return p + 2;
}

void append_escaped_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out.push_back(kHex[byte >> 4]);
  out.push_back(kHex[byte & 15]);
}

// The first byte from `p` on that cannot be copied as it is.
const char* copyable_end(const char* p, const char* end) {
  BlockReader reader(end);
  while (p < end) {
    const Block block = reader.at(p);
    const std::uint64_t look = block.unusual() | block.equal_any('"', '\\');
    if (look == 0) {
      if (end - p <= 64) break;
      p += 64;
      continue;
    }
    p += lowest_bit(look);
    if (p >= end) break;  // the padding of the last block
    const char* const run_end = skip_non_ascii(p, end);
    if (run_end == p) return p;
    p = run_end;
  }
  return end;
}

// Ids, types and timestamps: short, and copied as they are.
bool is_short_and_plain(std::string_view text) {
  if (text.size() > 64) return false;
  if (text.size() < 16) {
    return std::all_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) - 0x20U < 0x60U && c != '"' && c != '\\';
    });
  }
  const char* const last = text.data() + text.size() - 16;
  for (const char* p = text.data(); p < last; p += 16) {
    if (first_special_of_16(p) != p + 16) return false;
  }
  return first_special_of_16(last) == last + 16;
}

std::optional<std::string> duplicate_of_few(std::span<const std::string_view> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (keys[i] == keys[j]) return std::string(keys[i]);
    }
  }
  return std::nullopt;
}

// An open hash table with a secret key: whoever wrote the text chose the keys,
// and must not be able to choose collisions.
std::optional<std::string> duplicate_of_many(std::span<const std::string_view> keys) {
  SipKey secret;
  Random::system().fill(std::as_writable_bytes(std::span(&secret, 1)));
  const std::size_t mask = std::bit_ceil(keys.size() * 2) - 1;
  std::vector<std::size_t> slots(mask + 1, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t slot = siphash(secret, keys[i]) & mask;
    for (; slots[slot] != keys.size(); slot = (slot + 1) & mask) {
      if (keys[slots[slot]] == keys[i]) return std::string(keys[i]);
    }
    slots[slot] = i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_duplicate_key(const std::vector<Member>& members) {
  constexpr std::size_t kFew = 16;  // up to here, comparing all pairs is cheapest
  std::array<std::string_view, kFew> few;
  std::vector<std::string_view> many(members.size() > kFew ? members.size() : 0);
  const std::span<std::string_view> keys =
      members.size() > kFew ? std::span(many) : std::span(few).first(members.size());

  std::forward_list<std::string> decoded;  // keeps its strings where they are
  for (std::size_t i = 0; i < members.size(); ++i) {
    keys[i] = members[i].key;
    if (has_escapes(keys[i])) keys[i] = decoded.emplace_front(decode_string(keys[i]));
  }
  return members.size() > kFew ? duplicate_of_many(keys) : duplicate_of_few(keys);
}

std::string scrubbed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    std::size_t length = static_cast<unsigned char>(*p) < 0x80 ? 1 : utf8_length(p, end);
    if (*p == '\\') {
      const int unit = end - p >= 6 && p[1] == 'u' ? hex4(p + 2, end) : -1;
      length = std::min<std::size_t>(unit < 0 ? 2 : 6, static_cast<std::size_t>(end - p));
      const bool is_pair = is_high_surrogate(unit) && end - p >= 12 && p[6] == '\\' &&
                           p[7] == 'u' && is_low_surrogate(hex4(p + 8, end));
      if (is_pair) length = 12;
      if (!is_pair && (is_high_surrogate(unit) || is_low_surrogate(unit))) {
        out += kReplacement;
        p += length;
        continue;
      }
    }
    if (length == 0) {
      out += kReplacement;
      ++p;
      continue;
    }
    out.append(p, length);
    p += length;
  }
  return out;
}

std::string decode_string(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"') token = token.substr(1, token.size() - 2);
  std::string out;
  out.reserve(token.size());
  const char* p = token.data();
  const char* const end = p + token.size();
  while (p < end) {
    const std::size_t run = view_of(p, end).find('\\');
    if (run == std::string_view::npos) break;
    out.append(p, run);
    p = append_escape(out, p + run, end);
  }
  return out.append(p, end);
}

bool key_equals(std::string_view key, std::string_view plain) {
  // Every escape is longer than what it stands for.
  if (key.size() < plain.size()) return false;
  if (key.size() == plain.size()) return key == plain && !has_escapes(key);
  return has_escapes(key) && decode_string(key) == plain;
}

void append_quoted(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out.push_back('"');
  const char* p = text.data();
  const char* const end = p + text.size();
  if (is_short_and_plain(text)) {
    out.append(text);
    p = end;
  }
  while (p < end) {
    const char* const stop = copyable_end(p, end);
    out.append(p, stop);
    p = stop;
    if (p == end) break;
    if (static_cast<unsigned char>(*p) < 0x80) {
      append_escaped_ascii(out, *p);
    } else {
      out += kReplacement;
    }
    ++p;
  }
  out.push_back('"');
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace quipu::json
