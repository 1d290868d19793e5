// HistoryTarget: what a worked history talks to, be it a backend or the model.
//
// The answers of a session are gathered in one comparable value (SessionView),
// so that "same answers" is one comparison and not a list of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quipu/store.h"

namespace quipu::test {

/// An entry as a reader sees it.
struct Row {
  std::string id;
  std::optional<std::string> parent;
  std::string type;
  std::string timestamp;
  std::string run_id;
  std::string payload;
  std::string meta;
  std::string json;
  bool fact = false;
  bool inherited = false;
  bool adopted = false;
  bool redacted = false;
};

/// Everything a session answers, in log order wherever order matters.
struct SessionView {
  std::vector<Row> rows;
  std::optional<std::string> head;
  std::string tail;
  std::string parent_session;
  std::vector<std::string> roots;
  std::vector<std::string> leaves;
  std::vector<std::string> branch_points;
  std::map<std::string, std::vector<std::string>> children;  // nodes only
  std::map<std::string, std::vector<std::string>> paths;     // facts: empty

  const Row* find(const std::string& id) const;
  /// Roots, leaves, branch points, children and paths from the parents of the
  /// rows alone, the slow and obvious way.
  void derive_shape();
};

/// What differs, in words; empty when nothing does. Not compared: what headers
/// say, members of `json` in redacted and adopted entries, which the contract
/// leaves open, and a `parentId` that is null against one that is absent.
std::string difference(const SessionView& expected, const SessionView& actual);

/// The deepest node on both paths, the slow and obvious way.
std::optional<std::string> common_ancestor(const SessionView& view, const std::string& a,
                                           const std::string& b);

std::string join(const std::vector<std::string>& words);

class HistoryTarget {
 public:
  virtual ~HistoryTarget() = default;

  virtual Result<SessionHandle> create(const std::string& id) = 0;
  virtual Result<AppendResult> append(const std::string& session,
                                      const std::vector<std::string>& lines,
                                      const AppendOptions& options) = 0;
  virtual Result<SessionHandle> fork(const std::string& session, const std::string& entry,
                                     const ForkOptions& options) = 0;
  virtual Result<SessionView> view(const std::string& session) = 0;
  virtual Result<std::vector<std::string>> sessions() = 0;

  /// Another program adds `line` and a line feed to the session's log. Only on
  /// targets whose logs are files.
  virtual void write_foreign(const std::string& session, const std::string& line) = 0;
  /// Closes and opens again, without anything that can be rebuilt. A target
  /// that lives in memory stays as it is.
  virtual void reopen() = 0;
};

}  // namespace quipu::test
