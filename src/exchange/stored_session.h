// StoredSession: what is stored of a session that is imported again.
//
// A source that has only grown is read on from its mark (`only_new`): its records
// came after what is stored before the mark. What is stored after it is of a pass that
// was cut off, and may be met again.
//
// Thread-safety: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/lineage.h"
#include "dialect/dialect.h"
#include "exchange/import_mark.h"

namespace quipu::exchange {

class StoredSession {
 public:
  static Result<std::unique_ptr<StoredSession>> look_at(std::shared_ptr<const Lineage> lineage,
                                                        const dialect::Dialect& dialect,
                                                        bool only_new);

  /// Where the last pass ended.
  struct End {
    std::string head;       // of the session; empty: it has no node
    bool is_ours = true;    // the head is a record of the agent's
    std::string last_node;  // the last record that is a node, or what a fork goes on from
    std::string torn;       // a cut-off line that is stored last
    std::string open;       // the last record, when nothing followed it in the source
    std::string recipe;     // payload
  };
  const End& end() const { return end_; }
  /// Where it was read from the last time, if that is not what its `source` says.
  std::string read_from() const { return mark_ ? mark_->source : std::string(); }
  /// `only_new`: this is the mark of the last pass that was finished.
  bool ends_with(const ImportMark& mark) const {
    return mark_ && mark_->offset == mark.offset && mark_->before == mark.before;
  }

  struct Match {
    bool is_same = false;    // its payload is the record
    bool is_before = false;  // `only_new`: it cannot be what was read now
    std::string end;         // what followed it in the source
    std::string file;        // it comes from; empty: the first
  };
  /// The entry of this id; nothing when there is none.
  Result<std::optional<Match>> match(std::string_view id, std::string_view payload) const;

  Result<bool> is_node(std::string_view id) const;
  /// Whether the entry is a line that was cut off.
  Result<bool> is_torn(std::string_view id) const;
  /// The nearest node at or above `id` whose kind leads; empty: none.
  Result<std::string> leader_of(std::string id) const;

  /// Calls `see` with every record of the agent's.
  Result<void> each_record(
      const std::function<void(std::string_view id, const dialect::RecordType& type)>& see) const;

 private:
  StoredSession(std::shared_ptr<const Lineage> lineage, const dialect::Dialect& dialect)
      : lineage_(std::move(lineage)), dialect_(dialect) {}

  Result<void> find_head();
  Result<void> find_end(bool only_new);

  std::shared_ptr<const Lineage> lineage_;
  const dialect::Dialect& dialect_;
  End end_;
  // `only_new`: where the last pass that was finished ended
  Ordinal marked_ = 0;
  std::optional<ImportMark> mark_;
};

}  // namespace quipu::exchange
