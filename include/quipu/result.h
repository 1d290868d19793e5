// Results: how every fallible call of Quipu answers.
//
// A call returns `Result<T>`: either the value or an `Error`. Both are
// [[nodiscard]], no exception leaves the library, and the library never prints.
//
// What an error promises: the call changed nothing ("absent"), except for
// `durability_unknown`, which says that the change may or may not survive a
// power cut. In both cases repeating the same call with the same ids is safe.
//
// Thread-safety: values; share them as you would share a std::string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace quipu {

/// Why a call failed. Closed and stable: the words of `name()` appear in the
/// CLI's JSON and are never renamed. Grouped by what the caller can do.
enum class Code : std::uint8_t {
  // Name something that exists.
  kNotFound,
  // Somebody else was faster: look again, then decide.
  kTailMoved,       // the log's last entry is not the expected one
  kHeadMoved,       // the session's head is not the expected one
  kFenced,          // a newer run holds the session
  kIdConflict,      // this id is taken by other content
  kPartialOverlap,  // some entries of the batch are stored already, some not
  // Fix the call.
  kUnknownParent,    // parentId names no node that the session can see
  kBadBatch,         // the entries of a batch contradict each other
  kInvalidArgument,  // malformed JSON, id, URL, option
  kTooLarge,         // over the limits of limits.h
  // Wait, then repeat.
  kBusy,      // another writer held the session for longer than the time limit
  kNoSpace,   // disk or quota full; nothing was stored
  kNoMemory,  // nothing was stored
  // Look after the storage.
  kCorrupt,            // stored bytes are damaged; run `quipu verify`
  kIoError,            // the medium failed; nothing was acknowledged
  kDurabilityUnknown,  // written, but the disk would not confirm it
  kStorageGone,        // read-only, unmounted or stale storage
  kNotAllowed,         // missing permission
  // Use another version, or report a bug.
  kUnsupported,  // newer format, or a feature this backend lacks
  kInternal,     // a defect of Quipu; the handle refuses further writes
};

/// The stable word for `code`, such as "tail_moved".
std::string_view name(Code code);

/// Whether the same call may succeed later without being changed.
bool retryable(Code code);

/// What went wrong, for programs (`code`) and for people (`message`, `hint`).
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  /// What to do about it. Never empty.
  std::string_view hint() const;
  bool retryable() const { return quipu::retryable(code_); }

  /// `tail_moved`: the tail as it is; `head_moved`: the head as it is; `fenced`:
  /// the newest run; `not_found` of a cursor of events: the oldest there is.
  /// Empty for every other code, and for a session without a head.
  const std::string& actual() const { return actual_; }
  /// A failed append: the ids of its entries in order, filled-in ones included,
  /// so that a retry can be told from a new entry.
  const std::vector<std::string>& entry_ids() const { return entry_ids_; }

  /// Adds where it happened, keeps everything else.
  Error in(std::string_view place) && {
    message_.insert(0, std::string(place) + ": ");
    return std::move(*this);
  }
  Error with_hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }
  Error with_actual(std::string id) && {
    actual_ = std::move(id);
    return std::move(*this);
  }
  Error with_entry_ids(std::vector<std::string> ids) && {
    entry_ids_ = std::move(ids);
    return std::move(*this);
  }

 private:
  Code code_;
  std::string message_;
  std::string hint_;
  std::string actual_;
  std::vector<std::string> entry_ids_;
};

/// A value or an error. `value()` and `error()` may only be called after `ok()`
/// has said which of the two is there.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  void operator*() && = delete;  // the value would die with the temporary

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

/// The one way to drop an error on purpose; `reason` is for whoever searches
/// for such places.
template <class T>
void ignore(const Result<T>& /*result*/, std::string_view /*reason*/) {}

}  // namespace quipu
