#include "recall/memory_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "base/sha256.h"
#include "base/try.h"
#include "recall/fact_json.h"
#include "recall/memory_fact.h"
#include "recall/memory_statements.h"
#include "recall/rows.h"
#include "recall/scope_tags.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

using sql::Param;

constexpr const char* kTablesVersion = "3";
// Engines have no word for fractions that is the same in both.
constexpr double kImportanceUnit = 1e6;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

std::int64_t bit_of(MemoryKind kind) { return std::int64_t{1} << static_cast<int>(kind); }

MemoryKind kind_of(std::int64_t bit) {
  return bit == bit_of(MemoryKind::kShort)   ? MemoryKind::kShort
         : bit == bit_of(MemoryKind::kAgent) ? MemoryKind::kAgent
                                             : MemoryKind::kLong;
}

std::vector<Param> params_of(const MemoryScope& scope) {
  std::int64_t kinds = 0;
  for (const MemoryKind kind : scope.kinds) kinds |= bit_of(kind);
  if (kinds == 0) kinds = 7;
  const auto optional = [](const std::optional<std::string>& text) {
    return text ? Param(*text) : Param();
  };
  return {optional(scope.agent_id), optional(scope.project_id), kinds};
}

std::optional<std::int64_t> optional_integer(const sql::Rows& rows, int column) {
  return rows.is_null(column) ? std::nullopt : std::optional(rows.integer(column));
}

MemoryRow row_at(const sql::Rows& rows) {
  MemoryRow row;
  row.ordinal = rows.integer(0);
  MemoryNode& node = row.memory.node;
  node.kind = kind_of(rows.integer(1));
  node.importance = static_cast<double>(rows.integer(2)) / kImportanceUnit;
  node.pinned = rows.integer(3) != 0;
  node.expires_ms = optional_integer(rows, 4);
  row.memory.created_ms = rows.integer(5);
  row.memory.updated_ms = rows.integer(6);
  row.memory.hits = static_cast<std::uint64_t>(rows.integer(7));
  row.memory.used_ms = rows.integer(8);
  node.id = rows.text(9);
  node.agent_id = rows.text(10);
  node.project_id = rows.text(11);
  row.content = rows.text(12);
  row.embed_hash = rows.text(13);
  node.sources = read_sources(rows.text(14));
  node.meta = rows.text(15);
  node.text = rows.text(16);
  node.context = rows.text(17);
  return row;
}

// A row whose texts live until the commit.
struct KeptRow {
  std::int64_t ordinal = 0;
  std::string_view text{};
  std::string_view context{};
  std::vector<std::string> tags{};
  Likeness likeness{};
};

KeptRow kept_row(std::int64_t ordinal, const MemoryNode& node, search::Writes& writes) {
  return {.ordinal = ordinal,
          .text = keep(writes, node.text),
          .context = keep(writes, node.context),
          .tags = {tag("kind", name(node.kind)), tag("agent", node.agent_id),
                   tag("project", node.project_id)},
          .likeness = likeness_of(node.text, likeness_scope(node))};
}

std::vector<search::Document> documents_of(std::span<const KeptRow> rows) {
  std::vector<search::Document> documents;
  for (const KeptRow& row : rows) {
    documents.push_back(
        {.key = row.ordinal, .text = row.text, .context = row.context, .tags = row.tags});
  }
  return documents;
}

void change_bands(const sql::Text& text, std::span<const KeptRow> rows, search::Writes& writes) {
  sql::Command command{.text = text, .params = {}};
  for (const KeptRow& row : rows) {
    for (const std::int64_t band : row.likeness.bands) {
      command.params.insert(command.params.end(), {Param(band), Param(row.ordinal)});
    }
  }
  writes.commands.push_back(std::move(command));
}

// A vector says more of a text when it knows what stood around it.
std::string text_to_embed(std::string_view text, std::string_view context) {
  std::string all(text);
  if (!context.empty()) all.append("\n").append(context);
  return all;
}

