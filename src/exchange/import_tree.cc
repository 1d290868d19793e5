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

ImportTree::Node& ImportTree::meet(std::string_view id) {
  if (const auto met = met_.find(id); met != met_.end()) return *met;
  auto* const kept = static_cast<char*>(memory_.allocate(id.size(), 1));
  id.copy(kept, id.size());
  return *met_.try_emplace(std::string_view(kept, id.size())).first;
}

Result<bool> ImportTree::is_node(std::string_view id) const {
  if (const auto met = met_.find(id); met != met_.end() && met->second.is_node) return true;
  if (stored_ == nullptr) return false;
  return stored_->is_node(id);
}

Result<ImportTree::Parent> ImportTree::parent_of(const Record& record) const {
  if (record.is_fact || record.link == Record::Link::kRoot) return Parent();
  if (record.link == Record::Link::kPrevious) return Parent{.id = last_node_};
  // Most records hang on the one before them.
  const bool is_last = last_met_ != nullptr && last_met_->first == record.parent;
  TRY_ASSIGN(const bool is_there, is_last ? Result<bool>(true) : is_node(record.parent));
  if (!is_there) return Parent{.id = {}, .is_missing = true};
  return Parent{.id = record.parent};
}

Result<void> ImportTree::add(const Record& record, Node& node, std::string_view parent,
                             bool is_stored) {
  if (record.is_fact) return {};
  auto& [id, met] = node;
  met.is_node = true;
  if (dialect_.leads(record.kind)) {
    met.leader = id;
  } else if (const auto above = met_.find(parent); above != met_.end()) {
    met.leader = above->second.leader;
  }
  if (!is_stored) TRY(follow(record, id, parent));
  last_met_ = &node;
  last_node_ = id;  // `parent` may have been its text
  return {};
}

Result<void> ImportTree::follow(const Record& record, std::string_view id,
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
      const auto met = met_.find(parent);
      if (met != met_.end() && !met->second.leader.empty()) {
        leaf_ = met->second.leader;
      } else if (stored_ != nullptr) {
        TRY_ASSIGN(std::string leader, stored_->leader_of(std::string(parent)));
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
