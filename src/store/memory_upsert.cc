// MemoryStore::upsert: a batch is compared with what is stored, then what is new in it is
// appended.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/sha256.h"
#include "base/try.h"
#include "base/uuid.h"
#include "recall/duplicates.h"
#include "recall/fact_json.h"
#include "recall/memory_fact.h"
#include "store/guarded.h"
#include "store/memory_state.h"
#include "store/recall_batch.h"

namespace quipu {
namespace {

using recall::MemoryRow;
using recall::Twin;

// A node on its way into the log.
struct IncomingNode {
  MemoryNode node;
  std::string payload;
  std::string content;

  void render() {
    payload = memory_node_json(node);
    content = sha256_hex(payload);
  }
};

std::string name_of(std::size_t place, const MemoryNode& node) {
  return "node " + std::to_string(place + 1) + " (" + node.id + ")";
}

Result<std::vector<IncomingNode>> admitted(std::span<const MemoryNode> nodes, Filler filler) {
  std::vector<IncomingNode> incoming;
  incoming.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    IncomingNode& one =
        incoming.emplace_back(IncomingNode{.node = nodes[i], .payload = {}, .content = {}});
    if (one.node.id.empty()) one.node.id = uuid_v7(filler.clock.unix_ms(), filler.random);
    auto good = recall::check(one.node);
    if (good.ok()) {
      one.render();
      good = recall::check_payload_size(one.payload);
    }
    if (!good.ok()) return std::move(good).error().in(name_of(i, one.node));
  }
  return incoming;
}

// All of them before the first is stored. What they replace does not count.
Result<void> check_dimensions(const recall::MemoryTables& tables, sql::Engine& engine,
                              std::span<const IncomingNode> nodes) {
  std::vector<std::string> ids;
  for (const IncomingNode& one : nodes) ids.push_back(one.node.id);
  TRY_ASSIGN(std::size_t wanted, tables.dimensions(engine, ids));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t given = nodes[i].node.embedding.size();
    if (given == 0) continue;
    if (wanted == 0) wanted = given;
    auto good = recall::check_dimensions(given, wanted);
    if (!good.ok()) return std::move(good).error().in(name_of(i, nodes[i].node));
  }
  return {};
}

// A batch as it stands to what is stored.
struct Plan {
  std::unordered_map<std::string, std::string> stored{};   // content by id
  std::vector<std::size_t> changed{};                      // places in the batch
  std::vector<std::optional<Twin>> twins{};                // of the changed ones
  std::unordered_map<std::string, IncomingNode> merged{};  // twins that are stored, by id
  std::optional<std::string> tail{};                       // of the log that it was made from
};

struct Outcome {
  std::vector<NewEntry> entries{};
  /// Some are stored nodes with what was merged into them: they must still be there.
  bool has_merged = false;
};

// One batch, whose nodes may get what is merged into them.
class Upsert {
 public:
  Upsert(const recall::MemoryTables& tables, std::span<IncomingNode> batch,
         const UpsertOptions& options, std::int64_t now_ms)
      : tables_(tables), batch_(batch), options_(options), now_ms_(now_ms) {}