std::string embed_hash(const MemoryNode& node) {
  if (!node.embedding.empty() || node.text.empty()) return {};
  return embedding_hash("memory", text_to_embed(node.text, node.context));
}

// What a stretch of the log makes of one node.
struct Change {
  std::optional<MemoryRow> added{};
  bool was_forgotten = false;  // somewhere on the way
};
using Changes = std::map<std::string, Change>;

// `superseded` gets the hashes of texts that came and went: they may be in the outbox, which
// outlives these tables.
Changes changes_of(std::span<const FollowedEntry> entries, std::vector<std::string>& superseded) {
  Changes changes;
  const auto supersede = [&](const Change& change) {
    if (change.added) superseded.push_back(change.added->embed_hash);
  };
  for (const FollowedEntry& entry : entries) {
    if (entry.type == kForgetType) {
      for (const std::string& id : read_ids(entry.payload)) {
        supersede(changes[id]);
        changes[id] = {.added = {}, .was_forgotten = true};
      }
    }
    if (entry.type != kMemoryType) continue;
    auto node = read_memory_node(entry.payload);
    // Not written by us, so no node of ours.
    if (!node.ok() || node->id.empty()) continue;
    node->text = storable(std::move(node->text));
    node->context = storable(std::move(node->context));
    Change& change = changes[node->id];
    supersede(change);
    std::string hash = embed_hash(*node);
    const std::int64_t created = change.added ? change.added->memory.created_ms : entry.time_ms;
    change.added = MemoryRow{.ordinal = std::int64_t{entry.ordinal},
                             .memory = {.node = std::move(node).value(),
                                        .created_ms = created,
                                        .updated_ms = entry.time_ms},
                             .content = sha256_hex(entry.payload),
                             .embed_hash = std::move(hash)};
  }
  return changes;
}

void remove_rows(std::span<const MemoryRow> gone, const search::TextIndex& text,
                 search::Writes& writes) {
  if (gone.empty()) return;
  std::vector<KeptRow> rows;
  sql::Command nodes{.text = memory::kRemoveNodes, .params = {}};
  sql::Command vectors{.text = memory::kRemoveVectors, .params = {}};
  for (const MemoryRow& row : gone) {
    rows.push_back(kept_row(row.ordinal, row.memory.node, writes));
    nodes.params.emplace_back(row.ordinal);
    vectors.params.emplace_back(row.ordinal);
  }
  text.remove(documents_of(rows), writes);
  change_bands(memory::kRemoveBands, rows, writes);
  writes.commands.push_back(std::move(nodes));
  writes.commands.push_back(std::move(vectors));
}

void add_rows(std::span<const MemoryRow> added, const search::TextIndex& text,
              search::Writes& writes) {
  if (added.empty()) return;
  std::vector<KeptRow> rows;
  sql::Command nodes{.text = memory::kAddNodes, .params = {}};
  sql::Command vectors{.text = memory::kAddVectors, .params = {}};
  for (const MemoryRow& row : added) {
    const StoredMemory& memory = row.memory;
    const MemoryNode& node = memory.node;
    const KeptRow& kept = rows.emplace_back(kept_row(row.ordinal, node, writes));
    const auto importance =
        static_cast<std::int64_t>(std::llround(node.importance * kImportanceUnit));
    const Param expires = node.expires_ms ? Param(*node.expires_ms) : Param();
    nodes.params.insert(
        nodes.params.end(),
        {row.ordinal, bit_of(node.kind), importance, std::int64_t{node.pinned ? 1 : 0}, expires,
         memory.created_ms, memory.updated_ms, static_cast<std::int64_t>(memory.hits),
         memory.used_ms, keep(writes, node.id), keep(writes, node.agent_id),
         keep(writes, node.project_id), keep(writes, row.content), keep(writes, row.embed_hash),
         keep(writes, sources_json(node.sources)), keep(writes, node.meta), kept.text,
         kept.context});
    if (node.embedding.empty()) continue;
    vectors.params.insert(
        vectors.params.end(),
        {Param(row.ordinal), Param::bytes(keep(writes, vector_bytes(node.embedding)))});
  }
  writes.commands.push_back(std::move(nodes));
  if (!vectors.params.empty()) writes.commands.push_back(std::move(vectors));
  change_bands(memory::kAddBands, rows, writes);
  text.add(documents_of(rows), writes);
}

