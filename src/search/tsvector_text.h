// Documents and queries in the words of PostgreSQL's text search.
//
// The server is given words as the analyser made them, with their places; it normalises
// nothing. Places of the text have the label A, those of the context B; tags have none and begin
// with `#`, as no word of a text does.
//
// Its limits: a place is at most 16,383, a word has at most 255 of them, and all of it is at most
// 1 MiB. A document that is longer is kept without places, so that its words find it and
// phrases do not; of one that is still too long, the words that came last are left out. What
// ranks a document (word_places.h) has limits of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/candidates.h"
#include "search/text_index.h"

namespace quipu::search {

struct TsvectorText {
  std::string words{};
  std::string places{};      // see word_places.h
  std::uint32_t length = 0;  // in words
};
TsvectorText tsvector_text(const Document& document);

std::string term_query(const Term& term);
/// " & …" for everything that narrows a search; empty when nothing does.
std::string tag_query(const MatchOptions& options);
std::string refused(const Query& query);
/// In brackets.
std::string joined(std::span<const std::string> queries, std::string_view by);

/// An array as the server reads it.
std::string array_text(std::span<const std::string> elements);

}  // namespace quipu::search
