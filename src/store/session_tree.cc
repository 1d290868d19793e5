#include "quipu/tree.h"

#include "backend/lineage.h"
#include "base/try.h"
#include "tree/tree.h"

namespace quipu {
namespace {

tree::Shape shape(const std::vector<std::uint32_t>& parents,
                  const std::vector<std::uint8_t>& nodes) {
  return {.parents = parents, .is_node = nodes};
}

}  // namespace

SessionTree::SessionTree(std::shared_ptr<const Lineage> lineage) : lineage_(std::move(lineage)) {}

Result<SessionTree> SessionTree::of(std::shared_ptr<const Lineage> lineage) {
  SessionTree tree(std::move(lineage));
  const quipu::Ordinal size = tree.lineage_->size();
  tree.parents_.resize(size, kNone);
  tree.nodes_.resize(size, 0);
  const quipu::Ordinal base = tree.lineage_->base();
  for (quipu::Ordinal depth = 0; depth < base; ++depth) {  // the inherited path
    tree.parents_[depth] = depth == 0 ? kNone : depth - 1;
    tree.nodes_[depth] = 1;
  }
  TRY_ASSIGN(const std::vector<Placement> places, tree.lineage_->own().places());
  for (quipu::Ordinal own = 0; own < places.size(); ++own) {
    if (is_fact(places[own].type)) continue;
    tree.parents_[base + own] = places[own].parent;
    tree.nodes_[base + own] = 1;
  }
  if (!tree::is_ordered(shape(tree.parents_, tree.nodes_))) {
    return Error(Code::kInternal, "a parent stands behind its child");
  }
  return tree;
}

SessionTree::Ordinal SessionTree::size() const { return static_cast<Ordinal>(parents_.size()); }

bool SessionTree::is_node(Ordinal entry) const { return entry < size() && nodes_[entry] != 0; }

std::optional<SessionTree::Ordinal> SessionTree::parent(Ordinal entry) const {
  if (entry >= size() || parents_[entry] == kNone) return std::nullopt;
  return parents_[entry];
}

Result<std::string> SessionTree::id(Ordinal entry) const {
  if (entry >= size()) return Error(Code::kInvalidArgument, "no such entry");
  return lineage_->id(entry);
}

Result<std::string> SessionTree::type(Ordinal entry) const {
  if (entry >= size()) return Error(Code::kInvalidArgument, "no such entry");
  TRY_ASSIGN(const StoredEntry stored, lineage_->entry(entry));
  Envelope envelope = read_envelope_prefix(stored.text);
  if (stored.adopted) adopt(envelope, stored.text);
  return std::string(envelope.type.view());
}

Result<SessionTree::Ordinal> SessionTree::find(std::string_view id) const {
  TRY_ASSIGN(const auto found, lineage_->find(id));
  if (!found) return Error(Code::kNotFound, "there is no entry " + std::string(id));
  return found->ordinal;
}

std::optional<SessionTree::Ordinal> SessionTree::head() const {
  if (lineage_->head() == kNone) return std::nullopt;
  return lineage_->head();
}

std::vector<SessionTree::Ordinal> SessionTree::path(Ordinal entry) const {
  if (entry >= size()) return {};
  return tree::path(shape(parents_, nodes_), entry);
}

std::uint32_t SessionTree::depth(Ordinal entry) const {
  return entry < size() ? tree::depth(shape(parents_, nodes_), entry) : 0;
}

std::vector<SessionTree::Ordinal> SessionTree::children(Ordinal entry) const {
  return tree::children(shape(parents_, nodes_), entry);
}

std::vector<SessionTree::Ordinal> SessionTree::roots() const {
  return tree::roots(shape(parents_, nodes_));
}

std::vector<SessionTree::Ordinal> SessionTree::leaves() const {
  return tree::leaves(shape(parents_, nodes_));
}

std::vector<SessionTree::Ordinal> SessionTree::branch_points() const {
  return tree::branch_points(shape(parents_, nodes_));
}

std::optional<SessionTree::Ordinal> SessionTree::common_ancestor(Ordinal a, Ordinal b) const {
  if (a >= size() || b >= size()) return std::nullopt;
  return tree::common_ancestor(shape(parents_, nodes_), a, b);
}

}  // namespace quipu
