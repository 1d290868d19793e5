// SessionImport: one source into one session.
//
// What is stored already is passed over, what is new is added, nothing is ever
// removed. Each record becomes an entry whose id is the record's own, or made from its
// bytes where it has none; so the same source gives the same entries, from wherever
// and however often it is read:
//
//   candidates for a record's id: id, id~2, id~3 …, behind those looked at in this pass
//     not stored                  | new
//     stored with the same bytes  | present
//     stored with other bytes     | the next candidate
//
// Of a file beside the first the last version is what it says now: one that is stored
// before it is passed over, and stored again.
//
// A copy of a source that is still there may be ahead of it, or lag behind. One that has
// something new and lacks something that is stored went its own way: it is a session of its own.
//
// A source that goes on where the last pass ended (ReadPosition) holds only records that
// came after its mark: there, what is stored before the mark is used. What is stored
// after it is of a pass that was cut off.
//
// Thread-safety: one thread; several imports of different sessions at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/recipe.h"
#include "exchange/import_mark.h"
#include "exchange/import_tree.h"
#include "exchange/imported_log.h"
#include "exchange/session_names.h"
#include "exchange/stored_session.h"
#include "quipu/import.h"
#include "quipu/store.h"

namespace quipu::exchange {

/// The first entries of every imported session.
inline constexpr std::string_view kHeaderId = "header";
inline constexpr std::string_view kSourceId = "source";

struct ImportFrom {
  dialect::ReadPosition position{};
  /// The mark that `position` comes from; null: it is the beginning.
  const ImportMark* after = nullptr;
  /// What this source was imported as; empty: nobody knows.
  std::string session{};
  /// What the source looked like before it is read; `lost`: how much was missing then.
  ImportMark state{};
  /// Leave a last line that is cut off for later: somebody may be writing it.
  bool is_live = false;
  /// A session that refers to a part of another one is imported after that one, and a copy
  /// of a file after the file. While others are being imported: later. Then one after the
  /// other: those whose base is stored whole. At last: without.
  enum class Base : unsigned char { kLater, kStored, kMissing };
  Base base = Base::kMissing;
};

struct Imported {
  /// Nothing was done: this session must come first.
  std::string waits_for;
  /// The session is new, and to be made of this (`Backend::create_all`). Null: everything
  /// is stored, and durable.
  std::unique_ptr<NewLog> log;
  ImportReport report;
};

/// The project that a directory belongs to; empty: none.
using ProjectOf = std::function<Result<std::string>(const std::string& cwd)>;

/// Whether this source may have a name that nobody has in the store. `file`: what it is
/// called wherever it lies.
using ClaimName = std::function<NameClaim(const std::string& session_id, const std::string& file)>;

/// False: a session is not looked for, because there was none a moment ago. Who makes
/// one that somebody else has made since is told then (`id_conflict`).
using MayBeStored = std::function<bool(const std::string& session_id)>;

class SessionImport {
 public:
  SessionImport(Store& store, const dialect::Dialect& dialect, fs::HostFiles& files,
                ProjectOf project_of, MayBeStored may_be_stored, ClaimName claim_name);

  /// `id_conflict` when somebody else made the session meanwhile, `tail_moved` when somebody else
  /// has read on from the mark: to be tried again, from the beginning of the source.
  Result<Imported> run(const dialect::Source& source, const ImportFrom& from);

 private:
  using Record = dialect::Record;

  /// Where a record goes: see above.
  struct Placed {
    ImportTree::Node* node = nullptr;
    std::string supersedes{};
    std::optional<StoredSession::Match> stored{};  // it is there already

    std::string_view id() const { return node->first; }
  };

  /// False: it waits for another session (`Imported::waits_for`).
  Result<bool> open_session(const dialect::Outline& outline, const ImportFrom& from);
  /// The session of this id is ours, and is gone on with.
  Result<bool> open_stored(std::shared_ptr<const Lineage> lineage, const std::string& id);
  /// A copy has something new, and lacks something that is stored.
  Result<bool> went_its_own_way();
  /// Null: there is none.
  Result<std::shared_ptr<const Lineage>> find_stored(const std::string& id);
  Result<bool> open_new(const std::string& id, const dialect::Outline& outline,
                        ImportFrom::Base base);
  Result<void> find_base(const dialect::Outline& outline);
  Result<void> begin(const std::string& id, const dialect::Outline& outline);
  Result<bool> is_of_this_source(const Lineage& stored);
  Result<bool> is_of_earlier(const std::string& next_version, std::uint32_t file) const;
  bool lies_elsewhere() const;
  Result<void> add_fact(std::string_view id, std::string_view type, std::string_view payload,
                        std::string_view meta = {});
  Result<void> report_lost();
  Result<void> take(const Record& record);
  Result<void> add(const Record& record, const dialect::Carried& payload, const Placed& placed,
                   const ImportTree::Parent& parent);
  Result<dialect::Carried> carried(const Record& record);
  /// The id that a record may have, if it has not got one of those before.
  std::string candidate(const Record& record, std::string_view payload,
                        std::uint32_t version) const;
  Result<Placed> place(const Record& record, std::string_view payload);
  Result<std::optional<StoredSession::Match>> match(std::string_view id,
                                                    std::string_view payload) const;
  Result<void> add_end(std::string_view id, std::string_view end);
  Result<void> add_recipe();
  Result<void> add_mark(ImportMark mark, const dialect::Reader& reader);
  Result<void> move_head();
  Result<void> flush();
  void add_problem(std::string_view what);

  Store& store_;
  const dialect::Dialect& dialect_;
  fs::HostFiles& files_;
  ProjectOf project_of_;
  MayBeStored may_be_stored_;
  ClaimName claim_name_;

  const dialect::Source* source_ = nullptr;
  std::string agent_session_;              // in its agent's words
  bool only_new_ = false;                  // see above
  std::unique_ptr<StoredSession> stored_;  // null: the session is new
  std::string first_read_from_;            // what the stored session says of its source
  ImportTree tree_;
  bool is_copy_ = false;      // what was stored was read elsewhere, and is still there
  bool is_whole_ = false;     // see Reader
  dialect::Recipe recipe_;    // is_whole_
  std::string torn_;          // a cut-off line that is stored last, until it is met again
  std::string superseded_;    // that line, when the whole one was met instead
  std::string open_;          // the stored record that nothing followed when it was read
  std::string timestamp_;     // of the last record
  std::string base_session_;  // a new fork's: who has the entry that it goes on from
  std::string base_entry_;
  std::string carry_buffer_;
  std::string type_buffer_;

  bool has_news_ = false;     // something was added
  std::uint64_t lost_ = 0;    // see ImportMark
  std::uint64_t beside_ = 0;  // records of other files than the first
  ImportedLog log_;
  Imported result_;
};

}  // namespace quipu::exchange
