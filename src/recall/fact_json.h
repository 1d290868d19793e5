// What facts of memory and of knowledge have in common as JSON. One form for what users
// give, and for what is in the log.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "quipu/result.h"

namespace quipu::recall {

/// `invalid_argument` unless it may be an id: that of a node, a document, whatever is named.
Result<void> check_id(std::string_view id, std::string_view what);
/// `invalid_argument` unless it is UTF-8.
Result<void> check_text(std::string_view text, std::string_view what);
/// `invalid_argument` unless it is empty or a JSON object.
Result<void> check_meta(std::string_view meta);
/// `invalid_argument` unless it is empty or a vector (vector.h).
Result<void> check_embedding(std::span<const float> embedding);
/// `invalid_argument` unless a vector has as many components as the others of its store.
Result<void> check_dimensions(std::size_t given, std::size_t wanted);
/// `too_large` unless an entry can have it.
Result<void> check_payload_size(std::string_view payload);

/// The members of an object, none twice.
Result<std::vector<json::Member>> read_members(std::string_view object);
/// `invalid_argument` unless a member of this name is there.
Result<void> check_has(std::span<const json::Member> members, std::string_view key);
Result<std::string> read_text(const json::Member& member);
/// An array of numbers, or base64 of floats, little-endian.
Result<std::vector<float>> read_embedding(const json::Member& member);

/// `meta` with the members that its reader does not know.
Result<std::string> meta_with(std::string_view meta, std::span<const json::Member> others);

/// `raw` when not empty.
void optional_raw(json::Writer& out, std::string_view name, std::string_view raw);
void optional_embedding(json::Writer& out, std::span<const float> embedding);

}  // namespace quipu::recall