// Behind all that is added: what is still there must not be forgotten.
void forget_texts(std::span<const std::string> hashes, search::Writes& writes) {
  if (hashes.empty()) return;
  const std::string_view list = keep(writes, list_of(hashes));
  writes.commands.push_back({.text = memory::kForgetTexts, .params = {list}});
  writes.commands.push_back({.text = memory::kForgetMade, .params = {list}});
}

search::MatchOptions match_options(const MemoryScope& scope) {
  search::MatchOptions match;
  if (scope.agent_id) match.tags.push_back(tag("agent", *scope.agent_id));
  if (scope.project_id) match.tags.push_back(tag("project", *scope.project_id));
  std::vector<std::string> kinds;
  for (const MemoryKind kind : scope.kinds) kinds.push_back(tag("kind", name(kind)));
  if (!kinds.empty()) match.any_tags.push_back(std::move(kinds));
  return match;
}

// What is in the index and is not to be found now: it has expired, or is too old.
Result<std::unordered_set<std::int64_t>> hidden_nodes(sql::Engine& engine,
                                                      const MemorySearchOptions& options,
                                                      std::int64_t now_ms) {
  const Param since = options.since_ms ? Param(*options.since_ms) : Param(kNever);
  TRY_ASSIGN(const auto hidden,
             rows_of<std::int64_t>(engine, memory::kHidden, std::array{Param(now_ms), since},
                                   [](const sql::Rows& rows) { return rows.integer(0); }));
  return std::unordered_set<std::int64_t>(hidden.begin(), hidden.end());
}

}  // namespace

std::string likeness_scope(const MemoryNode& node) {
  return node.agent_id + '\n' + node.project_id;
}

MemoryTables::MemoryTables(std::unique_ptr<search::TextIndex> text)
    : text_(std::move(text)),
      tables_{.name = "memory",
              .version = kTablesVersion,
              .create = memory::kCreate,
              .drop = memory::kDrop,
              .text_indexes = {kMemoryText}} {}

sql::Text MemoryTables::read_cursor() const { return memory::kReadCursor; }
sql::Text MemoryTables::move_cursor() const { return memory::kMoveCursor; }

void MemoryTables::clear(search::Writes& writes) const {
  writes.commands.push_back({.text = memory::kCountEmptied});
  // What is still there is put in again. Vectors are kept for it until all of the log is read.
  writes.commands.push_back({.text = memory::kForgetAllTexts});
  writes.commands.push_back({.text = memory::kSuspect});
  writes.commands.push_back({.text = "DELETE FROM @memory_nodes"});
  writes.commands.push_back({.text = "DELETE FROM @memory_bands"});
  writes.commands.push_back({.text = "DELETE FROM @memory_vectors"});
  writes.commands.push_back({.text = "DELETE FROM @memory_queued"});
  text_->clear(writes);
}

Result<void> MemoryTables::finish(sql::Engine& engine, search::Writes& writes) const {
  TRY_ASSIGN(const auto suspects, engine.number(memory::kCountSuspects));
  if (suspects.value_or(0) == 0) return {};
  writes.commands.push_back({.text = memory::kForgetSuspects});
  writes.commands.push_back({.text = "DELETE FROM @memory_suspects"});
  return {};
}

