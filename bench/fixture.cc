#include "fixture.h"

#include "measure.h"

namespace quipu::bench {
namespace {

void append_relaxed(Store& store, const std::string& id, std::span<const NewEntry> entries) {
  const AppendResult result = must(
      store.sessions().append_session_entries(id, entries, with(Durability::kRelaxed)), "append");
  check(result.appended_count == entries.size(), "an append stored something else");
}

// Every entry comes back, with its bytes and its place.
void check_session(Store& store, const Session& session) {
  auto reader = must(store.sessions().read_session(session.id), "read_session");
  Digest read;
  std::uint32_t nodes = 0;
  while (const auto entry = must(reader.next(), "read")) {
    if (entry->is_fact) continue;
    read.add(entry->id);
    read.add(entry->payload);
    ++nodes;
  }
  check(nodes == session.work.count(), "entries are missing");
  check(read == session.work.digest(), "entries came back changed");
  const SessionTree tree = must(store.sessions().session_tree(session.id), "session_tree");
  const auto& parents = session.work.parents();
  for (std::uint32_t i = 0; i < parents.size(); ++i) {
    const auto parent = tree.parent(i + 1);  // the header is entry 0
    check(parents[i] == kNoParent ? !parent : parent == parents[i] + 1, "an entry moved");
  }
}

}  // namespace

AppendOptions with(Durability durability) {
  AppendOptions options;
  options.durability = durability;
  return options;
}

NewEntry message(std::string payload) {
  NewEntry entry;
  entry.type = "message";
  entry.payload = std::move(payload);
  return entry;
}

Sizes Sizes::smoke() {
  return {.sessions = {100, 400},
          .foreign_entries = 100,
          .context_entries = 100,
          .durable_rounds = 2,
          .durable_block = 3,
          .batch_rounds = 2,
          .batch_entries = 10,
          .relaxed_rounds = 3,
          .relaxed_block = 10,
          .open_rounds = 2,
          .process_rounds = 1,
          .process_appends = 3,
          .rebuild_rounds = 2,
          .tree_rounds = 3,
          .catalogue_sessions = 20,
          .catalogue_rounds = 5,
          .vectors = 500,
          .vector_rounds = 3,
          .import_files = 20,
          .import_rounds = 1,
          .watch_files = 20,
          .watch_seconds = 0.5,
          .search_bytes = 1'000'000,
          .search_rounds = 2,
          .followed_rounds = 1,
          .followed_block = 10};
}

Fixture::Fixture(Sizes sizes) : sizes_(std::move(sizes)) {
  must(must(Store::open(store_path().string(), {.create = true}), "create the store").close(),
       "close");
  overhead_ = measure_overhead();
}

Store Fixture::open_store() const { return must(Store::open(store_path().string()), "open"); }

std::filesystem::path Fixture::log_path(const std::string& session_id) const {
  return store_path() / "sessions" / (session_id + ".jsonl");
}

std::filesystem::path Fixture::index_path(const std::string& session_id) const {
  return store_path() / "sessions" / (session_id + ".idx");
}

Session Fixture::make_session(Store& store, std::uint32_t entries) {
  const std::string id = "bench-" + std::to_string(++made_);
  NewSession wanted;
  wanted.id = id;
  must(store.sessions().create_session(wanted), "create_session");
  Session session{.id = id, .work = Workload(made_)};
  // One by one, as agents do: how a log was made shows when it is read again.
  while (session.work.count() < entries) {
    const NewEntry entry = session.work.next();
    append_relaxed(store, id, {&entry, 1});
  }
  count_work(session.work);
  return session;
}

Session& Fixture::session(std::uint32_t entries) {
  auto& session = sessions_[entries];
  if (session) return *session;
  Store store = open_store();
  session = std::make_unique<Session>(make_session(store, entries));
  check_session(store, *session);
  must(store.close(), "close");
  scratch_.settle();
  return *session;
}

Block Fixture::block(Workload& work, std::size_t count) const {
  Block block{.entries = work.next(count), .lines = {}};
  for (const NewEntry& entry : block.entries) {
    block.lines.push_back(std::string(overhead_, ' ') + entry.payload);
  }
  return block;
}

std::size_t Fixture::measure_overhead() {
  Store store = open_store();
  Session session = make_session(store, 1);
  const auto before = std::filesystem::file_size(log_path(session.id));
  const NewEntry entry = session.work.next();
  append_relaxed(store, session.id, {&entry, 1});
  const auto after = std::filesystem::file_size(log_path(session.id));
  return after - before - entry.payload.size();
}

void Fixture::count_work(const Workload& work) {
  entries_ += work.count();
  bytes_ += work.payload_bytes();
  const std::uint64_t value = work.digest().value();
  digest_.add({reinterpret_cast<const char*>(&value), sizeof value});
}

}  // namespace quipu::bench
