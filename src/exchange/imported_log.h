// ImportedLog: the entries that one import adds to one session.
//
// A new session is made whole: its entries go into a log that nobody sees yet, which is
// handed to whoever makes many sessions at once (`take_new`). One that is stored is
// appended to without waiting for the disk; `settle` waits for it.
//
// What is added must pass the door: the entries of a new session do not go through it.
//
// Thread-safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "model/envelope.h"
#include "quipu/store.h"

namespace quipu::exchange {

class ImportedLog {
 public:
  explicit ImportedLog(Store& store) : store_(store) {}

  Result<void> begin(std::string session_id, bool is_new);

  /// A missing id or timestamp is filled in.
  Result<void> add(EntryParts parts);
  /// Enough is pending to be worth a `flush`; never for a new session.
  bool is_full() const;

  /// Puts what is pending into the log of a session that is stored.
  Result<void> flush();
  /// Everything that was put into the log is on the disk.
  Result<void> settle();

  bool is_new() const { return new_ != nullptr; }
  /// A new session's log, finished.
  Result<std::unique_ptr<NewLog>> take_new();

 private:
  Store& store_;
  std::string session_id_;
  std::unique_ptr<NewLog> new_;       // null: the session is stored
  std::vector<std::string> pending_;  // for a stored one: complete JSON objects
  std::size_t pending_bytes_ = 0;
};

}  // namespace quipu::exchange
