#include "backend/lineage.h"
#include "base/try.h"
#include "quipu/store.h"

namespace quipu {

struct EntryReader::State {
  std::shared_ptr<const Lineage> lineage;
  Ordinal next = 0;
  Ordinal end = 0;
  EntryText text;
};

EntryReader::EntryReader(std::shared_ptr<const Lineage> lineage, EntryRange range)
    : state_(std::make_unique<State>()) {
  const Ordinal size = lineage->size();
  state_->next = std::min(range.first, size);
  state_->end = state_->next + std::min(range.count, size - state_->next);
  state_->lineage = std::move(lineage);
}

EntryReader::EntryReader(EntryReader&&) noexcept = default;
EntryReader& EntryReader::operator=(EntryReader&&) noexcept = default;
EntryReader::~EntryReader() = default;

Result<std::optional<EntryView>> EntryReader::next() {
  if (state_->next == state_->end) return std::optional<EntryView>();
  const Ordinal visible = state_->next++;
  const Lineage& lineage = *state_->lineage;
  EntryText& text = state_->text;
  if (visible > lineage.base()) lineage.own().done_before(visible - lineage.base());
  TRY(read_entry(lineage, visible, text));
  TRY_ASSIGN(const StoredEntry stored, lineage.entry(visible));
  EntryView view;
  view.id = text.id;
  if (text.parent_id) view.parent_id = *text.parent_id;
  view.type = text.envelope.type.view();
  view.timestamp = text.envelope.timestamp.view();
  view.run_id = text.envelope.run_id.view();
  view.payload = text.envelope.payload;
  view.meta = text.envelope.meta;
  view.json = text.json;
  view.is_fact = is_fact(text.envelope.type_code);
  view.inherited = visible < lineage.base();
  view.adopted = stored.adopted;
  view.redacted = lineage.is_redacted(visible);
  return std::optional(view);
}

std::uint32_t EntryReader::damaged() const { return state_->lineage->own().damaged(); }

}  // namespace quipu
