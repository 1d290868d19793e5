#include "support/history_adopting_model.h"

#include "base/time_text.h"

namespace quipu::test {

void AdoptingModel::write_foreign(const std::string& session, const std::string& text) {
  const auto line = read_any_line(text);
  if (!line) return;  // a blank line, for one
  const Sight seen = sight(session);
  Stored entry{*line, session};
  Row& row = entry.line.row;
  const std::string wanted = row.id.empty() ? fresh_id() : row.id;
  row.id = wanted;
  for (int n = 2; find(seen, row.id) != nullptr; ++n) row.id = wanted + "~" + std::to_string(n);
  if (row.type.empty()) row.type = "custom";
  row.adopted = true;
  if (row.payload.empty()) {
    row.payload = text;
    row.meta.clear();
  }
  if (line->is("timestamp", json::Kind::kNumber)) {
    row.timestamp = format_timestamp(std::stoll(line->members.at("timestamp")));
  }
  const bool names_fact = row.parent && find(seen, *row.parent) && !has_node(seen, *row.parent);
  const bool on_head = !line->has("parentId") || names_fact;
  if (row.parent && !has_node(seen, *row.parent)) row.parent.reset();
  if (on_head) row.parent = head(seen);
  if (row.fact) row.parent.reset();
  logs_[session].own.push_back(entry);
}

}  // namespace quipu::test
