// The model with an ear for other programs: lines without a seal.
#pragma once

#include "support/model_store.h"

namespace quipu::test {

/// Adopts every JSON object; what the line lacks is made up.
class AdoptingModel : public ModelStore {
 public:
  using ModelStore::ModelStore;
  void write_foreign(const std::string& session, const std::string& line) override;
};

}  // namespace quipu::test
