// BM25: how well a document answers a query, from counts that every index can give.
//
// A term's worth is its rarity among the documents searched; a document's share in it
// grows with how often it has the term, less and less so, and falls with its length. Words of
// the context count, too, with a weight. k1 = 1.2, b = 0.75; a term that more than half
// of the documents have is worth next to nothing, and never less.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quipu::search {

/// What is known of the documents searched.
struct Statistics {
  double documents = 0;
  double average_length = 0;  // in words
  /// For each term: how many documents have it.
  std::vector<double> holders{};
};

/// How often a term is in one document.
struct Occurrence {
  std::uint32_t in_text = 0;
  std::uint32_t in_context = 0;
};

/// For each term, what it is worth.
std::vector<double> worths(const Statistics& statistics);

/// What part of its worth a term brings to a document that has it `count` times; up to 2.2.
double share(double count, double length, double average_length);

/// `occurrences` and `worth` have an element a term.
double bm25(std::span<const Occurrence> occurrences, std::span<const double> worth, double length,
            double average_length, double context_weight);

}  // namespace quipu::search
