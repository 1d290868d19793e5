#include "exchange/continuation.h"

#include <deque>

#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/recipe.h"

namespace quipu::exchange {
namespace {

// Whether the agent would go on from there: nothing that it goes on from comes after.
Result<bool> is_end(const dialect::Dialect& dialect, const LogView& log, Ordinal record) {
  for (Ordinal at = record + 1; at < log.fold().count; ++at) {
    TRY_ASSIGN(const StoredEntry entry, log.entry(at));
    const Envelope envelope = read_envelope_prefix(entry.text);
    if (envelope.type.view() == dialect::kRecipeType) return false;
    const dialect::RecordType type = dialect::record_type(envelope.type.view());
    if (type.dialect == &dialect && !type.is_fact && dialect.leads(type.kind)) return false;
  }
  return true;
}

}  // namespace

Result<std::optional<Continuation>> continuation_of(const dialect::Dialect& dialect,
                                                    const Lineage& lineage) {
  using Nothing = std::optional<Continuation>;
  if (lineage.ancestry() != nullptr) return Nothing();
  Continuation found;
  for (Ordinal at = lineage.head(); at != kNone;) {
    TRY_ASSIGN(const StoredEntry entry, lineage.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    if (dialect::record_type(envelope.type.view()).dialect == &dialect) {
      std::deque<std::string> owned;
      found.record = dialect::understood(envelope.payload, owned);
      TRY_ASSIGN(const bool is_last, is_end(dialect, lineage.own(), at));
      const bool is_one = is_last && !found.messages.empty() && dialect.goes_on_from(found.record);
      return is_one ? Nothing(std::move(found)) : Nothing();
    }
    if (envelope.type.view() != "message") return Nothing();
    found.messages.emplace(envelope.id.view());
    at = entry.place.parent;
  }
  return Nothing();
}

}  // namespace quipu::exchange
