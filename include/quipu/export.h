// Export: a session as files of an agent, so that the agent can list it, show it
// and go on with it.
//
// To the agent it was imported from: its own records come back byte for byte, in
// their order, also the damaged ones; where its format allows it, followed by what was said
// since. To another agent, and of a session with redactions: the conversation at the head, in
// that agent's form. What that form has no place for is in `lost`, and so is what is not part
// of that conversation: other branches where the agent has none, what was compacted or
// redacted, labels, recorded cost.
//
// Thread-safety: every call from every thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

namespace fs {
class HostFiles;
}

struct ExportOptions {
  std::string to{};  // an agent: see known_agents
  /// Another place than the session's head. Only for another agent than its own.
  std::string head{};
  /// To its own agent: write the conversation anew instead of giving the records
  /// back.
  bool normalise = false;
  /// Name the files by where the agent looks for them on this machine: absolute paths. Of an
  /// agent that takes files in itself (`ExportReport::taken_in_by`): by themselves.
  /// `unsupported` for sessions of its own that such an agent takes in no more.
  bool install = false;
  /// Else: below this directory. Empty: by themselves, as if nothing were there.
  std::string directory{};
};

/// An index of all the agent's sessions that is there already, and is to say `after`. It is
/// the caller's to replace it, when it still says `before`, and nobody holds `lock`.
struct ExportedIndex {
  std::string path;
  std::string before;
  std::string after;  // nothing but this session is added
  /// A directory beside it that is made by whoever writes the file, and removed afterwards;
  /// empty: there is none.
  std::string lock;
};

/// Something that did not come along.
struct ExportLoss {
  std::string entry_id;  // empty: of the whole session
  std::string what;
  std::string why;
};

struct ExportReport {
  std::string session_id;
  std::string to;
  /// The session's id in the agent's own words.
  std::string agent_session;
  /// Relative to the directory that the agent keeps its files in (`install`: absolute;
  /// `directory`: below it), in the order they were written.
  std::vector<std::string> files;
  /// With `install`, of an agent that keeps all in a database of its own: the words of the
  /// command that takes in a file, whose path comes behind them. It is the caller's to run it,
  /// in `cwd` if that is there. Empty: the agent finds the files where they are.
  std::vector<std::string> taken_in_by{};
  /// The directory that the session works in; may be empty.
  std::string cwd{};
  /// What the session still has to be added to.
  std::vector<ExportedIndex> indexes{};
  std::vector<ExportLoss> lost;
};

/// Takes the next bytes of a file; files may come in turns.
using ExportSink = std::function<Result<void>(const std::string& path, std::string_view bytes)>;

/// `invalid_argument` for an agent nobody knows, and for a session in which nothing was said,
/// unless its own records are given back; `unsupported` for an agent that can only be read;
/// errors of the sink are passed on. `files` and `variables` are for tests: null means the
/// machine's own.
Result<ExportReport> export_session(Store& store, std::string_view session_id,
                                    const ExportOptions& options, const ExportSink& sink,
                                    fs::HostFiles* files = nullptr,
                                    const std::map<std::string, std::string>* variables = nullptr);

}  // namespace quipu
