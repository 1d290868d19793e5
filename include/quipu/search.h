// Search: the words of all sessions, native or imported.
//
//   quipu::SessionSearch search(*store);
//   auto page = search.search("parse_query \"exact words\" -draft role:user",
//                             {.sessions = {.project = quipu::ProjectScope::all()}});
//   for (const auto& hit : page->items) show(hit.session_id, hit.entry_id, hit.snippet);
//
// What a query may say is in docs/search.md. Every text is a query.
//
// An entry is a document: texts, thinking, calls of tools with their arguments, results,
// summaries, titles, labels. It is found under the session whose log holds it, once, however
// many forks inherit it. Redacted entries are in no answer and their words not in the index.
//
// The index is a view: computed from the logs, brought up to date by whoever searches, so that
// an entry can be found as soon as its append has returned, whichever process made it. Appends
// know nothing of it. It can be deleted, damaged or locked at any time.
//
// Thread-safety: every call from every thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quipu/catalogue.h"
#include "quipu/page.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

/// Where to look. Absent members let everything through; all given ones, and the fields of the
/// query, must hold.
struct SearchOptions {
  /// Which sessions, as lists have it: a project, or all of them.
  SessionFilter sessions;
  /// What this session sees: its own log, and the path that it inherits. `not_found` when there is
  /// none.
  std::optional<std::string> session{};
  /// Nodes on the path to this entry of `session`; or, of "head", those on the path to the head
  /// of their session.
  std::optional<std::string> branch{};
  /// "user", "assistant", "system", "tool", "summary", "title" or "label".
  std::optional<std::string> role{};
  /// Calls of this tool, and what it answered; in either case.
  std::optional<std::string> tool{};
  /// When the entry was made: at or after, and before.
  std::optional<std::int64_t> from_ms{};
  std::optional<std::int64_t> to_ms{};
  /// How much of the scores of the entries before and after it an entry that was found gets. 0: its
  /// words alone.
  double neighbour_weight = 0.3;
  /// Beside the best hits of a question (three words or more, without signs and quotes) entries
  /// are found that have none of its words, with this part of the scores of these hits. All that
  /// is asked for here and by fields holds for them, too. 0: nothing without one of the words.
  double joined_weight = 0.5;
  /// About how long snippets are.
  std::size_t snippet_bytes = 160;
  /// Fill in SearchHit::path.
  bool paths = false;
  /// False: in what is indexed already, for who has many questions and has called `refresh`.
  bool refresh = true;
};

struct SearchHit {
  std::string session_id{};
  std::string entry_id{};
  /// Among the entries that its session sees: see EntryRange.
  std::uint32_t ordinal = 0;
  std::string type{};                // the entry's
  std::vector<std::string> roles{};  // see SearchOptions::role; usually one
  std::vector<std::string> tools{};
  std::string timestamp{};  // RFC 3339; may be empty
  std::string project_id{};
  std::string agent_id{};
  std::string title{};  // the session's
  /// Greater is better. To be compared within an answer only.
  double score = 0;
  /// Found beside a hit and not by its own words: see SearchOptions::joined_weight. Its snippet
  /// is the beginning of its text, without marks.
  bool neighbour = false;
  /// One line around the best of the matches; bytes of it that matched, as (begin, end).
  std::string snippet{};
  std::vector<std::pair<std::size_t, std::size_t>> marks{};
  bool cut_before = false;  // the text goes on there
  bool cut_after = false;
  /// Ids from the root to the entry; empty for facts, and unless asked for.
  std::vector<std::string> path{};
};

/// A page of an answer.
struct SearchPage : Page<SearchHit> {
  /// The query has more than 64 terms or 64 KiB, and what is beyond was left out.
  bool query_is_cut = false;
};

/// What indexing did.
struct IndexReport {
  std::uint64_t sessions = 0;  // that were read
  std::uint64_t entries = 0;   // that say something, added
  std::uint64_t text_bytes = 0;
  std::uint64_t removed = 0;  // entries, as redacted
  /// Sessions that could not be read, and why.
  std::vector<std::pair<std::string, std::string>> problems{};

  IndexReport& operator+=(const IndexReport& more);
};

/// Bytes of logs that are indexed, of those that were to be. From the thread that asked. False:
/// stop here; what was done stays, and the next time goes on from there.
using IndexProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// The search over the sessions of a store, which must outlive it. One for a program is enough, and
/// knows what it has seen.
class SessionSearch {
 public:
  explicit SessionSearch(Store& store);
  ~SessionSearch();
  SessionSearch(SessionSearch&&) noexcept;
  SessionSearch& operator=(SessionSearch&&) noexcept;

  /// Brings the index up to date, then answers, best first (see SearchOptions::refresh). While
  /// others keep it busy for longer than a few seconds, from what is indexed already.
  /// `Page::total` counts what was ranked: at most a thousand. Pages go on in the same order as
  /// long as nothing is appended. `invalid_argument` for a cursor that is none.
  Result<SearchPage> search(std::string_view query, const SearchOptions& options,
                            const PageRequest& page = {.after = {}, .limit = 20});

  /// Only brings the index up to date; the first time that is the price of reading all logs.
  Result<IndexReport> refresh(const IndexProgress& progress = {});

  /// The same, unless nobody has searched yet. For who has redacted something: its words leave the
  /// index with whatever brings it up to date, and this does not wait for a search.
  Result<IndexReport> refresh_if_made(const IndexProgress& progress = {});

  /// Makes the index anew from the logs. Others that search meanwhile do the same work with it.
  Result<IndexReport> rebuild(const IndexProgress& progress = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keeps the index of a store up to date as long as it lives, in a thread of its own, so that
/// searches find little to do. Looks at the logs a few times a second, and takes a small part
/// of the time for it. What goes wrong is tried again; searches say it.
class SearchFollower {
 public:
  /// `search` must outlive it.
  explicit SearchFollower(SessionSearch& search,
                          std::chrono::milliseconds pause = std::chrono::milliseconds(200));
  /// Waits until the thread has ended.
  ~SearchFollower();
  SearchFollower(const SearchFollower&) = delete;
  SearchFollower& operator=(const SearchFollower&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quipu
