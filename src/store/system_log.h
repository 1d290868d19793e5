// One of the store's own logs (`system/<name>`): made by the first append.
//
// Thread-safety: every call from every thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/backend.h"

namespace quipu {

class SystemLog {
 public:
  SystemLog(std::shared_ptr<Backend> backend, std::string_view name)
      : backend_(std::move(backend)), id_(std::string(kSystemPrefix) + std::string(name)) {}

  /// As it is now; null: nothing was ever appended.
  Result<std::shared_ptr<const Lineage>> read() const;

  /// One batch. `tail_moved` unless the log still ends with `expected_tail`, where that is
  /// given.
  Result<void> append(std::span<const NewEntry> entries,
                      const std::optional<std::string>& expected_tail = {}) const;

 private:
  const std::shared_ptr<Backend> backend_;
  const std::string id_;
};

}  // namespace quipu
