// Verify, repair and dump of a log in a database. The entries are the truth: each is
// checked by its own sum and against its neighbours, everything else against what they
// mean.
#include <deque>
#include <functional>
#include <map>

#include "backend/sql/sql_backend.h"
#include "backend/sql/statements.h"
#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::sqlstore {
namespace {

constexpr std::int64_t kRowsAtOnce = 256;

// Refuses the commit when somebody appended meanwhile.
constexpr sql::Text kUnmoved =
    "UPDATE @heads SET updated_at = $1,"
    " entries = CASE WHEN entries = $2 THEN entries ELSE NULL END WHERE session_id = $3";
constexpr sql::Text kForget[] = {
    "DELETE FROM @session_runtime_state WHERE session_id = $1",
    "DELETE FROM @lineage WHERE session_id = $1",
    "DELETE FROM @sessions WHERE id = $1",
};

struct CheckedRow {
  std::string id;
  std::string type;
  Placement place;
  std::string line;
  std::int64_t ordinal = 0;
  std::int64_t crc = 0;
};

// All rows of a log, a few at a time.
Result<void> for_each_row(sql::Pool& pool, const std::string& session_id,
                          const std::function<Result<void>(const CheckedRow&)>& look) {
  for (std::int64_t next = 0;;) {
    auto asked = pool.reading([&](sql::Engine& engine) -> Result<std::vector<CheckedRow>> {
      const sql::Param params[] = {session_id, next, kRowsAtOnce};
      TRY_ASSIGN(const auto answer, engine.ask(kReadChecked, params));
      std::vector<CheckedRow> some;
      for (;;) {
        TRY_ASSIGN(const bool more, answer->next());
        if (!more) return some;
        some.push_back({.id = std::string(answer->text(0)),
                        .type = std::string(answer->text(1)),
                        .place = placement(answer->text(1), integer_or_null(*answer, 2),
                                           answer->integer(3), answer->integer(4) != 0),
                        .line = std::string(answer->text(5)),
                        .ordinal = answer->integer(6),
                        .crc = answer->integer(7)});
      }
    });
    if (!asked) return std::move(asked).error();
    if (asked->empty()) return {};
    for (const CheckedRow& row : *asked) TRY(look(row));
    next = asked->back().ordinal + 1;
  }
}

bool same(const Placement& one, const Placement& other) {
  return one.parent == other.parent && one.depth == other.depth && one.type == other.type &&
         one.orphan == other.orphan;
}

// Folds the rows again and compares.
class Check {
 public:
  Check(const std::shared_ptr<const Ancestry>& inherited, VerifyReport& report)
      : inherited_(inherited),
        fold_(fold_start(inherited ? inherited->count() : 0)),
        report_(report) {}

  void row(const CheckedRow& row) {
    if (row.ordinal != fold_.count) {
      complain("damaged_line", row, "entries before it are missing");
      fold_.count = static_cast<Ordinal>(row.ordinal);
    }
    const Envelope entry = read_envelope(row.line);
    if (row.crc != std::int64_t{crc32c(row.line)}) {
      complain("damaged_line", row, "its sum does not match its text");
    } else if (entry.id.view() != row.id || entry.type.view() != row.type) {
      complain("bad_index", row, "id or type differ from those of its text");
    }
    const auto target = fact_target(entry.type_code, entry.payload);
    const Placement place = fold(
        fold_,
        {.type = entry.type_code,
         .parent_link = entry.parent_link,
         .parent = entry.parent.view(),
         .target = target ? target->view() : std::string_view()},
        [this](std::string_view id) { return find(id); }, false);
    if (!same(place, row.place)) complain("bad_index", row, "its place in the tree is wrong");
    if (place.orphan) complain("unknown_parent", row, "its parent is not in the session");
    const bool is_new = ids_.emplace(row.id, FoundEntry{.ordinal = fold_.next() - 1,
                                                        .is_node = !is_fact(place.type),
                                                        .depth = place.depth})
                            .second;
    if (!is_new) complain("duplicate_id", row, "another entry has its id");
    report_.log_bytes += row.line.size() + 1;
    ++report_.entries;
    ++report_.sealed;
  }

  void head(const LogHead& head) {
    const bool fits = head.fold.count == fold_.count && head.fold.head == fold_.head &&
                      head.fold.head_depth == fold_.head_depth &&
                      head.fold.last_fact == fold_.last_fact && head.bytes == report_.log_bytes;
    if (fits) return;
    report_.problems.push_back({.kind = "bad_index",
                                .offset = 0,
                                .bytes = 0,
                                .detail = "the row of `heads` does not fit the entries"});
  }

