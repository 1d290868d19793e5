// How a tree is laid out in lines of text.
//
// A conversation is long and seldom branches, so indenting by depth would run
// off the screen at once. Here the main line stays in its column and only side
// branches are set in, each before the line goes on:
//
//   * u1            The main line of a node leads to the head if it can, else
//   * a1            to the larger part. So a branch that is set in holds at most
//   |-o u2          half of what is left, and the indentation stays below the
//   | o a2          logarithm of the tree's size.
//   * u3
#pragma once

#include <cstddef>
#include <vector>

#include "quipu/tree.h"

namespace quipu::cli {

struct TreeLine {
  SessionTree::Ordinal node = 0;
  std::size_t depth = 0;       // how far it is set in
  bool starts_branch = false;  // drawn with a tee from the line left of it
  bool on_head_path = false;
};

/// All nodes, each after its parent.
std::vector<TreeLine> lay_out(const SessionTree& tree);

/// The same on plain data: the parent of each entry (itself for a root), and
/// whether it is a node at all; `head` may be nothing.
std::vector<TreeLine> lay_out(const std::vector<SessionTree::Ordinal>& parents,
                              const std::vector<bool>& nodes,
                              std::optional<SessionTree::Ordinal> head);

}  // namespace quipu::cli
