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
    const auto lifted = lifted_.find(pick.record);
    Range range;
    if (lifted != lifted_.end()) {
      range = lifted->second;
    } else {
      range = lift(record);
      lifted_[pick.record] = range;
    }
    TRY_ASSIGN(const StoredEntry stored, log_.entry(pick.record));
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      if (pick.message != Pick::kAll && pick.message != i - range.first) continue;
      PathEntry entry;
      entry.ordinal = pick.record;
      entry.depth = stored.place.depth;
      entry.type = type_of(record);
      entry.payload = "{}";
      entry.lifted = i;
      if (pick.content_of != Pick::kAll) entry.lifted = replace(i, pick.content_of);
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

  Range lift(const StoredRecord& record) {
    Range range{.first = count(), .end = 0};
    dialect_.lift(record.kind, record.payload, foreign_.lifted);
    range.end = count();
    return range;
  }

  // The message again, with what the other record says in its place; what answers a
  // call goes on answering it.
  std::uint32_t replace(std::uint32_t original, std::uint32_t other) {
    const StoredRecord& record = records_.all[other];
    const Range range = lift(record);
    dialect::Lifted& lifted = foreign_.lifted;
    const dialect::LiftedMessage old = lifted.messages()[original];
    const auto old_parts = lifted.parts(old);
    const bool is_result = !old_parts.empty() && old_parts[0].type == PartType::kToolResult;
    const PartView result = is_result ? old_parts[0] : PartView();
    std::vector<PartView> fresh;
    if (range.first < range.end) {
      const auto parts = lifted.parts(lifted.messages()[range.first]);
      fresh.assign(parts.begin(), parts.end());
    }
    lifted.begin(old.view.role) = old.view;
    if (is_result) {
      PartView part = result;
      part.content = fresh.empty() ? std::string_view("\"\"") : fresh[0].text;
      lifted.part(part);
    } else {
      for (const PartView& part : fresh) lifted.part(part);
    }
    return count() - 1;
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