 private:
  std::optional<FoundEntry> find(std::string_view id) const {
    if (const auto found = ids_.find(id); found != ids_.end()) return found->second;
    if (!inherited_) return std::nullopt;
    const auto found = inherited_->find(id);
    return found.ok() ? *found : std::nullopt;
  }

  void complain(const char* kind, const CheckedRow& row, const char* what) {
    report_.problems.push_back({.kind = kind,
                                .offset = report_.log_bytes,
                                .bytes = row.line.size() + 1,
                                .detail = "entry " + row.id + ": " + what});
  }

  const std::shared_ptr<const Ancestry>& inherited_;
  FoldState fold_;
  std::map<std::string, FoundEntry, std::less<>> ids_;
  VerifyReport& report_;
};

}  // namespace

Result<MigrationResult> SqlBackend::migrate(const std::string& session_id) {
  TRY_ASSIGN(const SessionHeader found, header(session_id));
  TRY_ASSIGN(const LogHead head, head_of(*primary_, session_id));
  return MigrationResult{.session_id = session_id,
                         .from_version = found.version,
                         .to_version = kSchemaVersion,
                         .entries = head.fold.count,
                         .kept_as = {},
                         .quarantined = {}};
}

Result<VerifyReport> SqlBackend::verify(const std::string& session_id) {
  VerifyReport report;
  report.session_id = session_id;
  TRY_ASSIGN(const LogHead head, head_of(*primary_, session_id));
  TRY_ASSIGN(const auto inherited, ancestry(session_id));
  report.index_present = true;
  Check check(inherited, report);
  TRY(for_each_row(*primary_, session_id, [&](const CheckedRow& row) -> Result<void> {
    // What came since is another moment's.
    if (row.ordinal < head.fold.count) check.row(row);
    return {};
  }));
  check.head(head);
  return report;
}

Result<RepairReport> SqlBackend::repair(const std::string& session_id) {
  TRY(check_writable());
  TRY_ASSIGN(const VerifyReport found, verify(session_id));
  RepairReport report;
  report.session_id = session_id;
  report.remaining = found.problems;
  TRY_ASSIGN(const LogHead head, head_of(*primary_, session_id));
  ComputedState computed;
  std::string updated_at;
  std::deque<std::string> lines;
  Tables tables(session_id);
  sql::Command shown{.text = kShowMessages};
  TRY(for_each_row(*primary_, session_id, [&](const CheckedRow& row) -> Result<void> {
    if (row.ordinal >= head.fold.count) return {};
    const std::string& line = lines.emplace_back(row.line);
    const Envelope entry = read_envelope(line);
    updated_at = entry.timestamp.view();
    const MessageColumns message =
        tables.add(entry, line, static_cast<Ordinal>(row.ordinal), computed);
    for (const sql::Param& param :
         {text_param(message.role), text_param(message.usage),
          sql::Param(std::int64_t{message.is_summary}), text_param(message.parts),
          sql::Param(session_id), sql::Param(row.ordinal)}) {
      shown.params.push_back(param);
    }
    return {};
  }));
  std::vector<sql::Command> commands;
  commands.push_back(
      {.text = kUnmoved, .params = {updated_at, std::int64_t{head.fold.count}, session_id}});
  for (const sql::Text& text : kForget) commands.push_back({.text = text, .params = {session_id}});
  // Before what is redacted is hidden again.
  if (!shown.params.empty()) commands.push_back(std::move(shown));
  // A session's row is made before it is changed.
  tables.write(computed, commands);
  auto done = commit(commands, sql::Sync::kNow);
  if (!done.ok() && done.error().code() == Code::kIdConflict) {
    return Error(Code::kBusy, "somebody appends to session " + session_id);
  }
  if (!done.ok()) return std::move(done).error();
  report.actions.emplace_back("made what other programs read of the session anew");
  return report;
}

Result<std::vector<DumpLine>> SqlBackend::dump(const std::string& session_id) {
  TRY(head_of(*primary_, session_id));
  std::vector<DumpLine> lines;
  std::uint64_t offset = 0;
  TRY(for_each_row(*primary_, session_id, [&](const CheckedRow& row) -> Result<void> {
    DumpLine line;
    line.offset = offset;
    line.bytes = row.line.size() + 1;
    line.state = row.crc == std::int64_t{crc32c(row.line)} ? "sealed" : "damaged";
    line.text = row.line;
    offset += line.bytes;
    lines.push_back(std::move(line));
    return {};
  }));
  return lines;
}

}  // namespace quipu::sqlstore
