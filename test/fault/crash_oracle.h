// What a store must hold after a crash, kept outside the store.
//
// Per session the batches in commit order, each with whether success was
// reported. What survives must be a beginning of that list that reaches at
// least to the last reported one: promises P1 (whole or absent), P2 (reported
// means there) and P3 (no holes) in one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quipu/store.h"

namespace quipu::fault {

struct ModelEntry {
  std::string id;
  std::string payload;
};

struct ModelBatch {
  std::string key;  // ids are key-0, key-1 ...
  std::size_t size = 0;
  bool reported = false;
};

struct ModelSession {
  std::string id;
  bool reported = false;  // success of making it was reported
  /// Entries that were there from the beginning, or are seen through a fork.
  std::vector<ModelEntry> base;
  std::vector<ModelBatch> batches;
};

enum class Op : unsigned char {
  kCreate,
  kAppend1,
  kAppend2,
  kAppend5,
  kBranch,
  kMigrate,
  kRepair,
  kClose,
};
inline constexpr int kOps = 8;
const char* name(Op op);

/// The call that was running when the machine died.
struct InFlight {
  Op op;
  std::size_t session;  // place in Oracle::sessions
  std::string from;     // kBranch: entry
  std::string from_session;
  ModelBatch batch;  // appends
};

struct Oracle {
  std::vector<ModelSession> sessions;
  /// What appends and repairs go to.
  std::size_t target = 0;
  std::optional<InFlight> in_flight;
  /// Calls go to a log with lines of another program, which have no seals.
  bool unsealed = false;

  std::uint64_t digest() const;
};

std::size_t batch_size(Op op);
/// The payload of the entry with this id: some hundred bytes, so that a batch
/// lies in several blocks of the disk.
std::string payload_of(const std::string& id, std::size_t batch_size);
std::vector<NewEntry> entries_of(const ModelBatch& batch);

/// Everything the session may show, in order.
std::vector<ModelEntry> entries_of(const ModelSession& session);

/// Begins the complaint about a line without a seal that nobody wrote.
inline constexpr const char* kSpliced = "spliced line ";

/// Compares what was read with what may be there. Returns what is wrong, or
/// nothing, and then how many batches are there.
std::optional<std::string> compare(const ModelSession& session, const std::vector<Entry>& found,
                                   std::size_t& batches);

}  // namespace quipu::fault