Result<void> MemoryTables::take(sql::Engine& engine, std::span<const FollowedEntry> entries,
                                search::Writes& writes) const {
  std::vector<std::string> gone;  // hashes of texts
  Changes changes = changes_of(entries, gone);
  std::vector<std::string> ids;
  for (const auto& [id, change] : changes) ids.push_back(id);
  TRY_ASSIGN(const std::vector<MemoryRow> older, of_ids(engine, ids));
  for (const MemoryRow& row : older) {
    gone.push_back(row.embed_hash);
    Change& change = changes[row.memory.node.id];
    if (!change.added || change.was_forgotten) continue;
    change.added->memory.created_ms = row.memory.created_ms;
    change.added->memory.hits = row.memory.hits;
    change.added->memory.used_ms = row.memory.used_ms;
  }
  std::vector<MemoryRow> added;
  for (auto& [id, change] : changes) {
    if (change.added) added.push_back(*std::move(change.added));
  }
  std::sort(added.begin(), added.end(),
            [](const MemoryRow& a, const MemoryRow& b) { return a.ordinal < b.ordinal; });
  remove_rows(older, *text_, writes);
  add_rows(added, *text_, writes);
  forget_texts(gone, writes);
  return {};
}

Result<std::vector<MemoryRow>> MemoryTables::of_ids(sql::Engine& engine,
                                                    std::span<const std::string> ids) const {
  if (ids.empty()) return std::vector<MemoryRow>();
  const std::string list = list_of(ids);
  return rows_of<MemoryRow>(engine, memory::kOfIds, std::array{Param(list)}, row_at);
}

Result<std::vector<MemoryRow>> MemoryTables::of_ordinals(
    sql::Engine& engine, std::span<const std::int64_t> ordinals) const {
  if (ordinals.empty()) return std::vector<MemoryRow>();
  const std::string list = list_of(ordinals);
  return rows_of<MemoryRow>(engine, memory::kOfOrdinals, std::array{Param(list)}, row_at);
}

Result<std::vector<MemoryRow>> MemoryTables::page(sql::Engine& engine, const MemoryScope& scope,
                                                  std::int64_t before, std::size_t limit) const {
  std::vector<Param> params = params_of(scope);
  params.emplace_back(before);
  params.emplace_back(static_cast<std::int64_t>(limit));
  return rows_of<MemoryRow>(engine, memory::kPage, params, row_at);
}

Result<std::size_t> MemoryTables::count(sql::Engine& engine, const MemoryScope& scope) const {
  TRY_ASSIGN(const auto number, engine.number(memory::kCount, params_of(scope)));
  return static_cast<std::size_t>(number.value_or(0));
}

Result<std::vector<Kept>> MemoryTables::kept(sql::Engine& engine, const MemoryScope& scope) const {
  return rows_of<Kept>(engine, memory::kKept, params_of(scope), [](const sql::Rows& rows) {
    return Kept{.ordinal = rows.integer(0),
                .kind = kind_of(rows.integer(1)),
                .importance = static_cast<double>(rows.integer(2)) / kImportanceUnit,
                .pinned = rows.integer(3) != 0,
                .expires_ms = optional_integer(rows, 4),
                .touched_ms = std::max(rows.integer(5), rows.integer(7)),
                .hits = static_cast<std::uint64_t>(rows.integer(6))};
  });
}

Result<std::vector<std::pair<std::int64_t, std::int64_t>>> MemoryTables::sharing(
    sql::Engine& engine, std::span<const std::int64_t> bands, std::size_t limit) const {
  const std::string list = list_of(bands);
  return rows_of<std::pair<std::int64_t, std::int64_t>>(
      engine, memory::kSharing, std::array{Param(list), Param(static_cast<std::int64_t>(limit))},
      [](const sql::Rows& rows) { return std::pair(rows.integer(0), rows.integer(1)); });
}

