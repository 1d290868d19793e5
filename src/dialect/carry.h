// Carrying: how a record becomes a payload, and a payload the record again.
//
//   the record is                        | payload                     | meta
//   -------------------------------------+-----------------------------+------------------------
//   a JSON object on one line            | the record                  |
//   other text in UTF-8                  | {"raw": text}               | "carried": "text"
//   other bytes                          | {"rawBase64": base64}       | "carried": "base64"
//   more than an entry may hold          | {"attachment": {sha256, …}, | "carried": "attachment"
//                                        |  "abridged": in short}      |
//
// What a record says in short is the record without its long strings: it has its place in the
// tree, and its usage. There is none where it is no JSON.
//
// `meta` says further, where it is not the usual: `end` (what followed the record;
// usual is a line end), `file` (the name of the source's file; usual is its first),
// `problem`, `sourceParent` (a parent that is not in the session), `supersedes` (the
// record of the same id that this one took the place of).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/reader.h"

namespace quipu::dialect {

struct CarriedMeta {
  std::string_view carried;  // "", "text", "base64", "attachment"
  std::string end = "\n";
  std::string file;
  std::string problem;
  std::string source_parent;
  std::string supersedes;

  bool operator==(const CarriedMeta&) const = default;
};

/// The payload, and how it is carried. For records that are not large.
struct Carried {
  std::string_view payload;
  std::string_view carried;
};
/// `buffer` holds the payload when it is not the record itself.
Carried carry(const Record& record, std::string& buffer);

/// A JSON object; empty when everything is as usual.
std::string encode_meta(const CarriedMeta& meta);
CarriedMeta read_meta(std::string_view meta);

/// The payload of a record whose bytes are this attachment; `abridged` may be empty.
std::string attached_payload(std::string_view sha256, std::uint64_t bytes,
                             std::string_view abridged);

/// The bytes of a record that was stored; nothing for one that is an attachment.
std::optional<std::string> restore(std::string_view payload, std::string_view carried);

/// A stored payload as a dialect understands it: text that was carried is JSON
/// again, with U+FFFD for what no strict reader takes; of an attachment it is what it says in
/// short. The head and the tail of a document
/// are objects with their members, the list empty. `{}` for all other text. `owned` keeps it.
std::string_view understood(std::string_view payload, std::deque<std::string>& owned);

}  // namespace quipu::dialect
