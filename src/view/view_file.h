// ViewFile: what a view has computed from each log, in SQLite, so that the next
// process need not compute everything. The rows are bytes here; views know what they
// mean.
//
// Nothing here ever fails its caller. What cannot be read is not there, and is
// computed from the logs; what cannot be written is written another time, or not.
//
//   what is found                          | what is done
//   ---------------------------------------+-----------------------------------
//   no file, or another one behind the name| made anew, all rows written
//   damaged, no database, a bad row, older | deleted, made anew, all rows written
//   newer schema                           | left alone: rows stay in memory
//   cannot be written (read-only, a        | read if that is possible, and left
//   directory of that name)                |   alone as long as this object lives
//   held by another connection             | rows stay in memory, later all of
//                                          |   them are written
//
// Every row carries a checksum, and views read all rows by one scan of the table:
// there is no index whose damage could hide a row. A row that is looked up by its
// key and not found costs a fold and nothing else. The file is never synced: a
// power cut that harms it costs a fold.
//
// Thread-safety: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs/fs.h"
#include "sql/database.h"
#include "view/log_cursor.h"

namespace quipu::view {

/// The file of one view: its name, and the steps of its schema (sql/migrate.h). The first
/// is `kCreate`; one that deletes all rows makes them be computed again.
struct ViewSchema {
  const char* file;
  std::span<const char* const> steps;

  /// Without rowid: the table is one tree in the order of its key, and no second
  /// one could disagree with it.
  static constexpr const char* kCreate =
      "CREATE TABLE sessions("
      "session_id TEXT PRIMARY KEY NOT NULL, device INTEGER, inode INTEGER, settled_bytes INTEGER, "
      "modified_ms INTEGER, entries INTEGER, tail_crc INTEGER, record TEXT, crc INTEGER"
      ") WITHOUT ROWID";
};

struct ViewRecord {
  std::string session_id;
  LogCursor cursor;
  std::string record;
};

class ViewFile {
 public:
  /// Takes a row; false when it is none that the view has written.
  using Take =
      std::function<bool(std::string session_id, const LogCursor& cursor, std::string_view record)>;

  /// `directory` is the root of `fs` as an absolute path: SQLite opens its files
  /// itself.
  ViewFile(const ViewSchema& schema, std::unique_ptr<fs::Fs> fs, const std::string& directory);
  ~ViewFile();

  /// Whatever sound rows there are, in no order; at most one a session.
  void load(const Take& take);

  /// Before `load`: one row by its key, if there is one to be believed. Makes no file.
  void find(const std::string& session_id, const Take& take);
  /// Before `load`: adds or replaces one row, if that goes without trouble.
  /// Mending is for `save`, which knows all rows.
  void put(const ViewRecord& row);

  /// After `load`: brings the file to what `all` says. `changed` and `gone` are
  /// what differs from the last time, and enough when nothing went wrong then.
  void save(std::span<const ViewRecord> changed, std::span<const std::string> gone,
            const std::function<std::vector<ViewRecord>()>& all);
  /// Whether `save` has something to do even when nothing changed.
  bool is_behind() const { return behind_; }

 private:
  /// What an error means for the file.
  enum class State : unsigned char {
    kUsable,
    kUnwritable,  // leave it alone
    kBroken,      // delete it
  };

  bool is_ours();
  Result<void> open();
  Result<void> look_up(const std::string& session_id, const Take& take);
  Result<void> scan(const Take& take);
  Result<void> write(std::span<const ViewRecord> rows, std::span<const std::string> gone,
                     bool anew);
  void judge(const Error& error);
  void remove();
  void close();

  const ViewSchema schema_;
  std::unique_ptr<fs::Fs> fs_;
  const std::string path_;
  const std::uint64_t forks_;
  State state_ = State::kUsable;
  bool behind_ = false;  // the file lacks something that `all` has
  std::optional<sql::Connection> connection_;
  fs::Identity identity_{};  // of the file that is open
};

}  // namespace quipu::view
