#include "store/fact_walk.h"

#include "base/json_scan.h"
#include "base/try.h"

namespace quipu {

Result<std::optional<Fact>> FactWalk::next() {
  if (next_ == kNone) return std::optional<Fact>();
  const Ordinal ordinal = next_;
  TRY_ASSIGN(const StoredEntry stored, lineage_.entry(ordinal));
  TRY(read_entry(lineage_, ordinal, text_));
  // A chain that does not go back would be walked for ever.
  next_ = stored.place.depth < ordinal ? stored.place.depth : kNone;
  return std::optional(Fact{.ordinal = ordinal,
                            .target = stored.place.parent,
                            .id = text_.id,
                            .timestamp = text_.envelope.timestamp.view(),
                            .run_id = text_.envelope.run_id.view(),
                            .payload = text_.envelope.payload});
}

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  if (!member || member->kind != json::Kind::kString) return {};
  return json::decode_string(member->value);
}

Result<std::string> tail_of(const Lineage& lineage) {
  if (lineage.own().fold().count == 0) return std::string();
  return lineage.id(lineage.size() - 1);
}

Result<std::string> head_of(const Lineage& lineage) {
  if (lineage.head() == kNone) return std::string();
  return lineage.id(lineage.head());
}

}  // namespace quipu
