#include "log/builder.h"

#include <array>
#include <cstdio>

#include "base/try.h"

namespace quipu::log {
namespace {

FoldInput fold_input(const Envelope& envelope, const std::optional<Text>& target) {
  return {.type = envelope.type_code,
          .parent_link = envelope.parent_link,
          .parent = envelope.parent.view(),
          .target = target ? target->view() : std::string_view()};
}

}  // namespace

std::string adopted_id(std::uint64_t offset) {
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "adopted-%08llx",
                                 static_cast<unsigned long long>(offset));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string id_of(const Index& index, const IndexEntry& entry, std::string_view line) {
  const Envelope envelope = read_envelope_prefix(line);
  std::string id(envelope.id.view());
  if (!entry.renamed) {
    return index.hash(id) == entry.id_hash ? id : "damaged-" + std::to_string(entry.offset);
  }
  if (id.empty()) id = adopted_id(entry.offset);
  if (index.hash(id) == entry.id_hash) return id;
  // The number is not stored; it is small, and the hash tells. With a damaged
  // line none fits, and any answer is as good as another.
  constexpr Ordinal kRenamedMax = 100'000;
  for (Ordinal number = 2;; ++number) {
    std::string numbered = id + "~" + std::to_string(number);
    if (index.hash(numbered) == entry.id_hash || number == kRenamedMax) return numbered;
  }
}

Result<std::optional<Ordinal>> find_by_id(const Index& index, Ordinal count, std::string_view id,
                                          const LineText& line_text) {
  return index.find(index.hash(id), count, [&](Ordinal own) -> Result<bool> {
    TRY_ASSIGN(const IndexEntry entry, index.entry(own));
    TRY_ASSIGN(const std::string_view line, line_text(entry));
    return id_of(index, entry, line) == id;
  });
}

void IndexBuilder::accept(const Line& line) {
  if (failure_) return;
  Envelope envelope = line.sealed ? read_envelope_prefix(line.text) : read_envelope(line.text);
  if (!line.sealed) adopt(envelope, line.text);
  const auto target = fact_target(envelope.type_code, envelope.payload);
  const FoldInput input = fold_input(envelope, target);
  IndexEntry entry;
  entry.offset = line.offset;
  entry.bytes = static_cast<std::uint32_t>(line.text.size());
  entry.adopted = !line.sealed;
  if (!line.sealed || envelope.id.empty()) {
    accept_renamed(line, entry, envelope, input);
    return;
  }
  place(entry, envelope.id.view(), input);
}

// Other programs give the same id twice, or none.
void IndexBuilder::accept_renamed(const Line& line, IndexEntry entry, const Envelope& envelope,
                                  const FoldInput& input) {
  const std::string given(envelope.id.empty() ? adopted_id(line.offset) : envelope.id.view());
  std::string id = given;
  if (find_or_note(id)) {
    Ordinal& number = last_number_.try_emplace(given, 1).first->second;
    do {
      id = given + "~" + std::to_string(++number);
    } while (find_or_note(id) && !failure_);
  }
  entry.renamed = id != envelope.id.view();
  place(entry, id, input);
}

void IndexBuilder::add(std::uint64_t offset, std::size_t bytes, std::string_view id,
                       const FoldInput& input) {
  IndexEntry entry;
  entry.offset = offset;
  entry.bytes = static_cast<std::uint32_t>(bytes);
  place(entry, id, input);
}

void IndexBuilder::place(IndexEntry entry, std::string_view id, const FoldInput& input) {
  const Ordinal own = state_.fold.count;
  entry.id_hash = index_.hash(id);
  entry.place = fold(state_.fold, input, find_entry_, state_.damaged > 0);
  index_.add(own, entry);
  if (is_fact(input.type)) return;
  newest_id_ = id;
  newest_ = {.ordinal = state_.fold.base + own, .is_node = true, .depth = entry.place.depth};
}

void IndexBuilder::damaged(const Damage& damage) {
  ++state_.damaged;
  damages_.push_back(damage);
}

bool IndexBuilder::knows(std::string_view line) {
  return find_or_note(read_envelope_prefix(line).id.view()).has_value();
}

std::optional<FoundEntry> IndexBuilder::find_or_note(std::string_view id) {
  auto found = find(id);
  if (found.ok()) return *found;
  if (!failure_) failure_ = std::move(found).error();
  return std::nullopt;
}

Result<std::optional<FoundEntry>> IndexBuilder::find(std::string_view id) {
  if (newest_.ordinal < state_.fold.next() && id == newest_id_) return std::optional(newest_);
  TRY_ASSIGN(const std::optional<Ordinal> own,
             find_by_id(index_, state_.fold.count, id, line_text_));
  if (own) {
    TRY_ASSIGN(const IndexEntry entry, index_.entry(*own));
    return std::optional(FoundEntry{.ordinal = state_.fold.base + *own,
                                    .is_node = !is_fact(entry.place.type),
                                    .depth = entry.place.depth});
  }
  if (inherited_ == nullptr) return std::optional<FoundEntry>();
  return inherited_->find(id);
}

}  // namespace quipu::log
