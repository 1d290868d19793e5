#include "cli/tree_layout.h"

#include <algorithm>

namespace quipu::cli {

using Ordinal = SessionTree::Ordinal;

std::vector<TreeLine> lay_out(const SessionTree& tree) {
  std::vector<Ordinal> parents(tree.size());
  std::vector<bool> nodes(tree.size());
  for (Ordinal entry = 0; entry < tree.size(); ++entry) {
    parents[entry] = tree.parent(entry).value_or(entry);
    nodes[entry] = tree.is_node(entry);
  }
  return lay_out(parents, nodes, tree.head());
}

std::vector<TreeLine> lay_out(const std::vector<Ordinal>& parents, const std::vector<bool>& nodes,
                              std::optional<Ordinal> head) {
  const std::size_t count = parents.size();
  std::vector<bool> on_path(count);
  for (auto step = head; step;) {
    on_path[*step] = true;
    step = parents[*step] == *step ? std::nullopt : std::optional(parents[*step]);
  }
  // Parents have smaller ordinals than their children: one pass from the end
  // counts, and nothing recurses, however deep the tree.
  std::vector<std::uint32_t> size(count, 1);
  std::vector<std::vector<Ordinal>> children(count);
  std::vector<Ordinal> roots;
  for (std::size_t i = count; i-- > 0;) {
    const auto entry = static_cast<Ordinal>(i);
    if (!nodes[i]) continue;
    if (parents[i] == entry) {
      roots.push_back(entry);
    } else {
      size[parents[i]] += size[i];
      children[parents[i]].push_back(entry);  // the last one first
    }
  }

  // A stack of what is still to be drawn, the next on top. `roots` and all
  // `children` stand in the order in which a stack wants them.
  std::vector<TreeLine> lines;
  std::vector<TreeLine> pending;
  for (const Ordinal root : roots) pending.push_back({.node = root});
  while (!pending.empty()) {
    TreeLine line = pending.back();
    pending.pop_back();
    line.on_head_path = on_path[line.node];
    lines.push_back(line);
    const auto& next = children[line.node];
    if (next.empty()) continue;
    // Of equals the one that came first, which stands last.
    const Ordinal main = *std::max_element(next.begin(), next.end(), [&](Ordinal a, Ordinal b) {
      if (on_path[a] != on_path[b]) return bool{on_path[b]};
      return size[a] != size[b] ? size[a] < size[b] : a > b;
    });
    pending.push_back({.node = main, .depth = line.depth});
    for (const Ordinal child : next) {
      if (child != main) {
        pending.push_back({.node = child, .depth = line.depth + 1, .starts_branch = true});
      }
    }
  }
  return lines;
}

}  // namespace quipu::cli
