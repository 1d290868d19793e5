// Spoken: what was said in a session, as a transcript for another agent's files.
//
// The conversation at the head is in it message by message. For agents that have branches, so
// is what was said in branches that leave that conversation before its end (`add_branches`); a
// message that several branches share is in it once. Not those that leave it between a call and
// its result, or that have a call of an id that is there already: some agents look for results
// wherever they are, and would find that of another branch.
#pragma once

#include <string>
#include <unordered_set>

#include "backend/lineage.h"
#include "dialect/transcript.h"
#include "quipu/catalogue.h"
#include "quipu/store.h"

namespace quipu::exchange {

/// What was written anew, and of what it was made.
struct Spoken {
  dialect::Transcript transcript;
  std::unordered_set<std::string> entries;   // ids of those that it was made from
  std::unordered_set<std::string> calls;     // and results: call_key, what_key
  std::unordered_set<std::string> requests;  // ids of those whose usage is in it

  void merge(Spoken other);
};

/// What stands for the same in two places: a call, or the result of one.
std::string call_key(PartType type, const std::string& id);
/// What says the same there, too.
std::string what_key(const Part& part);

/// The directory that a session works in.
std::string directory_of(const SessionSummary& summary);

/// `head` empty: the session's. `only`: of these entries; null: of all. `counted`: what its
/// entries and requests took is counted there.
Result<Spoken> transcript_of(Store& store, const SessionSummary& summary, const std::string& head,
                             const std::unordered_set<std::string>* only = nullptr,
                             const Spoken* counted = nullptr);

/// `spoken` is all of the conversation at `head`. Of very many branches not all are read: what
/// is in none of them is not in `Spoken::entries`.
Result<void> add_branches(Store& store, const SessionSummary& summary, const Lineage& lineage,
                          Ordinal head, Spoken& spoken);

}  // namespace quipu::exchange
