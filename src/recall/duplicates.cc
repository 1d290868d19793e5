#include "recall/duplicates.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/try.h"

namespace quipu::recall {
namespace {

// With texts made from one form, bands are shared by many that are not alike.
constexpr std::size_t kComparedMax = 8;
constexpr std::size_t kSharingMax = 32;  // of a band

// Texts by their bands.
class Neighbours {
 public:
  void add(std::int64_t band, std::int64_t key) { keys_[band].push_back(key); }
  void add(const Likeness& likeness, std::int64_t key) {
    for (const std::int64_t band : likeness.bands) add(band, key);
  }

  // The keys that share the most bands, at most kComparedMax.
  std::vector<std::int64_t> near(const Likeness& likeness) const {
    std::unordered_map<std::int64_t, std::size_t> shared;
    for (const std::int64_t band : likeness.bands) {
      const auto found = keys_.find(band);
      if (found == keys_.end()) continue;
      const std::vector<std::int64_t>& keys = found->second;
      // The newest ones. Where there are more, any will do, but for the same text, which has a
      // band of its own.
      const std::size_t first = keys.size() - std::min(keys.size(), kSharingMax);
      for (std::size_t i = first; i < keys.size(); ++i) ++shared[keys[i]];
    }
    std::vector<std::pair<std::size_t, std::int64_t>> order;
    for (const auto& [key, count] : shared) order.emplace_back(count, key);
    std::sort(order.rbegin(), order.rend());
    std::vector<std::int64_t> near;
    for (const auto& [count, key] : order) {
      if (near.size() < kComparedMax) near.push_back(key);
    }
    return near;
  }

 private:
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> keys_;
};

double likeness(const Likeness& one, const Likeness& other) {
  return one.words == other.words ? 1 : std::min(common_share(one, other), 0.9999);
}

void keep_better(std::optional<Twin>& twin, const std::string& id, double likeness) {
  if (likeness < kAlike || (twin && twin->likeness >= likeness)) return;
  twin = Twin{.id = id, .likeness = likeness};
}

struct Known {
  std::string id;
  Likeness likeness;
};

bool is_over(const MemoryNode& node, std::int64_t now_ms) {
  return node.expires_ms && *node.expires_ms <= now_ms;
}

// Stored nodes that share a band with one of these, and what is needed to compare them.
Result<std::unordered_map<std::int64_t, Known>> stored_neighbours(
    sql::Engine& engine, const MemoryTables& tables, std::span<const Likeness> likenesses,
    Neighbours& neighbours, std::int64_t now_ms) {
  std::vector<std::int64_t> bands;
  for (const Likeness& one : likenesses) {
    bands.insert(bands.end(), one.bands.begin(), one.bands.end());
  }
  TRY_ASSIGN(const auto shared, tables.sharing(engine, bands, kSharingMax));
  for (const auto& [band, ordinal] : shared) neighbours.add(band, ordinal);

  std::vector<std::int64_t> wanted;
  for (const Likeness& one : likenesses) {
    const auto near = neighbours.near(one);
    wanted.insert(wanted.end(), near.begin(), near.end());
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  TRY_ASSIGN(const auto rows, tables.of_ordinals(engine, wanted));
  std::unordered_map<std::int64_t, Known> known;
  for (const MemoryRow& row : rows) {
    const MemoryNode& node = row.memory.node;
    if (is_over(node, now_ms)) continue;
    known.emplace(row.ordinal,
                  Known{.id = node.id, .likeness = likeness_of(node.text, likeness_scope(node))});
  }
  return known;
}

}  // namespace

Result<std::vector<std::optional<Twin>>> find_twins(sql::Engine& engine, const MemoryTables& tables,
                                                    std::span<const MemoryNode> nodes,
                                                    std::int64_t now_ms) {
  std::vector<std::optional<Twin>> twins(nodes.size());
  std::vector<Likeness> likenesses;
  std::unordered_map<std::string_view, std::size_t> last;  // place of the one that counts, by id
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    likenesses.push_back(likeness_of(nodes[i].text, likeness_scope(nodes[i])));
    last[nodes[i].id] = i;
  }
  Neighbours stored;
  TRY_ASSIGN(const auto known, stored_neighbours(engine, tables, likenesses, stored, now_ms));
  Neighbours before;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::int64_t ordinal : stored.near(likenesses[i])) {
      const auto found = known.find(ordinal);
      if (found == known.end() || last.contains(found->second.id)) continue;
      keep_better(twins[i], found->second.id, likeness(likenesses[i], found->second.likeness));
    }
    for (const std::int64_t place : before.near(likenesses[i])) {
      const auto other = static_cast<std::size_t>(place);
      keep_better(twins[i], nodes[other].id, likeness(likenesses[i], likenesses[other]));
    }
    if (last[nodes[i].id] != i || is_over(nodes[i], now_ms)) continue;
    before.add(likenesses[i], static_cast<std::int64_t>(i));
  }
  return twins;
}

}  // namespace quipu::recall
