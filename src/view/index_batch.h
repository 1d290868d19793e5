// IndexBatch: what one commit does to the index of session texts.
//
// Its size is bounded, so that an index of gigabytes is made in steps that stay.
//
// Thread-safety: one thread.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "quipu/search.h"
#include "search/text_index.h"
#include "view/said.h"
#include "view/search_state.h"

namespace quipu::view {

class IndexBatch {
 public:
  explicit IndexBatch(const SearchState& before);

  /// Adds what is new in a log, until it is full. An error leaves it as it was.
  Result<void> add(Backend& backend, const SurveyedLog& log);
  /// A log that is gone.
  void drop(const std::string& session_id);

  bool is_full() const;
  /// It has read a redaction.
  bool has_redactions() const { return has_redactions_; }
  bool is_empty() const { return changed_.empty() && dropped_.empty(); }
  const SearchState& after() const { return after_; }
  const IndexReport& report() const { return report_; }

  /// The whole commit. Once; this must live until it is made.
  std::vector<sql::Command> commands(const search::TextIndex& texts);

 private:
  struct Spoken {
    std::int64_t key = 0;
    std::string text;
    std::vector<std::string> tags;
  };
  /// What became of one log.
  struct Step {
    IndexedLog log;
    std::size_t first_block = 0;  // the first of its blocks that changed
    std::int64_t next_number = 0;
    std::vector<Spoken> added;
    std::vector<Spoken> removed;
    std::size_t text_bytes = 0;
    bool has_redactions = false;
  };

  Result<void> take_out_redacted(const Lineage& lineage, SaidReader& reader, Step& step);
  Result<void> take_in(const Lineage& lineage, SaidReader& reader, Step& step);
  static SearchBlock& block_for(Ordinal own, Step& step);
  static Spoken spoken(const SearchBlock& block, Ordinal own, Said& said);

  const SearchState& before_;
  SearchState after_;
  std::map<std::string, std::size_t> changed_;  // session: its first block that changed
  std::vector<std::string> dropped_;
  std::deque<Spoken> added_;
  std::deque<Spoken> removed_;
  std::size_t text_bytes_ = 0;
  bool has_redactions_ = false;
  IndexReport report_;
  search::Writes writes_;
};

}  // namespace quipu::view
