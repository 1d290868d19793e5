// ViewFile: the rows of the catalogue in SQLite, so that the next process need
// not fold everything.
//
// Nothing here ever fails its caller. What cannot be read is not there, and is
// folded from the logs; what cannot be written is written another time, or not.
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
// Every row carries a checksum, and lists read all rows by one scan of the table:
// there is no index whose damage could hide a row. A row that is looked up by its
// key and not found costs a fold and nothing else. The file is never synced: a
// power cut that harms it costs a fold.
//
// Thread-safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs/fs.h"
#include "sql/database.h"
#include "view/session_row.h"

namespace quipu::view {

using RowPointer = std::shared_ptr<const SessionRow>;

class ViewFile {
 public:
  static constexpr const char* kName = "views.db";

  /// `directory` is the root of `fs` as an absolute path: SQLite opens its files
  /// itself.
  ViewFile(std::unique_ptr<fs::Fs> fs, const std::string& directory);
  ~ViewFile();

  /// Whatever sound rows there are, in no order; at most one a session.
  std::vector<RowPointer> load();

  /// Before `load`: one row by its key; null when there is none, or none to be
  /// believed. Makes no file.
  RowPointer find(const std::string& session_id);
  /// Before `load`: adds or replaces one row, if that goes without trouble.
  /// Mending is for `save`, which knows all rows.
  void put(const RowPointer& row);

  /// After `load`: brings the file to what `all` says. `changed` and `gone` are
  /// what differs from the last time, and enough when nothing went wrong then.
  void save(std::span<const RowPointer> changed, std::span<const std::string> gone,
            std::span<const RowPointer> all);
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
  Result<RowPointer> look_up(const std::string& session_id);
  Result<void> scan(std::vector<RowPointer>& rows);
  Result<void> write(std::span<const RowPointer> rows, std::span<const std::string> gone,
                     bool anew);
  void judge(const Error& error);
  void remove();
  void close();

  std::unique_ptr<fs::Fs> fs_;
  const std::string path_;
  const std::uint64_t forks_;
  State state_ = State::kUsable;
  bool behind_ = false;  // the file lacks something that `all` has
  std::optional<sql::Connection> connection_;
  fs::Identity identity_{};  // of the file that is open
};

}  // namespace quipu::view
