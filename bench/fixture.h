// What the rows share: a store with sessions of known sizes, checked once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "quipu/store.h"
#include "scratch.h"
#include "workload.h"

namespace quipu::bench {

struct Sizes {
  std::vector<std::uint32_t> sessions{100, 1'000, 10'000, 100'000};
  std::uint32_t foreign_entries = 20'000;
  std::uint32_t context_entries = 10'000;
  std::size_t durable_rounds = 60;
  std::size_t durable_block = 10;
  std::size_t batch_rounds = 120;
  std::size_t batch_entries = 100;
  std::size_t relaxed_rounds = 60;
  std::size_t relaxed_block = 100;
  std::size_t open_rounds = 40;
  std::size_t process_rounds = 25;
  std::size_t process_appends = 40;
  std::size_t rebuild_rounds = 7;
  std::size_t tree_rounds = 40;
  std::size_t catalogue_sessions = 10'000;
  std::size_t catalogue_rounds = 40;
  std::size_t vectors = 100'000;
  std::size_t vector_rounds = 100;
  std::size_t import_files = 10'000;
  std::size_t import_rounds = 3;
  std::size_t watch_files = 1'000;
  double watch_seconds = 10;
  std::uint64_t search_bytes = 1'000'000'000;
  std::size_t search_rounds = 40;
  // A block lasts for several looks of whoever follows the store.
  std::size_t followed_rounds = 5;
  std::size_t followed_block = 2'000;

  /// As small as it can be and still run every line.
  static Sizes smoke();
};

/// A session and the work that went into it.
struct Session {
  std::string id;
  Workload work;
};

AppendOptions with(Durability durability);
NewEntry message(std::string payload);

/// The same entries for every contender of a round.
struct Block {
  std::vector<NewEntry> entries;
  std::vector<std::string> lines;  // as many bytes as the store makes of each
};

class Fixture {
 public:
  explicit Fixture(Sizes sizes);

  const Sizes& sizes() const { return sizes_; }
  std::filesystem::path file(const std::string& name) const { return scratch_.path() / name; }
  std::filesystem::path log_path(const std::string& session_id) const;
  std::filesystem::path index_path(const std::string& session_id) const;
  std::filesystem::path store_path() const { return file("store"); }
  Store open_store() const;
  const Scratch& scratch() const { return scratch_; }

  /// A session with this many entries beside its header, read back and compared.
  Session& session(std::uint32_t entries);
  Session& biggest() { return session(sizes_.sessions.back()); }
  /// A new one, not compared; for rows that need many.
  Session make_session(Store& store, std::uint32_t entries);

  Block block(Workload& work, std::size_t count) const;

  // The digest of all work that sessions were made from.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t digest() const { return digest_.value(); }
  void count_work(const Workload& work);

 private:
  std::size_t measure_overhead();

  Sizes sizes_;
  Scratch scratch_;
  std::uint32_t made_ = 0;
  std::size_t overhead_ = 0;  // what the store adds to a payload that has a parent
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  Digest digest_;
};

}  // namespace quipu::bench