Result<std::vector<search::Match>> MemoryTables::match(sql::Engine& engine,
                                                       const search::Query& query,
                                                       const MemorySearchOptions& options,
                                                       std::int64_t now_ms,
                                                       std::size_t limit) const {
  TRY_ASSIGN(const auto hidden, hidden_nodes(engine, options, now_ms));
  search::MatchOptions match = match_options(options.scope);
  match.limit = limit;
  if (!hidden.empty()) {
    match.filter = [&](std::int64_t key) { return !hidden.contains(key); };
  }
  return text_->match(engine, query, match);
}

Result<KeyFilter> MemoryTables::visible(sql::Engine& engine, const MemorySearchOptions& options,
                                        std::int64_t now_ms) const {
  TRY_ASSIGN(auto hidden, hidden_nodes(engine, options, now_ms));
  const MemoryScope& scope = options.scope;
  if (!scope.agent_id && !scope.project_id && scope.kinds.empty()) {
    return KeyFilter(
        [hidden = std::move(hidden)](std::int64_t key) { return !hidden.contains(key); });
  }
  TRY_ASSIGN(const auto ordinals,
             rows_of<std::int64_t>(engine, scope.agent_id ? memory::kOfAgent : memory::kInScope,
                                   params_of(scope),
                                   [](const sql::Rows& rows) { return rows.integer(0); }));
  std::unordered_set<std::int64_t> seen(ordinals.begin(), ordinals.end());
  for (const std::int64_t ordinal : hidden) seen.erase(ordinal);
  return KeyFilter([seen = std::move(seen)](std::int64_t key) { return seen.contains(key); });
}

Result<std::vector<VectorRow>> MemoryTables::vector_rows(sql::Engine& engine, std::int64_t after,
                                                         std::size_t limit) const {
  return rows_of<VectorRow>(engine, memory::kVectorRows,
                            std::array{Param(after), Param(static_cast<std::int64_t>(limit))},
                            vector_row);
}

Result<std::vector<TextRow>> MemoryTables::text_rows(sql::Engine& engine, std::int64_t after,
                                                     std::size_t limit) const {
  return rows_of<TextRow>(engine, memory::kTextRows,
                          std::array{Param(after), Param(static_cast<std::int64_t>(limit))},
                          [](const sql::Rows& rows) {
                            return TextRow{.key = rows.integer(0),
                                           .hash = std::string(rows.text(1)),
                                           .text = text_to_embed(rows.text(2), rows.text(3))};
                          });
}

Result<std::vector<std::int64_t>> MemoryTables::existing(
    sql::Engine& engine, std::span<const std::int64_t> ordinals) const {
  const std::string list = list_of(ordinals);
  return rows_of<std::int64_t>(engine, memory::kExisting, std::array{Param(list)},
                               [](const sql::Rows& rows) { return rows.integer(0); });
}

sql::Text MemoryTables::read_mark() const { return memory::kReadMark; }
sql::Text MemoryTables::set_mark() const { return memory::kSetMark; }

Result<std::size_t> MemoryTables::dimensions(sql::Engine& engine,
                                             std::span<const std::string> but) const {
  const std::string list = list_of(but);
  TRY_ASSIGN(const auto bytes, engine.number(memory::kVectorBytes, std::array{Param(list)}));
  return static_cast<std::size_t>(bytes.value_or(0)) / sizeof(float);
}

Result<std::vector<float>> MemoryTables::vector_of(sql::Engine& engine,
                                                   std::int64_t ordinal) const {
  TRY_ASSIGN(const auto bytes, engine.word(memory::kVector, std::array{Param(ordinal)}));
  return vector_of_bytes(bytes.value_or(""));
}

Result<void> MemoryTables::note_use(sql::Engine& engine,
                                    std::span<const std::pair<std::int64_t, std::int64_t>> found,
                                    std::int64_t now_ms) const {
  sql::Command command{.text = memory::kNoteUse, .params = {}};
  for (const auto& [ordinal, hits] : found) {
    command.params.insert(command.params.end(), {Param(hits), Param(now_ms), Param(ordinal)});
  }
  return engine.commit({&command, 1}, sql::Sync::kLater);
}

}  // namespace quipu::recall
