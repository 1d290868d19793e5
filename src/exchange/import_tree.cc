#include "exchange/import_tree.h"

#include "base/try.h"

namespace quipu::exchange {

using dialect::Record;

void ImportTree::begin_after(const StoredSession& stored) {
  stored_ = &stored;
  head_ = stored.end().head;
  has_root_ = !head_.empty();
  follows_ = stored.end().is_ours;
  last_node_ = stored.end().last_node;
}

void ImportTree::begin_at(const std::string& entry) {
  last_node_ = head_ = entry;
  has_root_ = true;
}

Result<bool> ImportTree::is_node(const std::string& id) const {
  if (const auto met = met_.find(id); met != met_.end() && met->second.is_node) return true;
  if (stored_ == nullptr) return false;
  return stored_->is_node(id);
}

Result<ImportTree::Parent> ImportTree::parent_of(const Record& record) const {
  if (record.is_fact || record.link == Record::Link::kRoot) return Parent();
  if (record.link == Record::Link::kPrevious) return Parent{.id = last_node_};
  TRY_ASSIGN(const bool is_there, is_node(record.parent));
  if (!is_there) return Parent{.id = {}, .is_missing = true};
  return Parent{.id = record.parent};
}

Result<void> ImportTree::add(const Record& record, Node& node, std::string_view parent,
                             bool is_stored) {
  if (record.is_fact) return {};
  auto& [id, met] = node;
  met.is_node = true;
  if (dialect_.leads(record.kind)) {
    met.leader = &id;
  } else if (const auto above = met_.find(std::string(parent)); above != met_.end()) {
    met.leader = above->second.leader;
  }
  if (!is_stored) TRY(follow(record, id, parent));
  last_node_ = id;  // `parent` may have been its text
  return {};
}

Result<void> ImportTree::follow(const Record& record, const std::string& id,
                                std::string_view parent) {
  const bool moves = parent.empty() ? !has_root_ : parent == head_;
  if (moves) head_ = id;
  has_root_ = true;
  switch (record.leads) {
    case Record::Leads::kHere:
      leaf_ = id;
      break;
    case Record::Leads::kThere:
      leaf_ = record.leads_to;
      break;
    case Record::Leads::kAbove: {
      const std::string above(parent);
      const auto met = met_.find(above);
      if (met != met_.end() && met->second.leader != nullptr) {
        leaf_ = *met->second.leader;
      } else if (stored_ != nullptr) {
        TRY_ASSIGN(std::string leader, stored_->leader_of(above));
        if (!leader.empty()) leaf_ = std::move(leader);
      }
      break;
    }
    case Record::Leads::kNot:
      break;
  }
  return {};
}

Result<std::string> ImportTree::move_head() {
  if (!follows_ || leaf_.empty() || leaf_ == head_) return std::string();
  TRY_ASSIGN(const bool is_there, is_node(leaf_));
  if (!is_there) return std::string();
  head_ = leaf_;
  return head_;
}

}  // namespace quipu::exchange
