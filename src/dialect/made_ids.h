// Ids for what is written into another agent's files: made from a seed, so that the
// same transcript gives the same bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/sha256.h"

namespace quipu::dialect {

class MadeIds {
 public:
  explicit MadeIds(std::string_view seed) : seed_(seed) {}

  /// `digits` hexadecimal digits; the same name gives the same ones.
  std::string hex(std::string_view name, std::size_t digits) const {
    return sha256_hex(seed_ + "\n" + std::string(name)).substr(0, digits);
  }

  /// In the form of a random UUID (version 4).
  std::string uuid(std::string_view name) const {
    std::string id = hex(name, 32);
    id[12] = '4';
    id[16] = "89ab"[static_cast<unsigned char>(id[16]) & 3];
    for (const std::size_t dash : {8u, 13u, 18u, 23u}) id.insert(dash, 1, '-');
    return id;
  }

 private:
  std::string seed_;
};

}  // namespace quipu::dialect
