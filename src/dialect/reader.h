// Sources and how they are read: record by record, each with its place in the
// tree, in the order and with the bytes that the source has them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/host_files.h"
#include "quipu/result.h"

namespace quipu::dialect {

class Database;

/// One session of an agent as it lies on a machine.
struct Source {
  std::string agent;  // the dialect's name
  /// The file that names it; the database that holds it.
  std::string path;
  /// Which of a database's sessions; empty when `path` is one source.
  std::string part;
  /// All files it is read from; the first is `path`, the others lie below its
  /// directory or, where an agent has one place for each kind of file, beside it or below
  /// `root`.
  std::vector<std::string> files;
  /// The directory that files are named from; empty: that of `path`.
  std::string root{};
  /// The one of `files` that sessions share: see shared_index.h. Empty: none.
  std::string index{};

  /// A database's, see database.h: the copy that it was found in, and is read from; null:
  /// one is made.
  std::shared_ptr<Database> database{};
  /// What the database or the index says of this session: changes with it, although it may
  /// stay the same when others there change. Empty: nothing is known.
  std::string state{};
  std::int64_t modified_ms = 0;
};

/// One record of a source. Views are valid until the next one is read.
struct Record {
  /// As in the source. A record of more than kRecordBytesMax lies at `large_offset` of its
  /// file, `large_size` bytes long: then this is what it says in short, as JSON, or empty.
  std::string_view bytes;
  std::uint64_t large_offset = 0;
  std::uint64_t large_size = 0;
  /// Such a record that lies in no file.
  std::string_view large_bytes;
  /// What stands between this record and the next, as in the source.
  std::string_view end = "\n";
  /// Which of `Source::files`.
  std::uint32_t file = 0;

  /// See Dialect: `assistant`, `custom-title`. "raw" when nothing is known of it.
  std::string kind;
  bool is_fact = false;
  /// The record's own; empty: one is made from its bytes.
  std::string id;
  enum class Link : unsigned char { kPrevious, kRoot, kParent };
  /// Nodes: kPrevious hangs it on the node before it in the source.
  Link link = Link::kPrevious;
  std::string parent;  // kParent
  /// RFC 3339; empty: that of the record before.
  std::string timestamp;
  /// Nodes: whether the session goes on from here when nothing that leads comes
  /// after it; kAbove: from the nearest above it whose kind `Dialect::leads`.
  /// kThere: from the node `leads_to`, whatever this record is.
  enum class Leads : unsigned char { kHere, kAbove, kThere, kNot };
  Leads leads = Leads::kHere;
  std::string leads_to;  // kThere
  /// One JSON object on one line that passes the door as it is.
  bool is_line = false;
  /// Not as it should be, and why: "torn", "not_json", "too_large" … Empty: sound.
  std::string_view problem;

  /// As if it were new, but its strings keep their memory: records come by the million.
  void clear() {
    bytes = large_bytes = problem = {};
    large_offset = large_size = 0;
    end = "\n";
    file = 0;
    is_fact = is_line = false;
    link = Link::kPrevious;
    leads = Leads::kHere;
    for (std::string* const text : {&kind, &id, &parent, &timestamp, &leads_to}) text->clear();
  }
};

/// What an entry has room for, its envelope aside.
inline constexpr std::size_t kRecordBytesMax = (std::size_t{16} << 20) - 4096;

/// Where to go on in a source that has only grown; everything 0: at its beginning.
struct ReadPosition {
  std::uint64_t offset = 0;  // of the first file
};

/// What is known of a session before its first record is stored.
struct Outline {
  std::string session;  // the agent's own id of it
  std::string cwd;
  std::string created;  // RFC 3339
  /// The session that made this one: a sub-agent's.
  std::string spawned_by;
  /// A fork that refers to a part of another session instead of copying it: all
  /// of that session up to and including this record.
  std::string base_session;
  std::string base_record;
  /// For agents whose records have no ids: up to and including the last record for which
  /// this holds.
  std::function<bool(std::string_view record)> in_base;
};

class Reader {
 public:
  virtual ~Reader() = default;
  /// Known once the reader is open.
  virtual const Outline& outline() const = 0;
  /// The next record; false at the end.
  virtual Result<bool> next(Record& record) = 0;
  /// After the last record that `next` gave and that is whole.
  virtual ReadPosition position() const = 0;
  /// So many bytes of the first file before `position`, when they are still at hand;
  /// else nothing.
  virtual std::string_view before_position(std::size_t /*bytes*/) const { return {}; }
  /// Whether the agent writes this source anew instead of adding to it: then what is
  /// no longer in it was replaced, and is not lost.
  virtual bool is_whole() const { return false; }
};

/// What one of a source's files is called, seen from its root or, without one, from the
/// nearest directory that holds it and the first.
std::string file_name(const Source& source, std::uint32_t file);

/// The session id that an agent's session is stored under: `<agent>.<id>`, hashed
/// when that is no session id.
std::string session_id_of(std::string_view agent, std::string_view id);

}  // namespace quipu::dialect
