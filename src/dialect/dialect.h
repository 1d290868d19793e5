// Dialect: what Quipu knows of one agent's files.
//
// A dialect finds an agent's sessions on a machine, reads them record by record,
// and understands the records when somebody asks. What it reads is stored as it
// came: an imported entry's payload is the record, byte for byte, and its type says
// whose it is:
//
//   claude.assistant             a node of the tree, of kind `assistant`
//   fact.claude.custom-title     a fact beside it
//
// So nothing has to be imported again when a format is understood better, and
// native entries can follow imported ones in one session. Everything that is
// understood is understood on read: `lift`, `note`, `conversation`.
//
// To add one: a folder, a class, a line in registry.cc. docs/dialects.md says how.
//
// Bytes come from other programs: every function here is total.
//
// Thread-safety: dialects have no state; every call from every thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/lifted.h"
#include "dialect/note.h"
#include "dialect/reader.h"
#include "dialect/transcript.h"
#include "fs/host_files.h"

namespace quipu::dialect {

/// What a dialect may know of the machine to find its sessions there.
struct Machine {
  fs::HostFiles& files;
  std::string home;  // no slash at its end
  /// An environment variable; empty when it is not set.
  std::function<std::string(const std::string&)> variable;
};

/// A stored record, as `conversation` sees it.
struct StoredRecord {
  std::string_view id;
  /// Behind the dialect's name: `assistant`, `custom-title`. Empty: not of this
  /// dialect, such as entries that came later.
  std::string_view kind;
  std::string_view payload;  // the record; what was carried as text is text again
  /// Its parent's place in the span; kNoRecord for roots and facts.
  std::uint32_t parent = UINT32_MAX;
  /// In a source that is written anew: its place there now; kNoRecord when it is gone
  /// from there, and in all other sources.
  std::uint32_t place = UINT32_MAX;
  bool redacted = false;
};
inline constexpr std::uint32_t kNoRecord = UINT32_MAX;

/// A message of a conversation: one that the record lifts to, or all of them.
struct Pick {
  std::uint32_t record = 0;
  std::uint32_t message = kAll;
  /// What the record says to a model by now, when that is not what it said: lifted in
  /// place of its own payload. Empty: its own.
  std::string payload{};
  static constexpr std::uint32_t kAll = UINT32_MAX;
};

/// An index as it is when one more session is in it.
struct Joined {
  std::string text;
  /// A directory beside it that exists while the agent's program writes it; empty: none.
  std::string lock{};
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// One lower-case word: `claude`.
  virtual std::string_view name() const = 0;

  // ---- finding

  /// Directories and files in which this machine's sessions lie, whether they
  /// exist or not. What could say where others lie and may not be read is one of
  /// them: who looks there finds out why.
  virtual std::vector<std::string> places(const Machine& machine) const = 0;
  /// Whether this is a file of this dialect that begins a source of its own:
  /// decided by `head`, its first bytes, as far as possible, else by its path.
  virtual bool recognises(const std::string& path, std::string_view head) const = 0;
  /// Whether a file in a place of this agent's is called as one that holds lines of a session,
  /// and is none of those that are kept beside sessions: if nobody recognises it, that is said.
  virtual bool is_session_name(std::string_view path) const { return path.ends_with(".jsonl"); }
  /// The sources that a recognised file holds: usually itself with the files that
  /// belong to it; a database holds many. `problems`: what could not be looked at.
  virtual Result<std::vector<Source>> sources(const std::string& path, fs::HostFiles& files) const;

  // ---- reading

  /// Opens a source where `from` says, or at its beginning.
  virtual Result<std::unique_ptr<Reader>> open(const Source& source, fs::HostFiles& files,
                                               const ReadPosition& from) const = 0;
  /// Whether nodes of this kind can be where a session goes on from.
  virtual bool leads(std::string_view kind) const = 0;

  // ---- understanding

  /// Adds the messages that a record carries; none for bookkeeping.
  virtual void lift(std::string_view kind, std::string_view payload, Lifted& into) const = 0;
  /// What a record says of its session as a whole: title, usage, lineage …
  virtual void note(std::string_view kind, std::string_view payload, Note& into) const = 0;
  /// The conversation that ends with `records[at]`, oldest first, by the agent's
  /// own rules: branches, compactions, rewinds, replaced records. The default walks
  /// the parents.
  virtual std::vector<Pick> conversation(std::span<const StoredRecord> records,
                                         std::uint32_t at) const;

  // ---- writing

  /// The files of a session of this agent's own that says what `transcript` says.
  /// What it cannot say is reported, never left out in silence. `unsupported` when
  /// this dialect is read only.
  virtual Result<Written> write(const Transcript& transcript) const = 0;
  /// Whether these files say what answers cost, each of them or all together.
  virtual bool writes_cost() const { return false; }
  /// Whether they have `Transcript::asides`.
  virtual bool writes_branches() const { return false; }
  /// Whether what follows this record can be written by itself (`Transcript::after`): as the
  /// rest of the file that ends with it.
  virtual bool goes_on_from(std::string_view /*record*/) const { return false; }

  // ---- putting files where the agent looks for them

  /// What a file of a session that began in `cwd` is called on this machine, from the place
  /// on: `sessions/x.jsonl`, `sessions/../attachments/y`. `name`: as `write` or an import
  /// calls it. The default: the same.
  virtual Result<std::string> name_on(const Machine& machine, const std::string& name,
                                      const std::string& cwd) const;
  /// The words of the command that takes in a file of `write`, of an agent that keeps all in a
  /// database which only its program should write; the file's path comes behind them. Empty:
  /// it finds the files where they lie.
  virtual std::vector<std::string> takes_in_by() const { return {}; }
  /// What the file is called that holds something of every session, and lies beside the
  /// place; empty: there is none. `write` and an import give a session's part of it.
  virtual std::string_view index_name() const { return {}; }
  /// `index` with a session's part added; nothing in it is changed. The same when it knows
  /// the session already. `unsupported` when it is not understood.
  virtual Result<Joined> join(std::string_view index, std::string_view part) const;
};

/// The records up to `at` that a source consists of. One that is written anew is a list by
/// itself: those that are in it now, in its own order. Any other: all, as they came.
std::vector<std::uint32_t> in_order(std::span<const StoredRecord> records, std::uint32_t at);

/// So much of a file is shown to `recognises` at most: of one whose first line is that long.
/// Who looks for a header in it looks no less far.
inline constexpr std::size_t kHeadBytesMax = std::size_t{64} << 20;

/// The next line of a file's head, without its end, taken from it. A byte order mark is
/// passed over.
std::string_view next_line(std::string_view& head);
/// The next line that is an object: blank and damaged lines are passed over, as the agents
/// do it. Of objects on one line the first; the last line of the head may be cut. Empty:
/// there is none.
std::string_view next_object(std::string_view& head);

/// All dialects, in the order in which files are offered to them.
std::span<const Dialect* const> all_dialects();
/// Null: no such name.
const Dialect* find_dialect(std::string_view name);

/// Whose record an entry type names; null dialect when it is nobody's.
struct RecordType {
  const Dialect* dialect = nullptr;
  std::string_view kind;
  bool is_fact = false;
};
RecordType record_type(std::string_view entry_type);
/// Its other way round.
void append_entry_type(std::string& to, const Dialect& dialect, std::string_view kind,
                       bool is_fact);
std::string entry_type_of(const Dialect& dialect, std::string_view kind, bool is_fact);

}  // namespace quipu::dialect
