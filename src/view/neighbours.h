// Neighbours: what was said right before and after counts for what was found.
//
// A turn of a conversation says little by itself: the question has the words that its answer
// lacks. An index of each entry with its neighbourhood would be more than twice as large; the
// scores of neighbours that were found themselves say nearly the same, and beside the best of what
// was found entries can be read that have none of the words.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "view/session_index.h"

namespace quipu::view {

/// Adds to each score `weight` times those of the nearest found on either side, where these are
/// near enough in the same log, and sorts by the sums: best first, of equals the greater key.
void lift_by_neighbours(std::vector<Found>& found, double weight);

/// Whether an entry says something, and is what is looked for but for its words.
using MayJoin = std::function<bool(const std::string& session_id, Ordinal own)>;

/// The nearest entries that may join, before and after each of the best of `found` (best first, not
/// lifted yet), each with `weight` times the scores of what it stands beside. Asks for a bounded
/// number of entries. Their keys are of no document and tell them apart.
std::vector<Found> neighbours_of_best(std::span<const Found> found, double weight,
                                      const MayJoin& may_join);

/// In one order, as above.
void join(std::vector<Found>& found, std::vector<Found> joining);

}  // namespace quipu::view
