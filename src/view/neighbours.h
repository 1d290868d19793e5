// Neighbours: what was said right before and after counts for what was found.
//
// A turn of a conversation says little by itself: the question has the words that its answer
// lacks. An index of each entry with its neighbourhood would be more than twice as large; the
// scores of neighbours that were found themselves say nearly the same.
#pragma once

#include <vector>

#include "view/session_index.h"

namespace quipu::view {

/// Adds to each score `weight` times those of the nearest found on either side, where these are
/// near enough in the same log, and sorts by the sums: best first, of equals the greater key.
void lift_by_neighbours(std::vector<Found>& found, double weight);

}  // namespace quipu::view
