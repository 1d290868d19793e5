// SqlAppend: a batch on its way into the database.
//
// It is planned on what this process believes of the log (`LogHead`) and committed if that
// still holds: the keys of `entries` refuse it otherwise, and it is planned again on what
// the database says. So an append that meets nobody is one round trip: nothing is locked or
// looked up first. While it is planned *on trust*, ids of the batch are taken to be new: if
// one is not, the key says so.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/lineage.h"
#include "backend/plan.h"
#include "backend/sql/log_head.h"
#include "backend/sql/tables.h"
#include "sql/pool.h"

namespace quipu::sqlstore {

class SqlAppend : public AppendTarget {
 public:
  /// All of it must outlive this. `inherited` is null when the session is no fork.
  SqlAppend(sql::Pool& pool, const std::string& session_id, const LogHead& head,
            std::shared_ptr<const Ancestry> inherited, bool on_trust);

  /// Plans the batch. What has to be written is in `commands` then.
  Result<Planned> plan(const Batch& batch, const AppendOptions& options);
  /// Adds complete objects instead: what a new log is made from.
  void add_all(std::span<const std::string> entries);

  /// The commands, to be carried out together, with the head as it will be. Once.
  std::vector<sql::Command> commands(std::int64_t now_ms);
  const LogHead& head() const { return head_; }

  // AppendTarget
  const FoldState& fold() const override { return head_.fold; }
  Result<std::optional<FoundEntry>> find(std::string_view id) override;
  Result<std::string_view> text(Ordinal visible) override;
  Result<std::string_view> id(Ordinal visible) override;
  void stage(const Draft& draft, std::string_view parent, const FoldInput& input) override;

 private:
  struct Line {
    std::string id;
    std::string json;
    std::string type;
    std::string timestamp;
    Placement place;
    MessageColumns message{};
  };

  /// In the session's own log, as far as it was when this began.
  Result<std::optional<FoundEntry>> stored(std::string_view id);
  void add(std::string json, const FoldInput& input);

  sql::Pool& pool_;
  const std::string& session_id_;
  const Ordinal first_;  // own ordinal of the first new entry
  LogHead head_;
  std::shared_ptr<const Ancestry> inherited_;
  const bool on_trust_;
  std::map<std::string, std::optional<FoundEntry>, std::less<>> found_;
  std::deque<Line> lines_;
  std::string fetched_;
  std::string facts_;
  Tables tables_;
};

}  // namespace quipu::sqlstore
