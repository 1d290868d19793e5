#include "context/foreign.h"

#include <deque>
#include <unordered_map>

#include "base/json_scan.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/recipe.h"

namespace quipu::context {
namespace {

using dialect::Dialect;
using dialect::Pick;
using dialect::StoredRecord;

struct Records {
  std::vector<StoredRecord> all;
  std::deque<std::string> owned;
};

// Every entry of the log has its place, so that ordinals are places.
Result<void> read_records(const Lineage& log, const Dialect& dialect, Records& into) {
  dialect::Recipe recipe;
  into.all.resize(log.size());
  for (Ordinal at = 0; at < log.size(); ++at) {
    TRY_ASSIGN(const StoredEntry entry, log.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    const std::string_view type = envelope.type.view();
    if (type == dialect::kRecipeType) recipe = dialect::read_recipe(envelope.payload);
    const dialect::RecordType record = dialect::record_type(type);
    StoredRecord& stored = into.all[at];
    stored.id =
        envelope.id.is_copy() ? into.owned.emplace_back(envelope.id.view()) : envelope.id.view();
    stored.redacted = log.is_redacted(at);
    if (!is_fact(entry.place.type)) stored.parent = entry.place.parent;
    if (record.dialect != &dialect) continue;
    stored.kind = record.kind;
    stored.payload = dialect::understood(envelope.payload, into.owned);
  }
  std::uint32_t place = 0;
  for (const dialect::Recipe::Item& item : recipe.items) {
    TRY_ASSIGN(const auto found, log.find(item.id));
    if (found) into.all[found->ordinal].place = place++;
  }
  return {};
}

class Lifting {
 public:
  Lifting(const Dialect& dialect, const Records& records, const Lineage& log, Foreign& foreign)
      : dialect_(dialect), records_(records), log_(log), foreign_(foreign) {}

  Result<void> take(const Pick& pick, std::vector<PathEntry>& into) {
    const StoredRecord& record = records_.all[pick.record];
    if (record.redacted) return {};
    const Range range = pick.payload.empty()
                            ? lifted(pick.record, record)
                            : lift(record.kind, foreign_.lifted.keep(pick.payload));
    TRY_ASSIGN(const StoredEntry stored, log_.entry(pick.record));
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      if (pick.message != Pick::kAll && pick.message != i - range.first) continue;
      PathEntry entry;
      entry.ordinal = pick.record;
      entry.depth = stored.place.depth;
      entry.type = type_of(record);
      entry.payload = "{}";
      entry.lifted = i;
      into.push_back(entry);
    }
    return {};
  }

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  std::string_view type_of(const StoredRecord& record) {
    return foreign_.lifted.keep(dialect::entry_type_of(dialect_, record.kind, false));
  }

  std::uint32_t count() const {
    return static_cast<std::uint32_t>(foreign_.lifted.messages().size());
  }

  Range lift(std::string_view kind, std::string_view payload) {
    Range range{.first = count(), .end = 0};
    dialect_.lift(kind, payload, foreign_.lifted);
    range.end = count();
    return range;
  }

  // Once, however many of its messages are picked.
  Range lifted(std::uint32_t number, const StoredRecord& record) {
    const auto [at, is_new] = lifted_.try_emplace(number);
    if (is_new) at->second = lift(record.kind, record.payload);
    return at->second;
  }

  const Dialect& dialect_;
  const Records& records_;
  const Lineage& log_;
  Foreign& foreign_;
  std::unordered_map<std::uint32_t, Range> lifted_;
};

}  // namespace

bool is_foreign(std::string_view type) { return dialect::record_type(type).dialect != nullptr; }

Result<std::vector<PathEntry>> select_foreign(const std::shared_ptr<const Lineage>& lineage,
                                              Ordinal at, Foreign& foreign) {
  foreign.log = lineage;
  // Beside an inherited node lie entries that only its own log shows.
  while (at < foreign.log->base()) {
    const auto [holder, there] = foreign.log->ancestry()->holder(at);
    foreign.log = holder;
    at = there;
  }
  TRY_ASSIGN(const StoredEntry last, foreign.log->entry(at));
  const Envelope envelope = read_envelope_prefix(last.text);
  const Dialect& dialect = *dialect::record_type(envelope.type.view()).dialect;
  Records records;
  TRY(read_records(*foreign.log, dialect, records));
  std::vector<PathEntry> entries;
  Lifting lifting(dialect, records, *foreign.log, foreign);
  for (const Pick& pick : dialect.conversation(records.all, at)) {
    if (pick.record < records.all.size()) TRY(lifting.take(pick, entries));
  }
  // Tokens view the log or what was lifted; payloads that were carried go with us.
  foreign.lifted.keep_all(std::move(records.owned));
  return entries;
}

}  // namespace quipu::context
