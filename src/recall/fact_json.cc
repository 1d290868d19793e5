#include "recall/fact_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/json_text.h"
#include "base/try.h"
#include "quipu/limits.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

Error wrong(std::string_view what, std::string_view why) {
  return {Code::kInvalidArgument, std::string(what) + " " + std::string(why)};
}

}  // namespace

Result<void> check_id(std::string_view id, std::string_view what) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (id.empty()) return wrong(what, "is empty");
  if (id.size() > kEntryIdBytesMax) return wrong(what, "is longer than 256 bytes");
  if (std::any_of(id.begin(), id.end(), is_control)) return wrong(what, "has control characters");
  return check_text(id, what);
}

Result<void> check_text(std::string_view text, std::string_view what) {
  if (!json::is_utf8(text)) return wrong(what, "is not UTF-8");
  return {};
}

Result<void> check_meta(std::string_view meta) {
  if (meta.empty()) return {};
  auto valid = json::validate_inner_object(meta);
  if (!valid.ok()) return std::move(valid).error().in("meta");
  return {};
}

Result<void> check_embedding(std::span<const float> embedding) {
  if (embedding.empty()) return {};
  auto good = check_vector(embedding);
  if (!good.ok()) return std::move(good).error().in("embedding");
  return {};
}

Result<void> check_dimensions(std::size_t given, std::size_t wanted) {
  if (given == wanted) return {};
  return wrong("embedding", "has " + std::to_string(given) + " numbers, all others of the store " +
                                std::to_string(wanted));
}

Result<void> check_payload_size(std::string_view payload) {
  constexpr std::size_t kEnvelopeBytes = 4096;
  if (payload.size() <= kLineBytesMax - kEnvelopeBytes) return {};
  return Error(Code::kTooLarge, "longer than 16 MiB as JSON");
}

Result<std::vector<json::Member>> read_members(std::string_view object) {
  std::vector<json::Member> members;
  TRY(json::scan_object(object, members));
  if (const auto twice = json::find_duplicate_key(members)) {
    return wrong("member " + *twice, "is there twice");
  }
  return members;
}

Result<void> check_has(std::span<const json::Member> members, std::string_view key) {
  const bool has = std::any_of(members.begin(), members.end(),
                               [&](const json::Member& member) { return member.key == key; });
  return has ? Result<void>() : wrong(key, "is missing");
}

Result<std::string> read_text(const json::Member& member) {
  if (member.kind == json::Kind::kString) return json::decode_string(member.value);
  if (member.kind == json::Kind::kNull) return std::string();
  return wrong(member.key, "is no text");
}

Result<std::vector<float>> read_embedding(const json::Member& member) {
  std::vector<float> numbers;
  if (member.kind == json::Kind::kNull) return numbers;
  if (member.kind == json::Kind::kString) {
    const auto bytes = base64_decode(json::decode_string(member.value));
    if (!bytes || bytes->empty()) return wrong(member.key, "is no base64 of 32-bit floats");
    return vector_of_bytes(*bytes);
  }
  if (member.kind != json::Kind::kArray) return wrong(member.key, "is neither array nor base64");
  json::ElementWalk walk(member.value);
  while (const auto element = walk.next()) {
    // As a double: what is too large for a float becomes infinite, and is refused as that.
    double number = 0;
    const char* const end = element->value.data() + element->value.size();
    const auto [at, error] = std::from_chars(element->value.data(), end, number);
    if (element->kind != json::Kind::kNumber || at != end) {
      return wrong(member.key, "has an element that is no number: " + std::string(element->value));
    }
    numbers.push_back(error == std::errc() ? static_cast<float>(number) : HUGE_VALF);
  }
  if (numbers.empty()) return wrong(member.key, "is empty");
  return numbers;
}

Result<std::string> meta_with(std::string_view meta, std::span<const json::Member> others) {
  TRY(check_meta(meta));
  if (others.empty()) return std::string(meta);
  std::vector<json::Member> all;
  if (!meta.empty()) TRY(json::scan_object(meta, all));
  all.insert(all.end(), others.begin(), others.end());
  if (const auto twice = json::find_duplicate_key(all)) {
    return wrong("member " + *twice, "is in meta and beside it");
  }
  std::string text = "{";
  for (const json::Member& member : all) {
    if (text.size() > 1) text += ',';
    text.append("\"").append(member.key).append("\":").append(member.value);
  }
  return text + "}";
}

void optional_raw(json::Writer& out, std::string_view name, std::string_view raw) {
  if (!raw.empty()) out.raw_member(name, raw);
}

void optional_embedding(json::Writer& out, std::span<const float> embedding) {
  if (!embedding.empty()) out.member("embedding", base64_encode(vector_bytes(embedding)));
}

}  // namespace quipu::recall
