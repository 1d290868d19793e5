// Fusion: one list from two, the words' and the vectors'. Pure functions.
//
// By scores (the default): each list's scores are stretched to 0…1, weighed and added; what is
// absent from a list has 0 there. By ranks (RRF): the sum of weight / (60 + rank), which looks at
// no score and so gives a weak list as much to say as a strong one. On conversations the weak one
// is that of the vectors, hence the default and its weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/text_index.h"

namespace quipu::recall {

enum class Fusion : unsigned char { kScores, kRanks };

/// How much each list has to say. None is negative.
struct FusionWeights {
  double lexical = 2;
  double vector = 1;
};

/// What a list said of a key.
struct Standing {
  /// From 1 on; 0: absent.
  std::size_t rank = 0;
  /// As the list gave it.
  double score = 0;
  /// Stretched: 1 for the best of its list, 0 for the worst. Where all are equal, 1.
  double share = 0;
};

struct Fused {
  std::int64_t key = 0;
  double score = 0;
  Standing lexical{};
  Standing vector{};
};

/// Both lists are sorted best first and have a key once. Best first, of equals the greater key: the
/// same for the same lists, on every machine.
std::vector<Fused> fuse(Fusion fusion, std::span<const search::Match> lexical,
                        std::span<const search::Match> vector, const FusionWeights& weights = {});

}  // namespace quipu::recall
