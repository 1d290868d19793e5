// ModelStore: the contract in maps and vectors, slow and obviously right.
//
// It shares no code with the product but the public types and the JSON scanner.
// Everything is computed again from the logs at every call. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/history_line.h"
#include "support/history_target.h"

namespace quipu::test {

class ModelStore : public HistoryTarget {
 public:
  /// `now` is the timestamp of everything that comes without one.
  explicit ModelStore(std::string now) : now_(std::move(now)) {}

  /// Ids to fill in, first come first served, so that the model can follow a
  /// store that made up its own. When there are none: `filled-N`.
  void fill_ids_from(std::deque<std::string> ids) { ids_ = std::move(ids); }

  Result<SessionHandle> create(const std::string& id) override;
  Result<AppendResult> append(const std::string& session, const std::vector<std::string>& lines,
                              const AppendOptions& options) override;
  Result<SessionHandle> fork(const std::string& session, const std::string& entry,
                             const ForkOptions& options) override;
  Result<SessionView> view(const std::string& session) override;
  Result<std::vector<std::string>> sessions() override;
  /// What other programs write is understood by AdoptingModel.
  void write_foreign(const std::string& /*session*/, const std::string& /*line*/) override {}
  void reopen() override {}

 protected:
  struct Stored {
    HistoryLine line;   // as the log has it: never redacted
    std::string owner;  // the session whose log holds it
  };
  using Sight = std::vector<Stored>;
  struct Log {
    std::optional<std::pair<std::string, std::string>> origin;  // session and entry
    Sight own;
  };

  std::string fresh_id();
  Stored header(const std::string& session);
  /// What the session sees: the path to where it was forked, then its own log.
  Sight sight(const std::string& session) const;
  bool is_redacted(const Stored& entry) const;
  Result<void> check_session(const std::string& id) const;
  Result<Sight> admit(const std::vector<std::string>& lines);
  Result<AppendResult> store(const std::string& session, const Sight& batch,
                             const AppendOptions& options);
  Result<void> place(Sight& sight, Stored entry) const;

  static const Stored* find(const Sight& sight, const std::string& id);
  static bool has_node(const Sight& sight, const std::string& id);
  static Sight path(const Sight& sight, const std::string& id);
  static std::optional<std::string> head(const Sight& sight);

  std::string now_;
  std::deque<std::string> ids_;
  int filled_ = 0;
  std::map<std::string, Log> logs_;
};

}  // namespace quipu::test
