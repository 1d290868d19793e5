// Porter's stemmer: English words without their endings, by the rules of 1980 (M. F. Porter, "An
// algorithm for suffix stripping") with the two changes that its author made later and SQLite's
// `porter` tokenizer has, too: -bli becomes -ble, -logi becomes -log.
//
//   caresses · caress     relational · relat     hopping · hop     happy · happi
#pragma once

#include <cstddef>
#include <span>

namespace quipu::search {

/// Stems a word of a-z in place and returns its new length, never more than the old one. Words of
/// less than 3 or more than 64 bytes stay as they are.
std::size_t stem(std::span<char> word);

}  // namespace quipu::search
