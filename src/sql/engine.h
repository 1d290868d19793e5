// Engine: the face of the databases that a store can live in. One connection;
// two drivers, SQLite and PostgreSQL.
//
// A store does two things: it asks, and it commits. Either is one round trip. A
// commit is a list of commands that happen together or not at all; what must
// hold for it to happen is said by the keys of the tables, so that nothing has to
// be read in between: a command that a key forbids fails with `id_conflict`, and
// with it all others.
//
// SQL is written once where that is possible (`Text`): parameters are $1, $2 …, in the
// order in which they first appear; `@name` is a table of the store; the words in
// braces below are what the two engines call differently.
//
//   {key}        text that is compared byte by byte
//   {bytes}      bytes
//   {clustered}  after a table: kept in the order of its primary key
//
// `@@` is itself.
//
// Errors, of both drivers: `busy` when others held what was needed for longer than
// the time limit, or the call was cancelled; `id_conflict` for a key that is taken;
// `corrupt`, `no_space`, `no_memory`, `not_allowed`, `too_large`; `storage_gone` when
// it cannot be reached or not be written; `durability_unknown` when a commit was
// sent and no answer came; `invalid_argument` for SQL that does not fit the
// database.
//
// Thread-safety: one thread at a time, but for `cancel`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::sql {

/// SQL in the words of both engines.
struct Text {
  constexpr Text(const char* both) : sqlite(both), postgres(both) {}
  constexpr Text(const char* for_sqlite, const char* for_postgres)
      : sqlite(for_sqlite), postgres(for_postgres) {}
  /// A command for many rows. `kinds` has a letter a column: t(ext), i(nteger), b(ytes).
  /// SQLite runs `one` for each row; PostgreSQL runs it for a single one, and `many`, where
  /// $1, $2 … are arrays, for more.
  constexpr Text(const char* one, const char* many, const char* columns)
      : sqlite(one), postgres(many), kinds(columns) {}

  const char* sqlite;
  const char* postgres;
  const char* kinds = nullptr;
};

/// What a parameter is. Texts and bytes are kept by reference until the call ends.
class Param {
 public:
  enum class Kind : unsigned char { kNull, kInteger, kText, kBytes };

  Param() = default;
  Param(std::int64_t number) : kind_(Kind::kInteger), number_(number) {}
  Param(std::string_view text) : kind_(Kind::kText), bytes_(text) {}
  Param(const std::string& text) : Param(std::string_view(text)) {}
  Param(const char* text) : Param(std::string_view(text)) {}
  Param(std::string&&) = delete;
  static Param bytes(std::string_view bytes) {
    Param param(bytes);
    param.kind_ = Kind::kBytes;
    return param;
  }

  Kind kind() const { return kind_; }
  std::int64_t number() const { return number_; }
  std::string_view view() const { return bytes_; }

 private:
  Kind kind_ = Kind::kNull;
  std::int64_t number_ = 0;
  std::string_view bytes_;
};

/// The answer to a question, row by row. Must not outlive its engine, and no other call
/// of the engine may be made before it is dropped.
class Rows {
 public:
  virtual ~Rows() = default;
  /// To the next row; false at the end.
  virtual Result<bool> next() = 0;
  virtual std::int64_t integer(int column) const = 0;
  /// Texts and bytes; valid until the next call of `next`.
  virtual std::string_view text(int column) const = 0;
  virtual bool is_null(int column) const = 0;
};

/// One command of a commit.
struct Command {
  Text text;
  /// For a text with `kinds`: row after row.
  std::vector<Param> params{};
};

enum class Sync : unsigned char {
  kNow,    // on the disk when the commit returns
  kLater,  // soon; the next commit with kNow takes it along
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual Result<std::unique_ptr<Rows>> ask(const Text& text,
                                            std::span<const Param> params = {}) = 0;
  /// Everything or nothing.
  virtual Result<void> commit(std::span<const Command> commands, Sync sync = Sync::kNow) = 0;
  /// Keeps other writers waiting until the pointer is dropped, where the engine has a lock
  /// for that; this thread goes on. For who was too slow before.
  virtual Result<std::shared_ptr<void>> turn() { return std::shared_ptr<void>(); }
  /// Puts the storage in order before it is left: SQLite's log is taken in.
  virtual Result<void> tidy() { return {}; }
  /// A copy that can be gone back to, under a new name made from `name`, which is given back.
  /// `unsupported` where that is not ours to make.
  virtual Result<std::string> back_up(std::string_view name) = 0;
  /// Ends what is running now with `busy`. From any thread.
  virtual void cancel() = 0;
  /// Whether the connection is fit for another call.
  virtual bool is_usable() const = 0;
  /// Gives it up without a word to the other side: for the child of a fork().
  virtual void abandon() = 0;

  /// The first column of the first row; nothing without rows, or for null.
  Result<std::optional<std::int64_t>> number(const Text& text, std::span<const Param> params = {});
  Result<std::optional<std::string>> word(const Text& text, std::span<const Param> params = {});
};

/// What stands for the names of a text in one engine.
struct Names {
  std::string_view table;   // before a table's name
  std::string_view schema;  // PostgreSQL's name for a set of tables
  std::string_view key;
  std::string_view bytes;
  std::string_view clustered;
};
std::string expanded(std::string_view text, const Names& names);

}  // namespace quipu::sql
