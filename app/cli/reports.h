// What verify, repair and migrate have in common: they go over one session or
// all of them, and report each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/json_out.h"
#include "cli/progress.h"
#include "quipu/inspect.h"
#include "quipu/store.h"

namespace quipu::cli {

/// The session of this name, or all when it is empty.
Result<std::vector<std::string>> chosen_sessions(SessionStore& sessions, std::string_view name);

void write_problems(JsonWriter& json, const std::vector<Problem>& problems);
void print_problems(Context& context, const std::vector<Problem>& problems);

/// Does `work(id)` to each session, with progress, and only then lets the caller
/// print: a terminal cannot show both at once.
template <class Work>
auto go_over(const Context& context, const char* doing, const std::vector<std::string>& ids,
             Work work) {
  std::vector<decltype(work(ids.front()))> results;
  Progress progress(!context.json, context.err, doing, ids.size());
  for (const std::string& id : ids) {
    results.push_back(work(id));
    progress.set(results.size());
  }
  return results;
}

/// Collects what happened to each session.
class Rounds {
 public:
  explicit Rounds(Context& context) : context_(context) {}

  /// `{"ok":...,"sessions":[...]}` is being written with --json.
  JsonWriter& json() { return json_; }

  void begin();
  /// A session that could not be looked at at all: reported, and the round
  /// goes on.
  void failed(const std::string& session_id, const Error& error);
  void found_damage() { damaged_ = true; }
  /// A session that was looked at, and for which this program is too old.
  void found_newer() {
    if (failure_ == kExitOk) failure_ = exit_code(Code::kUnsupported);
  }
  /// The exit code: damage, else the first failure, else success.
  int end();

 private:
  Context& context_;
  JsonWriter json_;
  bool damaged_ = false;
  int failure_ = kExitOk;
};

}  // namespace quipu::cli