  Result<Plan> plan(sql::Engine& engine, const recall::Followed& followed) const {
    Plan plan;
    plan.tail = tail_of(followed);
    std::vector<std::string> ids;
    for (const IncomingNode& one : batch_) ids.push_back(one.node.id);
    TRY_ASSIGN(const auto rows, tables_.of_ids(engine, ids));
    for (const MemoryRow& row : rows) plan.stored.emplace(row.memory.node.id, row.content);
    auto contents = plan.stored;  // as they will be
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      std::string& content = contents[batch_[i].node.id];
      if (content == batch_[i].content) continue;
      content = batch_[i].content;
      plan.changed.push_back(i);
    }
    // What is stored comes first: new nodes are compared with what it says from now on.
    std::stable_partition(plan.changed.begin(), plan.changed.end(), [&](std::size_t place) {
      return plan.stored.contains(batch_[place].node.id);
    });
    std::vector<MemoryNode> nodes;
    for (const std::size_t place : plan.changed) nodes.push_back(batch_[place].node);
    TRY_ASSIGN(plan.twins, recall::find_twins(engine, tables_, nodes, now_ms_));
    if (options_.duplicates == Duplicates::kMerge) TRY(load_twins(engine, plan));
    return plan;
  }

  // What is to be appended.
  Outcome outcome(Plan& plan, UpsertReport& report) const {
    report.unchanged += batch_.size() - plan.changed.size();
    std::unordered_map<std::string, std::string> left_out;  // id, and that of its twin
    std::unordered_map<std::string, std::size_t> taken;     // places in the batch, by id
    std::unordered_set<std::string> merged;
    std::vector<std::size_t> going;
    for (std::size_t i = 0; i < plan.changed.size(); ++i) {
      const std::size_t place = plan.changed[i];
      const MemoryNode& node = batch_[place].node;
      if (const auto& twin = plan.twins[i]) {
        const auto instead = left_out.find(twin->id);
        const std::string of = instead == left_out.end() ? twin->id : instead->second;
        report.duplicates.push_back({.id = node.id, .of = of, .likeness = twin->likeness});
        if (options_.duplicates != Duplicates::kKeep && of != node.id) {
          left_out.emplace(node.id, of);
          ++report.skipped;
          if (options_.duplicates == Duplicates::kMerge) merge(node, of, taken, merged, plan);
          continue;
        }
      }
      const bool is_known = plan.stored.contains(node.id) || taken.contains(node.id);
      ++(is_known ? report.replaced : report.added);
      taken[node.id] = place;
      going.push_back(place);
    }
    std::sort(going.begin(), going.end());
    Outcome outcome{.entries = {}, .has_merged = !merged.empty()};
    for (const std::size_t place : going) outcome.entries.push_back(entry_of(batch_[place]));
    for (const std::string& id : merged) outcome.entries.push_back(entry_of(plan.merged.at(id)));
    return outcome;
  }

 private:
  static NewEntry entry_of(const IncomingNode& one) {
    NewEntry entry;
    entry.type = recall::kMemoryType;
    entry.payload = one.payload;
    return entry;
  }

  Result<void> load_twins(sql::Engine& engine, Plan& plan) const {
    std::vector<std::string> ids;
    for (const auto& twin : plan.twins) {
      if (twin) ids.push_back(twin->id);
    }
    TRY_ASSIGN(auto rows, tables_.of_ids(engine, ids));
    for (MemoryRow& row : rows) {
      TRY_ASSIGN(row.memory.node.embedding, tables_.vector_of(engine, row.ordinal));
      const std::string id = row.memory.node.id;
      plan.merged.emplace(
          id, IncomingNode{.node = std::move(row.memory.node), .payload = {}, .content = {}});
    }
    return {};
  }

  // The twin may be stored, or earlier in the batch.
  void merge(const MemoryNode& from, const std::string& into,
             const std::unordered_map<std::string, std::size_t>& taken,
             std::unordered_set<std::string>& merged, Plan& plan) const {
    const auto in_batch = taken.find(into);
    const auto stored = plan.merged.find(into);
    if (in_batch == taken.end() && stored == plan.merged.end()) return;
    IncomingNode& target = in_batch != taken.end() ? batch_[in_batch->second] : stored->second;
    MemoryNode& node = target.node;
    const MemoryNode before = node;
    for (const MemorySource& source : from.sources) {
      if (std::find(node.sources.begin(), node.sources.end(), source) == node.sources.end()) {
        node.sources.push_back(source);
      }
    }
    node.importance = std::max(node.importance, from.importance);
    node.pinned = node.pinned || from.pinned;
    if (node.expires_ms) {
      node.expires_ms = from.expires_ms
                            ? std::optional(std::max(*node.expires_ms, *from.expires_ms))
                            : std::nullopt;
    }
    if (node == before) return;
    target.render();
    if (in_batch == taken.end()) merged.insert(into);
  }

  const recall::MemoryTables& tables_;
  const std::span<IncomingNode> batch_;
  const UpsertOptions& options_;
  const std::int64_t now_ms_;
};

void add(const UpsertReport& part, UpsertReport& report) {
  report.added += part.added;
  report.replaced += part.replaced;
  report.unchanged += part.unchanged;
  report.skipped += part.skipped;
  report.duplicates.insert(report.duplicates.end(), part.duplicates.begin(), part.duplicates.end());
}

}  // namespace

Result<UpsertReport> MemoryStore::upsert(std::span<const MemoryNode> nodes,
                                         const UpsertOptions& options) {
  return guarded([&]() -> Result<UpsertReport> {
    TRY(state_->sessions.check_open());
    TRY_ASSIGN(auto incoming, admitted(nodes, state_->backend->filler()));
    const bool has_vectors = std::any_of(
        nodes.begin(), nodes.end(), [](const MemoryNode& node) { return !node.embedding.empty(); });
    if (has_vectors) {
      TRY(state_->followed.use([&](sql::Engine& engine, const recall::Followed&) {
        return check_dimensions(state_->tables, engine, incoming);
      }));
    }
    UpsertReport report;
    for (const IncomingNode& one : incoming) report.ids.push_back(one.node.id);
    int tries = 0;
    for (std::size_t at = 0; at < incoming.size();) {
      const std::size_t length = batch_length<IncomingNode>(incoming, at);
      const auto given = std::span(incoming).subspan(at, length);
      std::vector<IncomingNode> batch(given.begin(), given.end());
      const Upsert upsert(state_->tables, batch, options,
                          state_->backend->filler().clock.unix_ms());
      TRY_ASSIGN(Plan plan,
                 state_->followed.use([&](sql::Engine& engine, const recall::Followed& followed) {
                   return upsert.plan(engine, followed);
                 }));
      UpsertReport part;
      const Outcome outcome = upsert.outcome(plan, part);
      if (!outcome.entries.empty()) {
        // What was merged into may have been forgotten since: it must not come back. And of two
        // who say the same at the same moment one comes second.
        const bool is_bound = outcome.has_merged || options.duplicates != Duplicates::kKeep;
        auto stored = state_->log.append(outcome.entries, is_bound ? plan.tail : std::nullopt);
        if (!stored.ok() && stored.error().code() == Code::kTailMoved) {
          if (++tries < kPlansMax) continue;
          return Error(Code::kBusy, "others change the memory all the time");
        }
        TRY(stored);
      }
      add(part, report);
      at += length;
    }
    // So that the first search need not do it. What fails here is tried again there.
    ignore(state_->followed.use([&](sql::Engine& engine, const recall::Followed&) {
      return state_->vectors.enqueue(engine);
    }),
           "the nodes are stored");
    return report;
  });
}

}  // namespace quipu
