// ImportedLog: the entries that one import adds to one session.
//
// A new session is made whole: its entries are collected, and handed to whoever makes
// many sessions at once (`take_new`). Only one that is too large for that is made with
// its first entries and then appended to, as one that was stored before is: without
// waiting for the disk; `settle` waits for it.
//
// What is added must pass the door: the entries of a new session do not go through it.
//
// Thread-safety: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/envelope.h"
#include "quipu/store.h"

namespace quipu::exchange {

class ImportedLog {
 public:
  explicit ImportedLog(Store& store) : store_(store) {}

  void begin(std::string session_id, bool is_new);

  /// A missing id or timestamp is filled in.
  void add(EntryParts parts);
  bool has_pending() const { return !pending_.empty(); }
  /// Enough is pending to be worth a `flush`.
  bool is_full() const;

  /// Puts what is pending into the log.
  Result<void> flush();
  /// Everything that was put into the log is on the disk.
  Result<void> settle();

  /// Whether nothing was put into a log yet that does not exist either.
  bool is_unmade() const { return is_unmade_; }
  /// All entries of a log that is not made yet.
  std::vector<std::string> take_new() { return std::move(pending_); }

 private:
  Store& store_;
  std::string session_id_;
  bool is_unmade_ = false;
  std::vector<std::string> pending_;  // complete JSON objects
  std::size_t pending_bytes_ = 0;
};

}  // namespace quipu::exchange
