// A store of any engine with a clock that moves only when told to, and texts to remember.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "quipu/knowledge.h"
#include "quipu/memory.h"
#include "support/agent_store.h"
#include "support/fresh_store.h"

namespace quipu::test {

inline std::string engine_name(const ::testing::TestParamInfo<Engine>& one) {
  constexpr const char* kNames[] = {"memory", "file", "sqlite", "postgres"};
  return kNames[static_cast<int>(one.param)];
}

inline MemoryNode node(std::string id, std::string text) {
  MemoryNode made;
  made.id = std::move(id);
  made.text = std::move(text);
  return made;
}

inline KnowledgeDocument document(std::string id, std::string text, std::string title = {}) {
  KnowledgeDocument made;
  made.id = std::move(id);
  made.text = std::move(text);
  made.title = std::move(title);
  return made;
}

inline std::vector<std::string> ids_of(const Hits<MemoryHit>& hits) {
  std::vector<std::string> ids;
  for (const MemoryHit& hit : hits.items) ids.push_back(hit.memory.node.id);
  return ids;
}

inline std::vector<std::string> ids_of(const Hits<KnowledgeHit>& hits) {
  std::vector<std::string> ids;
  for (const KnowledgeHit& hit : hits.items) ids.push_back(hit.document.id);
  return ids;
}

class RecallContract : public ::testing::TestWithParam<Engine> {
 protected:
  std::unique_ptr<Store> open() {
    StoreOptions options;
    options.create = true;
    options.clock = &clock_;
    return std::make_unique<Store>(must(Store::open(place_.url(), options)));
  }

  FreshStore place_{GetParam()};
  ManualClock clock_;
  std::unique_ptr<Store> store_ = open();
};

using Ids = std::vector<std::string>;

}  // namespace quipu::test
