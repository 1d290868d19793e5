#include "support/history_store.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/try.h"
#include "support/history_line.h"

namespace quipu::test {
namespace {

namespace stdfs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

Error disagree(const std::string& what) { return {Code::kInternal, "answers differ: " + what}; }

Row row_of(const EntryView& entry) {
  Row row;
  row.id = entry.id;
  if (entry.parent_id) row.parent = std::string(*entry.parent_id);
  row.type = entry.type;
  row.timestamp = entry.timestamp;
  row.run_id = entry.run_id;
  row.payload = entry.payload;
  row.meta = entry.meta;
  row.json = entry.json;
  row.fact = entry.is_fact;
  row.inherited = entry.inherited;
  row.adopted = entry.adopted;
  row.redacted = entry.redacted;
  return row;
}

bool same(const Row& row, const Entry& entry) {
  return row.id == entry.id && row.parent == entry.parent_id && row.type == entry.type &&
         row.timestamp == entry.timestamp && row.run_id == entry.run_id &&
         row.payload == entry.payload && row.meta == entry.meta && row.json == entry.json &&
         row.fact == entry.is_fact && row.inherited == entry.inherited &&
         row.adopted == entry.adopted && row.redacted == entry.redacted;
}

Result<std::vector<Row>> stream_rows(SessionStore& api, const std::string& session) {
  TRY_ASSIGN(EntryReader reader, api.read_session(session));
  std::vector<Row> rows;
  for (;;) {
    TRY_ASSIGN(auto entry, reader.next());
    if (!entry) return rows;
    rows.push_back(row_of(*entry));
  }
}

Result<void> check_loads(SessionStore& api, const std::string& session,
                         const std::vector<Row>& rows) {
  TRY_ASSIGN(auto all, api.load_session_entries(session));
  if (all.size() != rows.size()) return disagree("load and stream, number of entries");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!same(rows[i], all[i])) return disagree("load and stream, entry " + rows[i].id);
  }
  const auto middle = static_cast<std::uint32_t>(rows.size() / 2);
  TRY_ASSIGN(auto some, api.load_session_entries(session, {.first = middle, .count = 2}));
  if (some.size() != std::min<std::size_t>(2, rows.size() - middle)) return disagree("range size");
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (!same(rows[middle + i], some[i])) return disagree("range, entry " + some[i].id);
  }
  TRY_ASSIGN(auto none,
             api.load_session_entries(session, {.first = static_cast<std::uint32_t>(rows.size())}));
  if (!none.empty()) return disagree("range behind the end");
  return {};
}

std::vector<std::string> ids_of(const std::vector<Row>& rows,
                                const std::vector<SessionTree::Ordinal>& ordinals) {
  std::vector<std::string> ids;
  for (const auto ordinal : ordinals) {
    ids.push_back(ordinal < rows.size() ? rows[ordinal].id : "out of range");
  }
  return ids;
}

Result<void> ask_tree(const SessionTree& tree, SessionView& view) {
  const auto& rows = view.rows;
  if (tree.size() != rows.size()) return disagree("tree and stream, number of entries");
  for (SessionTree::Ordinal i = 0; i < tree.size(); ++i) {
    TRY_ASSIGN(const std::string id, tree.id(i));
    TRY_ASSIGN(const std::string type, tree.type(i));
    TRY_ASSIGN(const auto found, tree.find(id));
    if (id != rows[i].id || found != i) return disagree("tree id of " + rows[i].id);
    if (type != rows[i].type) return disagree("tree type of " + id);
    if (tree.is_node(i) == rows[i].fact) return disagree("node or fact: " + id);
    const auto parent = tree.parent(i);
    if (parent.has_value() != rows[i].parent.has_value()) return disagree("parent of " + id);
    if (parent && rows[*parent].id != *rows[i].parent) return disagree("parent of " + id);
    view.paths[id] = ids_of(rows, tree.path(i));
    if (!tree.is_node(i)) {
      if (!tree.children(i).empty()) return disagree("children of a fact: " + id);
      continue;
    }
    if (tree.depth(i) + 1 != view.paths[id].size()) return disagree("depth of " + id);
    view.children[id] = ids_of(rows, tree.children(i));
  }
  view.roots = ids_of(rows, tree.roots());
  view.leaves = ids_of(rows, tree.leaves());
  view.branch_points = ids_of(rows, tree.branch_points());
  if (const auto head = tree.head()) view.head = ids_of(rows, {*head}).front();
  for (SessionTree::Ordinal i = 0; i < tree.size(); ++i) {
    const SessionTree::Ordinal other = (i * 7 + 3) % tree.size();
    if (!tree.is_node(i) || !tree.is_node(other)) continue;
    const auto ancestor = tree.common_ancestor(i, other);
    const auto expected = common_ancestor(view, rows[i].id, rows[other].id);
    if (ancestor.has_value() != expected.has_value() ||
        (ancestor && rows[*ancestor].id != *expected)) {
      return disagree("common ancestor of " + rows[i].id + " and " + rows[other].id);
    }
  }
  if (tree.find("no such entry").ok()) return disagree("an entry that is not there was found");
  return {};
}

}  // namespace

