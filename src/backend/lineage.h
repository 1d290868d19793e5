// Lineage: a session as its readers see it, across the logs it was forked from.
//
// A fork sees the path root → entry of the log that holds the entry, then its
// own log. Facts do not cross, with one exception: a redaction holds wherever
// its entry is seen. Everything here is generic over backends: they give a
// LogView of one log, this puts them together.
//
// Thread-safety: immutable after construction; share freely.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/fold.h"
#include "quipu/entry.h"
#include "quipu/result.h"

namespace quipu {

/// A stored entry of one log.
struct StoredEntry {
  Placement place;
  /// The stored JSON object, a view into the LogView.
  std::string_view text;
  /// How many bytes at its end are the store's: the seal with the closing brace.
  std::size_t seal_bytes = 0;
  bool adopted = false;
  /// Its bytes are not those that were stored: `text` says where it stands and nothing else.
  /// Where places are found by reading, such lines are passed over instead.
  bool damaged = false;
};

/// One log at one moment, without what it inherits. Given out by backends.
class LogView {
 public:
  virtual ~LogView() = default;
  virtual const FoldState& fold() const = 0;
  /// Damaged lines that are passed over.
  virtual std::uint32_t damaged() const = 0;
  /// How much of the log is in `fold`: bytes that no writer will ever change.
  /// Less than the log's size when its end is torn or being written.
  virtual std::uint64_t settled_bytes() const = 0;
  virtual Result<StoredEntry> entry(Ordinal own) const = 0;
  /// From the only reader of this view, who goes from entry to entry: the texts of those
  /// before `own` are not looked at any more. A hint; they can be asked for again.
  virtual void done_before([[maybe_unused]] Ordinal own) const {}
  /// The places of all entries at once: what a tree is made from.
  virtual Result<std::vector<Placement>> places() const = 0;
  virtual Result<std::string> id(Ordinal own) const = 0;
  virtual Result<std::optional<Ordinal>> find(std::string_view id) const = 0;
};

class Lineage;

/// The inherited path: a node of some other log for every depth.
class Ancestry : public Inherited {
 public:
  /// The path that ends in `entry_id`, an own node of `parent`'s log. `corrupt`
  /// when it is not there.
  static Result<std::shared_ptr<const Ancestry>> of_fork(std::string parent_session,
                                                         std::shared_ptr<const Lineage> parent,
                                                         std::string_view entry_id);

  Ordinal count() const override { return static_cast<Ordinal>(nodes_.size()); }
  Result<std::optional<FoundEntry>> find(std::string_view id) const override;

  Result<StoredEntry> entry(Ordinal depth) const;
  Result<std::string> id(Ordinal depth) const;
  bool is_redacted(Ordinal depth) const;
  /// The session whose log holds the node, as it sees itself, and the node there.
  std::pair<std::shared_ptr<const Lineage>, Ordinal> holder(Ordinal depth) const;
  /// The session whose log holds the node.
  const std::string& session(Ordinal depth) const { return logs_[nodes_[depth].log].session; }

 private:
  struct Log {
    std::string session;
    std::shared_ptr<const Lineage> lineage;  // knows its own redactions
  };
  struct Node {
    std::uint32_t log = 0;
    Ordinal own = 0;
  };
  std::vector<Log> logs_;  // nearest first
  std::vector<Node> nodes_;
};

class Lineage {
 public:
  /// `ancestry` is null for a session that is no fork.
  static Result<std::shared_ptr<const Lineage>> make(std::shared_ptr<const LogView> own,
                                                     std::shared_ptr<const Ancestry> ancestry);

  const LogView& own() const { return *own_; }
  const std::shared_ptr<const Ancestry>& ancestry() const { return ancestry_; }
  Ordinal base() const { return own_->fold().base; }
  /// Visible entries: inherited nodes, then the own log.
  Ordinal size() const { return own_->fold().next(); }
  Ordinal head() const { return own_->fold().head; }

  Result<StoredEntry> entry(Ordinal visible) const;
  Result<std::string> id(Ordinal visible) const;
  Result<std::optional<FoundEntry>> find(std::string_view id) const;
  bool is_redacted(Ordinal visible) const;

 private:
  Lineage(std::shared_ptr<const LogView> own, std::shared_ptr<const Ancestry> ancestry)
      : own_(std::move(own)), ancestry_(std::move(ancestry)) {}

  std::shared_ptr<const LogView> own_;
  std::shared_ptr<const Ancestry> ancestry_;
  std::vector<Ordinal> redacted_;  // sorted
};

/// A stored entry as its reader gets it: without the store's own members,
/// envelope made whole. Adopted lines get what they lack (but a timestamp),
/// redacted entries lose payload and meta. Read one after another of one lineage with the same:
/// what was read before is made use of.
struct EntryText {
  EntryText() = default;
  EntryText(const EntryText&) = delete;
  EntryText& operator=(const EntryText&) = delete;

  std::string_view json;  // as it is stored, as long as the lineage lives, or of `made`
  Ordinal visible = kNone;
  std::string id;
  std::optional<std::string> parent_id;
  Envelope envelope;  // views into `json`
  std::string made;
};
Result<void> read_entry(const Lineage& lineage, Ordinal visible, EntryText& into);

}  // namespace quipu
