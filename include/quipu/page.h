// Pages: long lists in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace quipu {

/// Which piece of a list.
struct PageRequest {
  /// `Page::next` of the page before; empty: from the beginning. Opaque, and good
  /// for the list that gave it only; anything else is `invalid_argument`.
  std::string after{};
  /// At most this many items; 0 gives none, but the total all the same.
  std::size_t limit = 50;
};

template <class T>
struct Page {
  std::vector<T> items{};
  /// What `PageRequest::after` takes to go on; empty: this was the last page.
  std::string next{};
  /// How many items all pages together have.
  std::size_t total = 0;
};

}  // namespace quipu