ScratchDir::ScratchDir() {
  std::error_code error;
  const bool has_shm = stdfs::is_directory("/dev/shm", error) && ::access("/dev/shm", W_OK) == 0;
  const stdfs::path base = has_shm ? stdfs::path("/dev/shm") : stdfs::temp_directory_path();
  path_ = (base / "quipu-test-").string() + std::string(6, 'X');
  if (::mkdtemp(path_.data()) == nullptr) give_up("cannot make " + path_);
}

ScratchDir::~ScratchDir() {
  std::error_code error;
  stdfs::remove_all(path_, error);
}

StoreTarget::StoreTarget(std::string url, Door door) : url_(std::move(url)), door_(door) { open(); }

void StoreTarget::open() {
  StoreOptions options;
  options.create = true;
  options.clock = &clock_;
  auto store = Store::open(url_, options);
  if (!store.ok()) give_up(url_ + ": " + store.error().message());
  store_.emplace(std::move(store).value());
}

void StoreTarget::reopen() {
  if (in_memory()) return;
  if (auto closed = store_->close(); !closed.ok()) give_up("close: " + closed.error().message());
  store_.reset();
  remove_indexes(url_);
  open();
}

Result<SessionHandle> StoreTarget::create(const std::string& id) {
  NewSession session;
  session.id = id;
  return api().create_session(session);
}

Result<AppendResult> StoreTarget::append(const std::string& session,
                                         const std::vector<std::string>& lines,
                                         const AppendOptions& options) {
  std::vector<NewEntry> entries;
  for (const auto& line : lines) {
    auto entry = as_new_entry(line);
    if (entry) entries.push_back(std::move(*entry));
  }
  if (door_ == Door::kEntries && entries.size() == lines.size()) {
    return api().append_session_entries(session, entries, options);
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  return api().append_session_lines(session, views, options);
}

Result<SessionHandle> StoreTarget::fork(const std::string& session, const std::string& entry,
                                        const ForkOptions& options) {
  return api().branch_from_entry(session, entry, options);
}

Result<SessionView> StoreTarget::view(const std::string& session) {
  SessionView view;
  TRY_ASSIGN(view.rows, stream_rows(api(), session));
  TRY(check_loads(api(), session, view.rows));
  TRY_ASSIGN(const SessionTree tree, api().session_tree(session));
  TRY(ask_tree(tree, view));
  TRY_ASSIGN(const SessionSummary summary, api().describe_session(session));
  if (summary.head != view.head.value_or("")) return disagree("head of tree and summary");
  std::size_t own = 0;
  for (const auto& row : view.rows) own += row.inherited ? 0 : 1;
  if (summary.entries != own) return disagree("number of own entries");
  if (summary.session_id != session) return disagree("session id");
  view.tail = summary.tail;
  view.parent_session = summary.parent_session;
  return view;
}

Result<std::vector<std::string>> StoreTarget::sessions() { return api().session_ids(); }

void StoreTarget::write_foreign(const std::string& session, const std::string& line) {
  std::ofstream log(url_ + "/sessions/" + session + ".jsonl", std::ios::app | std::ios::binary);
  log << line << '\n';
  if (!log.flush()) give_up("cannot write to the log of " + session);
}

std::optional<NewEntry> as_new_entry(const std::string& text) {
  const auto line = read_strict_line(text);
  if (!line) return std::nullopt;
  for (const auto& [key, value] : line->members) {
    static const std::vector<std::string> known = {"id",    "parentId", "type", "timestamp",
                                                   "runId", "payload",  "meta"};
    if (std::find(known.begin(), known.end(), key) == known.end()) return std::nullopt;
  }
  NewEntry entry;
  entry.id = line->row.id;
  if (line->row.parent) entry.parent = Parent::of(*line->row.parent);
  if (line->is("parentId", json::Kind::kNull)) entry.parent = Parent::root();
  entry.type = line->row.type;
  entry.timestamp = line->row.timestamp;
  entry.run_id = line->row.run_id;
  entry.payload = line->row.payload;
  entry.meta = line->row.meta;
  return entry;
}

void remove_indexes(const std::string& directory) {
  std::error_code error;
  for (const auto& file : stdfs::directory_iterator(directory + "/sessions", error)) {
    if (file.path().extension() == ".idx") stdfs::remove(file.path(), error);
  }
}

}  // namespace quipu::test
