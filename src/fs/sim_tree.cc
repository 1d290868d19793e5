#include "fs/sim_tree.h"

#include <algorithm>

namespace quipu::fs::sim {
namespace {

auto position(const Entries& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const Entry& entry) { return entry.name == name; });
}

std::shared_ptr<const Entries> without(const Entries& entries, std::string_view name) {
  auto changed = std::make_shared<Entries>();
  changed->reserve(entries.size());
  for (const Entry& entry : entries) {
    if (entry.name != name) changed->push_back(entry);
  }
  return changed;
}

std::shared_ptr<const Entries> with(const Entries& entries, std::string_view name, Target target) {
  auto changed = std::make_shared<Entries>();
  changed->reserve(entries.size() + 1);
  bool found = false;
  for (const Entry& entry : entries) {
    changed->push_back(entry);
    if (entry.name == name) {
      changed->back().target = target;
      found = true;
    }
  }
  if (!found) changed->push_back({std::string(name), target});
  return changed;
}

const std::shared_ptr<const Entries>& no_entries() {
  static const auto* const empty =
      new std::shared_ptr<const Entries>(std::make_shared<const Entries>());
  return *empty;
}

}  // namespace

Tree::Tree() { make_directory(); }

const Target* Tree::find(std::uint32_t directory, std::string_view name) const {
  const Entries& all = entries(directory);
  const auto found = position(all, name);
  return found == all.end() ? nullptr : &found->target;
}

std::uint32_t Tree::make_directory() {
  directories_.push_back({no_entries(), no_entries()});
  return static_cast<std::uint32_t>(directories_.size() - 1);
}

void Tree::apply(const Op& op, Side side) {
  auto& from = directories_[op.place.directory].*side;
  if (op.kind != Op::Kind::kAdd) from = without(*from, op.place.name);
  if (op.kind != Op::Kind::kRemove) {
    auto& to = directories_[op.to.directory].*side;
    to = with(*to, op.to.name, op.target);
  }
}

void Tree::perform(Op op) {
  apply(op, &Directory::current);
  ops_.push_back(std::move(op));
}

void Tree::add(std::uint32_t directory, std::string_view name, Target target) {
  const Place place = {directory, std::string(name)};
  perform({Op::Kind::kAdd, place, place, target});
}

void Tree::remove(std::uint32_t directory, std::string_view name) {
  const Place place = {directory, std::string(name)};
  perform({Op::Kind::kRemove, place, place, *find(directory, name)});
}

void Tree::rename(std::uint32_t from, std::string_view from_name, std::uint32_t to,
                  std::string_view to_name) {
  const Target target = *find(from, from_name);
  // Two names of one file: POSIX does nothing at all.
  const Target* const replaced = find(to, to_name);
  if (replaced != nullptr && *replaced == target) return;
  perform({Op::Kind::kRename, {from, std::string(from_name)}, {to, std::string(to_name)}, target});
}

bool Tree::touches(const Op& a, const Op& b) {
  return a.place == b.place || a.place == b.to || a.to == b.place || a.to == b.to;
}

void Tree::sync(std::uint32_t directory) {
  if (ops_.empty()) return;
  std::vector<bool> chosen(ops_.size());
  for (std::size_t i = ops_.size(); i-- > 0;) {
    if (ops_[i].place.directory == directory || ops_[i].to.directory == directory) chosen[i] = true;
    // What happens to a name later needs what happened to it before, also when a
    // rename leads to another directory.
    if (!chosen[i]) continue;
    for (std::size_t k = 0; k < i; ++k) {
      if (touches(ops_[k], ops_[i])) chosen[k] = true;
    }
  }
  std::vector<Op> rest;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (chosen[i]) {
      apply(ops_[i], &Directory::durable);
    } else {
      rest.push_back(std::move(ops_[i]));
    }
  }
  ops_ = std::move(rest);
}

void Tree::sync_all() {
  for (Directory& directory : directories_) directory.durable = directory.current;
  ops_.clear();
}

Tree Tree::crash(NameLoss loss, Chooser& chooser) const {
  Tree after = *this;
  if (ops_.empty()) return after;
  after.ops_.clear();
  if (loss == NameLoss::kSome) {
    std::vector<const Op*> lost;
    for (const Op& op : ops_) {
      const bool blocked = std::any_of(lost.begin(), lost.end(),
                                       [&](const Op* other) { return touches(*other, op); });
      const bool chosen = chooser.choose(2) == 1;
      if (chosen && !blocked) {
        after.apply(op, &Directory::durable);
      } else {
        lost.push_back(&op);
      }
    }
  }
  for (Directory& directory : after.directories_) {
    if (loss == NameLoss::kNone) {
      directory.durable = directory.current;
    } else {
      directory.current = directory.durable;
    }
  }
  return after;
}

void Tree::mark(std::vector<bool>& slots) const {
  const auto mark_entries = [&](const Entries& all) {
    for (const Entry& entry : all) {
      if (!entry.target.directory) slots[entry.target.slot] = true;
    }
  };
  for (const Directory& directory : directories_) {
    mark_entries(*directory.current);
    mark_entries(*directory.durable);
  }
  for (const Op& op : ops_) {
    if (!op.target.directory) slots[op.target.slot] = true;
  }
}

}  // namespace quipu::fs::sim
