// Random histories: a seed becomes a list of operations, an operation becomes a
// call that makes sense (or carefully does not) in the state it is made in.
//
// An operation is a number, not a call with names: whatever is taken out of the
// list, the rest still means something. That is what makes shrinking simple.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/fresh_store.h"
#include "support/history_store.h"
#include "support/model_store.h"

namespace quipu::test {

struct RandomOp {
  std::uint64_t seed = 0;
};

std::vector<RandomOp> random_ops(std::uint64_t seed, std::size_t count);

/// Plays the operations on the stores (taking turns, so that each finds what
/// the others did) and on a model, and compares every answer and every view.
/// The answer is empty or says what differed, with the calls made until then in
/// the language of the worked histories.
/// `tally` counts the answers by kind of call.
using Tally = std::map<std::string, std::size_t>;
std::string play(const std::vector<RandomOp>& ops, const std::vector<StoreTarget*>& stores,
                 Tally& tally);

/// Makes stores for one history.
class RandomStores {
 public:
  /// In memory: one handle; else two handles of the same store.
  explicit RandomStores(Engine engine);
  const std::vector<StoreTarget*>& handles() const { return handles_; }

 private:
  FreshStore fresh_;
  std::vector<std::unique_ptr<StoreTarget>> owned_;
  std::vector<StoreTarget*> handles_;
};

/// Leaves out operations as long as the failure stays.
std::vector<RandomOp> shrink(std::vector<RandomOp> ops, Engine engine);

}  // namespace quipu::test
